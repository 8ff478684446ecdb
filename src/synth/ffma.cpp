// The dependent-FFMA kernel that was measured on an H100 PCIe: one loop of 128 FFMA, each of which needs the
// result of the one before.
#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"iterations", "10", "of the loop, of 132 instructions per warp", 1, 1u << 20},
    {"ctas", "1", "CTAs of the kernel", 1, 1u << 20},
    {"threads", "32", "threads a CTA", 1, 1024},
};

constexpr std::uint32_t kChain = 128;

void emit_iteration(WarpText& w) {
  w.emit({.opcode = "MOV", .to = 0, .immediate = 1073742663});
  w.emit({.opcode = "UIADD3", .immediate = 1});
  for (std::uint32_t i = 0; i < kChain; ++i) {
    w.emit({.opcode = "FFMA", .to = 3, .from = {3, 0}});
    if (i == 0) w.emit({.opcode = "ISETP.LE.AND", .from = {2}});
  }
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  trace::KernelHeader header;
  header.name = "_Z10ffmaKerneli";
  header.registers = 24;
  write_kernel(folder, header, options.number32("ctas"), options.number32("threads"),
               [&](WarpText& w, std::uint32_t, std::uint32_t) {
                 w.emit({.opcode = "LDC", .to = 1});
                 w.emit({.opcode = "LDC", .to = 2});
                 w.emit({.opcode = "ISETP.GE.AND", .from = {2}, .immediate = 1});
                 w.emit({.opcode = "EXIT", .mask = 0});
                 w.emit({.opcode = "HFMA2.MMA", .to = 3, .from = {kRz, kRz}});
                 w.emit({.opcode = "UMOV"});
                 emit_loop(w, options.number32("iterations"), [&](std::uint32_t) { emit_iteration(w); });
                 w.emit({.opcode = "FSETP.NEU.AND", .from = {3, kRz}});
                 w.emit({.opcode = "EXIT"});
               });
}

}  // namespace

const Kind kFfma = {"ffma", "one chain of dependent FFMA in a loop, as measured on an H100", kOptions,
                    generate};

}  // namespace lockstep::synth
