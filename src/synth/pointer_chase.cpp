// A pointer chase: every load returns the address of the next; all threads load the same one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "synth/kinds.hpp"
#include "util/error.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"footprint", "65536", "bytes over which the chain goes", 64, 1ull << 33},
    {"stride", "64", "bytes between two elements of the chain, a multiple of 8", 8, 4096},
    {"threads", "32", "threads of the one CTA that chases; each loads every element", 1, 1024},
    {"warm", "1024", "loads of the first kernel: in the order of the chain, but many at a time", 0, 1u << 27},
    {"first", "1024", "loads of the second kernel", 1, 1u << 26},
    {"second", "3072", "loads of the third kernel", 1, 1u << 26},
    {"continue", "1", "1: each kernel goes on where the one before ended; 0: all begin at the first element",
     0, 1},
    {"seed", "12345", "of the order", 0, ~0ull},
};

constexpr Address kTable = 0x7fa000000000, kResult = 0x7f9000000000;
constexpr unsigned kUnroll = 32;  // loads of a loop body
constexpr std::uint32_t kWarmingWarps = 32;

/// A permutation of 0..count-1 without a table: a bijection of the next power of two, walked until it falls
/// inside.
class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t seed)
      : count_(count), mask_(std::bit_ceil(std::max<std::uint64_t>(count, 4)) - 1) {
    shift_ = static_cast<unsigned>(std::popcount(mask_)) / 2 + 1;
    Random random(seed);
    for (std::uint64_t& key : keys_) key = random.next() | 1;
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t i) const {
    do {
      for (const std::uint64_t key : keys_) {
        i = (i * key + (key >> 32)) & mask_;
        i ^= i >> shift_;
      }
    } while (i >= count_);
    return i;
  }

 private:
  std::uint64_t count_, mask_;
  unsigned shift_;
  std::uint64_t keys_[4];
};

struct Chain {
  Permutation order;
  std::uint64_t elements, stride;
};

void emit_chase(WarpText& w, const Chain& chain, std::uint64_t from, std::uint64_t loads) {
  emit_prologue(w);
  w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
  const std::uint32_t top = w.pc();
  for (std::uint64_t n = 0; n < loads; n += kUnroll) {
    w.jump(top);
    for (std::uint64_t u = 0; u < kUnroll; ++u) {
      const Address at = kTable + chain.order((from + n + u) % chain.elements) * chain.stride;
      // After the last load, the rest of the loop body executes but does nothing.
      const LaneMask mask = n + u < loads ? w.live() : 0;
      w.emit({.opcode = "LDG.E.64.SYS", .to = 4, .from = {4}, .access = strided(8, at, 0), .mask = mask});
    }
    w.emit({.opcode = "IADD3", .to = 8, .from = {8, kRz, kRz}});
    w.emit({.opcode = "ISETP.NE.AND", .from = {8}});
    w.emit({.opcode = "BRA", .mask = n + kUnroll < loads ? w.live() : 0});
  }
  w.emit({.opcode = "STG.E.64.SYS", .from = {10, 4}, .access = strided(8, kResult, 8)});
  w.emit({.opcode = "EXIT"});
}

/// One CTA loads the elements in the order of the chain, 32 by each instruction, its warps in turn.
void emit_warming(WarpText& w, const Chain& chain, std::uint64_t loads, std::uint32_t warp) {
  constexpr std::uint64_t kStep = std::uint64_t{kWarmingWarps} * kWarpSize;
  emit_prologue(w);
  w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
  const std::uint32_t top = w.pc();
  std::array<Address, kWarpSize> address{};
  for (std::uint64_t n = std::uint64_t{warp} * kWarpSize; n < loads; n += kStep) {
    w.jump(top);
    const std::uint64_t lanes = std::min<std::uint64_t>(kWarpSize, loads - n);
    for (std::uint64_t i = 0; i < lanes; ++i)
      address[i] = kTable + chain.order((n + i) % chain.elements) * chain.stride;
    w.emit({.opcode = "LDG.E.64.SYS",
            .to = 8,
            .from = {4},
            .access = listed(8, std::span<const Address>(address.data(), lanes)),
            .mask = static_cast<LaneMask>((std::uint64_t{1} << lanes) - 1)});
    w.emit({.opcode = "BRA", .mask = n + kStep < loads ? kAllLanes : 0});
  }
  w.emit({.opcode = "EXIT"});
}

void write_warming(TraceFolder& folder, trace::KernelHeader header, const Chain& chain, std::uint64_t loads) {
  header.block = {kWarmingWarps * kWarpSize, 1, 1};
  KernelFile file = folder.kernel(header);
  file.begin_cta({0, 0, 0});
  for (std::uint32_t k = 0; k < kWarmingWarps; ++k) emit_warming(file.begin_warp(k), chain, loads, k);
  file.end_cta();
  file.close();
}

void check(const SynthOptions& options) {
  if (options.number("stride") % 8 != 0)
    throw UserError(fmt::format("synth pointer_chase: stride: found {}, expected a multiple of 8",
                                options.number("stride")));
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint64_t stride = options.number("stride");
  const std::uint64_t elements = std::max<std::uint64_t>(options.number("footprint") / stride, 1);
  const Chain chain{Permutation(elements, options.number("seed")), elements, stride};
  trace::KernelHeader header;
  header.name = "_Z12pointerchasePPvS_i";
  header.grid = {1, 1, 1};
  header.block = {options.number32("threads"), 1, 1};
  header.registers = 16;
  header.id = 1;
  std::uint64_t from = options.number("warm");
  if (from != 0) write_warming(folder, header, chain, from);
  header.id = from != 0 ? 1 : 0;
  if (options.number("continue") == 0) from = 0;
  for (const char* part : {"first", "second"}) {
    const std::uint64_t loads = options.number(part);
    ++header.id;
    KernelFile file = folder.kernel(header);
    file.begin_cta({0, 0, 0});
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k)
      emit_chase(file.begin_warp(k), chain, from, loads);
    file.end_cta();
    file.close();
    if (options.number("continue") != 0) from = (from + loads) % elements;
  }
}

}  // namespace

const Kind kPointerChase = {"pointer_chase",
                            "one CTA chases pointers through memory in random order; 2 or 3 kernels",
                            kOptions, generate, check};

}  // namespace lockstep::synth
