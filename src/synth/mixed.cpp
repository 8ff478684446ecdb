// A bit of everything: three kernels in two streams, partial warps, divergence, barriers and named barriers,
// local memory, atomics and reductions, FP64, tensor, shuffles, votes, all three address encodings.
#include <array>
#include <bit>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"ctas", "4", "CTAs of each kernel", 1, 1u << 20},
    {"named-barriers", "1", "1: also named barriers, with arrive and sync", 0, 1},
    {"seed", "7", "of the addresses of the reductions", 0, ~0ull},
};

constexpr Address kData = 0x7fc000000000, kLocal = 0x7f7dfe000000;
constexpr LaneMask kEvenLanes = 0x55555555;

/// Some addresses for the active lanes of a mask.
struct LaneList {
  std::array<Address, kWarpSize> address{};
  std::size_t size = 0;
  [[nodiscard]] std::span<const Address> all() const { return {address.data(), size}; }
};

template <class F>
LaneList for_lanes(LaneMask mask, F f) {
  LaneList out;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    out.address[out.size++] = f(static_cast<std::uint64_t>(std::countr_zero(rest)));
  return out;
}

void emit_loads(WarpText& w, std::uint32_t k, Address own) {
  const LaneMask half = w.live() & kEvenLanes;
  w.emit({.opcode = "MOV", .to = 1});
  w.emit({.opcode = "S2R", .to = 6});
  w.emit({.opcode = "LDC", .to = 2});
  w.emit({.opcode = "IMAD", .to = 6, .from = {6, 2}});
  const LaneList even = for_lanes(half, [&](std::uint64_t l) { return own + 4 * l; });
  w.emit({.opcode = "LDG.E.SYS", .to = 4, .from = {6}, .access = deltas(4, even.all()), .mask = half});
  w.emit({.opcode = "LDG.E.SYS", .to = 5, .from = {6}, .access = strided(4, own, 4)});
  w.emit({.opcode = "LDG.E.64.STRONG.GPU",
          .to = 8,
          .from = {6},
          .access = strided(8, kData + 0x80000 + k * 256, 8)});
}

void emit_shared_and_local(WarpText& w, std::uint32_t k) {
  w.emit({.opcode = "STS", .from = {6, 5}, .access = strided(4, k * 128, 4)});
  w.emit({.opcode = "BAR.SYNC"});
  const LaneList skewed = for_lanes(w.live(), [](std::uint64_t l) { return l * 132 % 4096; });
  w.emit({.opcode = "LDS.U", .to = 9, .from = {6}, .access = listed(4, skewed.all())});
  w.emit({.opcode = "ATOMS.ADD", .to = 10, .from = {6}, .access = strided(4, 0, 4)});
  w.emit({.opcode = "STL", .from = {1, 9}, .access = strided(4, kLocal + 16, 0)});
  w.emit({.opcode = "LDL", .to = 11, .from = {1}, .access = strided(4, kLocal + 16, 0)});
}

void emit_arithmetic(WarpText& w) {
  w.emit({.opcode = "DADD", .to = 12, .from = {8, 8}});
  w.emit({.opcode = "DFMA", .to = 14, .from = {12, 8, 8}});
  w.emit({.opcode = "HADD2", .to = 16, .from = {4, 5}});
  w.emit({.opcode = "HMMA.1688.F32", .to = 20, .from = {4, 8, 20}});
  w.emit({.opcode = "MUFU.RSQ", .to = 17, .from = {16}});
  w.emit({.opcode = "FFMA", .to = 18, .from = {17, 16, 9}});
  w.emit({.opcode = "POPC", .to = 19, .from = {18}});
  w.emit({.opcode = "SHFL.IDX", .to = 22, .from = {19}});
  w.emit({.opcode = "VOTE.ANY", .to = 23});
}

/// Barrier 1 for the whole CTA, by its number; and a pair of warps of which one only arrives, by the number
/// of threads, as the tracer shows barriers that name both.
void emit_named_barriers(WarpText& w, std::uint32_t k) {
  w.emit({.opcode = "BAR.SYNC.DEFER_BLOCKING", .immediate = 1});
  if (k == 0) w.emit({.opcode = "BAR.ARV", .immediate = 64});
  if (k == 1) w.emit({.opcode = "BAR.SYNC.DEFER_BLOCKING", .immediate = 64});
}

void emit_atomics(WarpText& w, Random& random, std::uint64_t first_thread) {
  const LaneList counters =
      for_lanes(w.live(), [&](std::uint64_t) { return kData + 0x90000 + random.below(64) * 4; });
  w.emit({.opcode = "RED.E.ADD.STRONG.GPU", .from = {6, 18}, .access = listed(4, counters.all())});
  const LaneList one = for_lanes(1, [](std::uint64_t) { return kData + 0xa0000; });
  w.emit({.opcode = "ATOMG.E.ADD.STRONG.GPU",
          .to = 24,
          .from = {6, 18},
          .access = deltas(4, one.all()),
          .mask = w.live() & 1});
  w.emit({.opcode = "MEMBAR.SC.GPU"});
  w.emit(
      {.opcode = "STG.E.U8.SYS", .from = {6, 18}, .access = strided(1, kData + 0xb0000 + first_thread, 1)});
}

void emit_divergent_end(WarpText& w) {
  const LaneMask half = w.live() & kEvenLanes;
  w.emit({.opcode = "BRA", .mask = half});
  w.emit({.opcode = "EXIT", .mask = half});
  w.emit({.opcode = "EXIT", .mask = w.live() & ~half});
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint32_t ctas = options.number32("ctas");
  const bool named = options.number("named-barriers") != 0;
  Random random(options.number("seed"));
  folder.copy_to_device(kData, 1 << 20);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const std::uint32_t threads = id == 2 ? 80 : 128;  // two and a half warps
    trace::KernelHeader header;
    header.name = "_Z6mixed" + std::to_string(id) + "Pf";
    header.id = id;
    header.grid = {ctas, 1, 1};
    header.block = {threads, 1, 1};
    header.shared_bytes = 4096;
    header.registers = 40;
    header.stream = id < 3 ? 0 : 7;
    KernelFile file = folder.kernel(header);
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      file.begin_cta({cta, 0, 0});
      for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k) {
        const std::uint64_t first = std::uint64_t{cta} * threads + k * kWarpSize;
        WarpText& w = file.begin_warp(k);
        emit_loads(w, k, kData + first * 4);
        emit_shared_and_local(w, k);
        emit_arithmetic(w);
        if (named) emit_named_barriers(w, k);
        emit_atomics(w, random, first);
        emit_divergent_end(w);
      }
      file.end_cta();
    }
    file.close();
  }
}

}  // namespace

const Kind kMixed = {"mixed",
                     "barriers, atomics, local memory, divergence, FP64, tensor, shuffles; 3 kernels",
                     kOptions, generate};

}  // namespace lockstep::synth
