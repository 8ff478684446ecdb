// A chase through random 64-bit words: each lane loads the address of its next load.
#include <algorithm>
#include <array>
#include <bit>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"ctas", "32", "CTAs of the kernel", 1, 1u << 24},
    {"threads", "128", "threads a CTA", 1, 1024},
    {"loads", "3", "dependent loads per thread", 1, 1u << 20},
    {"footprint", "268435456", "bytes over which the addresses are spread", 8, 1ull << 32},
    {"encoding", "list", "how the trace writes the addresses", 0, 0, "list|delta"},
    {"seed", "12345", "of the addresses", 0, ~0ull},
};

struct Chase {
  std::uint32_t threads, loads;
  std::uint64_t words;
  bool as_deltas;
  Random random;
};

constexpr Address kTable = 0x7fa000000000;
constexpr std::uint64_t kResultGap = 0x40000000;  // from the table to the results, more where it is larger

void emit_warp(WarpText& w, Chase& chase, Address result) {
  emit_prologue(w);
  w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
  const std::uint32_t top = w.pc();
  const auto lanes = static_cast<std::size_t>(std::popcount(w.live()));
  std::array<Address, kWarpSize> address{};
  for (std::uint32_t n = 0; n < chase.loads; ++n) {
    w.jump(top);
    for (std::size_t i = 0; i < lanes; ++i) address[i] = kTable + chase.random.below(chase.words) * 8;
    const std::span<const Address> list(address.data(), lanes);
    w.emit({.opcode = "LDG.E.64.SYS",
            .to = 4,
            .from = {4},
            .access = chase.as_deltas ? deltas(8, list) : listed(8, list)});
    w.emit({.opcode = "IADD3", .to = 8, .from = {8, kRz, kRz}});
    w.emit({.opcode = "ISETP.NE.AND", .from = {8}});
    w.emit({.opcode = "BRA", .mask = n + 1 < chase.loads ? w.live() : 0});
  }
  w.emit({.opcode = "STG.E.64.SYS", .from = {10, 4}, .access = strided(8, result, 8)});
  w.emit({.opcode = "EXIT"});
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint32_t ctas = options.number32("ctas");
  Chase chase{options.number32("threads"), options.number32("loads"), options.number("footprint") / 8,
              options.word("encoding") == "delta", Random(options.number("seed"))};
  const Address results = kTable + std::max(kResultGap, chase.words * 8);
  trace::KernelHeader header;
  header.name = "_Z5chasePPvS_i";
  header.id = 1;
  header.grid = {ctas, 1, 1};
  header.block = {chase.threads, 1, 1};
  header.registers = 24;
  KernelFile file = folder.kernel(header);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    file.begin_cta({cta, 0, 0});
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k)
      emit_warp(file.begin_warp(k), chase,
                results + (std::uint64_t{cta} * chase.threads + k * kWarpSize) * 8);
    file.end_cta();
  }
  file.close();
}

}  // namespace

const Kind kRandom = {"random", "dependent 64-bit loads from random addresses", kOptions, generate};

}  // namespace lockstep::synth
