// The kinds of synthetic traces, and helpers that they share.
#pragma once

#include <cstdint>

#include "synth/synth.hpp"
#include "synth/trace_folder.hpp"

namespace lockstep::synth {

extern const Kind kStreaming, kSgemm, kRandom, kChain, kMixed, kPointerChase, kCacheRead, kL2Read, kStream;
// Microbenchmarks of the SM.
extern const Kind kPipe, kOperands, kCode, kShared, kBarriers, kAtomics, kEmpty, kFfma;

/// Writes kernel 1 of the folder, a grid of `ctas` x 1 x 1 CTAs of `threads` x 1 x 1 threads, by
/// emit(text of a warp, CTA, warp of the CTA).
template <class Emit>
void write_kernel(TraceFolder& folder, trace::KernelHeader header, std::uint32_t ctas, std::uint32_t threads,
                  Emit emit) {
  header.id = 1;
  header.grid = {ctas, 1, 1};
  header.block = {threads, 1, 1};
  KernelFile file = folder.kernel(header);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    file.begin_cta({cta, 0, 0});
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k) emit(file.begin_warp(k), cta, k);
    file.end_cta();
  }
  file.close();
}

/// A loop: body(pass) `passes` times at the same PCs; the branch back is taken in each pass but the last.
template <class Body>
void emit_loop(WarpText& w, std::uint32_t passes, Body body) {
  const std::uint32_t top = w.pc();
  for (std::uint32_t n = 0; n < passes; ++n) {
    w.jump(top);
    body(n);
    w.emit({.opcode = "BRA", .mask = n + 1 < passes ? w.live() : 0, .immediate = top});
  }
}

/// The first instructions of a compiled kernel: the thread's global index into R6, and the bounds check.
inline void emit_prologue(WarpText& w) {
  w.emit({.opcode = "MOV", .to = 1});
  w.emit({.opcode = "S2R", .to = 6});
  w.emit({.opcode = "S2R", .to = 3});
  w.emit({.opcode = "IMAD", .to = 6, .from = {6, 3}});
  w.emit({.opcode = "ISETP.GE.AND", .from = {6}});
  w.emit({.opcode = "EXIT", .mask = 0});
}

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers on every host.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// Uniform in [0, bound), for bounds far below 2^32.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return (next() >> 32) * bound >> 32; }

 private:
  std::uint64_t state_;
};

}  // namespace lockstep::synth
