// A kernel that does nothing: the cost of a launch and of its CTAs.
#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"ctas", "1024", "CTAs of the kernel", 1, 1u << 24},
    {"threads", "256", "threads a CTA", 1, 1024},
};

void generate(const SynthOptions& options, TraceFolder& folder) {
  trace::KernelHeader header;
  header.name = "_Z11emptyKernelv";
  header.registers = 16;  // what the compiler reports for an empty kernel
  // The stack pointer is loaded before anything else, as in every compiled kernel.
  const bool load = folder.dialect().binary_version >= 90;
  write_kernel(folder, header, options.number32("ctas"), options.number32("threads"),
               [&](WarpText& w, std::uint32_t, std::uint32_t) {
                 w.emit({.opcode = load ? "LDC" : "MOV", .to = 1});
                 w.emit({.opcode = "EXIT"});
               });
}

}  // namespace

const Kind kEmpty = {"empty", "a kernel that does nothing: launch of CTAs", kOptions, generate};

}  // namespace lockstep::synth
