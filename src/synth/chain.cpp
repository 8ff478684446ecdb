// Long serial chains of MUFU and FFMA in few warps, with one load and one store per iteration.
#include <algorithm>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"ctas", "2", "CTAs of the kernel", 1, 1u << 20},
    {"threads", "32", "threads a CTA", 1, 1024},
    {"iterations", "200", "of the loop, of 109 instructions per warp", 1, 1u << 24},
};

constexpr Address kData = 0x7fb000000000;
constexpr std::uint32_t kCtaBytes = 4096;     // input of a CTA: eight lines, walked round
constexpr std::uint64_t kMinOutput = 0x8000;  // where the results begin, later where there are many CTAs

/// One value through eight stages, all waiting for the one before through R20.
void emit_stages(WarpText& w) {
  for (int g = 0; g < 8; ++g) {
    const int r = 11 + g;
    w.emit({.opcode = "FADD", .to = r, .from = {10, r}});
    w.emit({.opcode = "FMUL", .to = r, .from = {r, 30}});
    w.emit({.opcode = "MUFU.EX2", .to = r, .from = {r}});
    w.emit({.opcode = "FADD", .to = r, .from = {r, 31}});
    w.emit({.opcode = "MUFU.RCP", .to = r, .from = {r}});
    for (int q = 0; q < 6; ++q) w.emit({.opcode = "FFMA", .to = r, .from = {r, 32 + q, 20}});
    w.emit({.opcode = "FSETP.GEU.AND", .from = {r, kRz}});
    w.emit({.opcode = "FMUL", .to = 20, .from = {r, 20}});
  }
}

void emit_warp(WarpText& w, std::uint32_t iterations, Address input, Address output) {
  emit_prologue(w);
  const std::uint32_t top = w.pc();
  for (std::uint32_t n = 0; n < iterations; ++n) {
    w.jump(top);
    const Address line = n % 8 * kLineBytes;
    w.emit({.opcode = "LDG.E.SYS", .to = 10, .from = {4}, .access = strided(4, input + line, 4)});
    emit_stages(w);
    w.emit({.opcode = "STG.E.SYS", .from = {6, 20}, .access = strided(4, output + line, 4)});
    w.emit({.opcode = "IADD3", .to = 8, .from = {8, kRz, kRz}});
    w.emit({.opcode = "ISETP.NE.AND", .from = {8}});
    w.emit({.opcode = "BRA", .mask = n + 1 < iterations ? w.live() : 0});
  }
  w.emit({.opcode = "EXIT"});
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint32_t ctas = options.number32("ctas"), threads = options.number32("threads");
  const std::uint32_t iterations = options.number32("iterations");
  const std::uint64_t output = std::max(kMinOutput, std::uint64_t{ctas} * kCtaBytes);
  folder.copy_to_device(kData, 2 * output);
  trace::KernelHeader header;
  header.name = "_Z14solver_myocytePfS_i";
  header.id = 1;
  header.grid = {ctas, 1, 1};
  header.block = {threads, 1, 1};
  header.registers = 64;
  KernelFile file = folder.kernel(header);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    file.begin_cta({cta, 0, 0});
    const Address at = kData + std::uint64_t{cta} * kCtaBytes;
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k)
      emit_warp(file.begin_warp(k), iterations, at, at + output);
    file.end_cta();
  }
  file.close();
}

}  // namespace

const Kind kChain = {"chain", "serial MUFU and FFMA chains in few warps, as in Rodinia's myocyte", kOptions,
                     generate};

}  // namespace lockstep::synth
