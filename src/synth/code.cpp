// Straight-line code of a given size, executed repeatedly: the instruction caches.
#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"bytes", "8192", "of code, with the branch back", 64, 1u << 24},
    {"passes", "3", "through the code", 1, 1u << 16},
    {"ctas", "1", "CTAs of the kernel", 1, 1u << 20},
    {"threads", "32", "threads a CTA", 1, 1024},
};

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint32_t bytes = folder.dialect().binary_version < 70 ? 8 : 16;
  const std::uint32_t instructions = options.number32("bytes") / bytes - 1;
  trace::KernelHeader header;
  header.name = "_Z4codePf";
  header.registers = 32;
  write_kernel(folder, header, options.number32("ctas"), options.number32("threads"),
               [&](WarpText& w, std::uint32_t, std::uint32_t) {
                 // Two pipes in turn, eight results each: nothing but the front end holds a warp up.
                 emit_loop(w, options.number32("passes"), [&](std::uint32_t) {
                   for (std::uint32_t i = 0; i < instructions; ++i) {
                     const int result = 8 + static_cast<int>(i % 16);
                     w.emit({.opcode = i % 2 == 0 ? "FADD" : "IADD3", .to = result, .from = {result}});
                   }
                 });
                 w.emit({.opcode = "EXIT"});
               });
}

}  // namespace

const Kind kCode = {"code", "straight-line code of a given size: instruction caches and prefetcher", kOptions,
                    generate};

}  // namespace lockstep::synth
