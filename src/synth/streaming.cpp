// C = A + B over float arrays: one element per thread.
#include <algorithm>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"ctas", "64", "CTAs of the kernel", 1, 1u << 24},
    {"threads", "256", "threads a CTA", 1, 1024},
};

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint32_t ctas = options.number32("ctas"), threads = options.number32("threads");
  const std::uint64_t bytes = std::uint64_t{ctas} * threads * 4;
  constexpr std::uint64_t kMinGap = 0x10000000;  // 256 MiB between the arrays, more where they are longer
  const std::uint64_t gap = std::max(kMinGap, (bytes + 0xffff) & ~std::uint64_t{0xffff});
  const Address a = 0x7f8000000000, b = a + gap, c = b + gap;
  folder.copy_to_device(a, bytes);
  folder.copy_to_device(b, bytes);
  trace::KernelHeader header;
  header.name = "_Z9vectorAddPKfS0_Pfi";
  header.id = 1;
  header.grid = {ctas, 1, 1};
  header.block = {threads, 1, 1};
  header.registers = 12;
  KernelFile file = folder.kernel(header);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    file.begin_cta({cta, 0, 0});
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k) {
      const std::uint64_t offset = (std::uint64_t{cta} * threads + k * kWarpSize) * 4;
      WarpText& w = file.begin_warp(k);
      emit_prologue(w);
      w.emit({.opcode = "MOV", .to = 7});
      w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
      w.emit({.opcode = "IMAD.WIDE", .to = 2, .from = {6, 7}});
      w.emit({.opcode = "LDG.E.SYS", .to = 4, .from = {4}, .access = strided(4, a + offset, 4)});
      w.emit({.opcode = "LDG.E.SYS", .to = 3, .from = {2}, .access = strided(4, b + offset, 4)});
      w.emit({.opcode = "IMAD.WIDE", .to = 6, .from = {6, 7}});
      w.emit({.opcode = "FADD", .to = 9, .from = {4, 3}});
      w.emit({.opcode = "STG.E.SYS", .from = {6, 9}, .access = strided(4, c + offset, 4)});
      w.emit({.opcode = "EXIT"});
    }
    file.end_cta();
  }
  file.close();
}

}  // namespace

const Kind kStreaming = {"streaming", "vector addition: two arrays read once, one written", kOptions,
                         generate};

}  // namespace lockstep::synth
