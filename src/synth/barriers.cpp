// Barriers one after another: of the whole CTA, named ones of all warps, or named ones of a producer that
// only arrives and a consumer that waits.
#include <fmt/format.h>

#include "synth/kinds.hpp"
#include "util/error.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"pattern", "cta", "cta: barrier 0; named: barriers 1 to 8 in turn; pairs: producer and consumer warps",
     0, 0, "cta|named|pairs"},
    {"instructions", "64", "barriers of a pass", 1, 1u << 16},
    {"passes", "2", "through the same code", 1, 1u << 16},
    {"threads", "64", "threads of the CTA", 1, 1024},
};

/// Seven pairs have two barriers each, 1 to 14; more pairs share them. A producer arrives at the first and
/// waits for the second, its consumer the other way round.
Line barrier_of(const std::string& pattern, std::uint32_t warp, std::uint32_t i) {
  if (pattern == "cta") return {.opcode = "BAR.SYNC.DEFER_BLOCKING"};
  if (pattern == "named") return {.opcode = "BAR.SYNC.DEFER_BLOCKING", .immediate = 1 + i % 8};
  const bool arrives = warp % 2 == i % 2;
  return {.opcode = arrives ? "BAR.ARV" : "BAR.SYNC.DEFER_BLOCKING",
          .immediate = 1 + warp / 2 % 7 * 2 + i % 2};
}

void check(const SynthOptions& options) {
  const std::uint32_t threads = options.number32("threads");
  if (options.word("pattern") == "pairs" && (threads + kWarpSize - 1) / kWarpSize % 2 != 0)
    throw UserError(fmt::format(
        "synth barriers: threads: found {}, expected an even number of warps with pattern pairs", threads));
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  trace::KernelHeader header;
  header.name = "_Z8barriersPf";
  header.registers = 16;
  write_kernel(folder, header, 1, options.number32("threads"),
               [&](WarpText& w, std::uint32_t, std::uint32_t warp) {
                 emit_loop(w, options.number32("passes"), [&](std::uint32_t) {
                   for (std::uint32_t i = 0; i < options.number32("instructions"); ++i)
                     w.emit(barrier_of(options.word("pattern"), warp, i));
                 });
                 w.emit({.opcode = "EXIT"});
               });
}

}  // namespace

const Kind kBarriers = {"barriers", "barriers one after another: of the CTA, named, arrive and wait",
                        kOptions, generate, check};

}  // namespace lockstep::synth
