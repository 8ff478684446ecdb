// Global atomics and reductions of warps on few or many addresses.
#include <array>
#include <bit>
#include <span>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"op", "RED.E.ADD.STRONG.GPU", "the instruction", 0, 0, "RED.E.ADD.STRONG.GPU|ATOMG.E.ADD.STRONG.GPU"},
    {"addresses", "1", "different ones of a warp: lane n has the address of lane n modulo this", 1, 32},
    {"stride", "4", "bytes between two addresses", 4, 1u << 16},
    {"apart", "0", "bytes between the addresses of a warp and those of the next", 0, 1u << 24},
    {"dependent", "0", "1: each atomic's address is the result of the one before", 0, 1},
    {"instructions", "32", "of a pass", 1, 1u << 16},
    {"passes", "2", "through the same code", 1, 1u << 16},
    {"ctas", "1", "CTAs of the kernel", 1, 1u << 20},
    {"threads", "32", "threads a CTA", 1, 1024},
};

constexpr Address kData = 0x7fd000000000;

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint64_t distinct = options.number("addresses"), stride = options.number("stride");
  const bool returns = options.word("op").starts_with("ATOM"), dependent = options.number("dependent") != 0;
  const std::uint32_t ctas = options.number32("ctas"), threads = options.number32("threads");
  const std::uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  folder.copy_to_device(kData, options.number("apart") * ctas * warps + distinct * stride);
  trace::KernelHeader header;
  header.name = "_Z7atomicsPj";
  header.registers = 32;
  write_kernel(folder, header, ctas, threads, [&](WarpText& w, std::uint32_t cta, std::uint32_t warp) {
    std::array<Address, kWarpSize> address{};
    const Address own = kData + (std::uint64_t{cta} * warps + warp) * options.number("apart");
    for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) address[lane] = own + lane % distinct * stride;
    const auto lanes = static_cast<std::size_t>(std::popcount(w.live()));
    emit_loop(w, options.number32("passes"), [&](std::uint32_t) {
      for (std::uint32_t i = 0; i < options.number32("instructions"); ++i) {
        Line line{.opcode = options.word("op"),
                  .from = {4, 6},
                  .access = listed(4, std::span(address).first(lanes))};
        if (returns) line.to = dependent ? 4 : 8 + static_cast<int>(i % 16);
        w.emit(line);
      }
    });
    w.emit({.opcode = "EXIT"});
  });
}

}  // namespace

const Kind kAtomics = {"atomics", "atomics and reductions in the L2, on 1 to 32 addresses per warp", kOptions,
                       generate};

}  // namespace lockstep::synth
