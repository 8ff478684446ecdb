// Accesses to shared memory with a stride between the lanes: bank conflicts.
#include <array>
#include <bit>
#include <span>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"op", "LDS", "the instruction", 0, 0, "LDS|STS|ATOMS.ADD"},
    {"width", "32", "bits per lane", 0, 0, "32|64|128"},
    {"stride", "1", "between neighbouring lanes, in units of the width", 0, 1024},
    {"addresses", "32", "different ones: lane n has the address of lane n modulo this", 1, 32},
    {"dependent", "0", "1: each load's address is the result of the one before", 0, 1},
    {"instructions", "64", "of a pass", 1, 1u << 16},
    {"passes", "2", "through the same code", 1, 1u << 16},
    {"threads", "32", "threads of the CTA", 1, 1024},
};

constexpr std::uint32_t kSharedBytes = 32 * 1024;

std::string opcode_of(const SynthOptions& options) {
  const std::string& width = options.word("width");
  return options.word("op") + (width == "32" ? "" : "." + width);
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const unsigned width = options.number32("width") / 8;
  const std::uint64_t distinct = options.number("addresses"), stride = options.number("stride") * width;
  const bool dependent = options.number("dependent") != 0, store = options.word("op") == "STS";
  const std::string opcode = opcode_of(options);
  std::array<Address, kWarpSize> address{};
  for (std::uint64_t lane = 0; lane < kWarpSize; ++lane)
    address[lane] = lane % distinct * stride % kSharedBytes;
  trace::KernelHeader header;
  header.name = "_Z6sharedPf";
  header.registers = 64;
  header.shared_bytes = kSharedBytes;
  write_kernel(
      folder, header, 1, options.number32("threads"), [&](WarpText& w, std::uint32_t, std::uint32_t) {
        const auto lanes = static_cast<std::size_t>(std::popcount(w.live()));
        emit_loop(w, options.number32("passes"), [&](std::uint32_t) {
          for (std::uint32_t i = 0; i < options.number32("instructions"); ++i) {
            const int result = dependent ? 4 : 8 + static_cast<int>(i % 10) * 4;
            Line line{
                .opcode = opcode, .from = {4}, .access = listed(width, std::span(address).first(lanes))};
            if (store) line.from = {5, result};
            if (!store) line.to = result;
            w.emit(line);
          }
        });
        w.emit({.opcode = "EXIT"});
      });
}

}  // namespace

const Kind kShared = {"shared", "shared memory with a stride between lanes: bank conflicts", kOptions,
                      generate};

}  // namespace lockstep::synth
