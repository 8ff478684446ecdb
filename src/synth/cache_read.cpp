// Every CTA reads the same array of floats, lap after lap: the bandwidth of L1 and L2 against the footprint,
// in the shape of gpu-cache of the public gpu-benches.
#include <algorithm>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"ctas", "80", "CTAs of the kernels, one an SM", 1, 1u << 16},
    {"threads", "256", "threads a CTA", 32, 1024},
    {"footprint", "65536", "bytes of the array", 128, 1ull << 32},
    {"warm", "0", "bytes that the first kernel reads once, all CTAs together and twice", 0, 1ull << 32},
    {"first", "4", "loads a thread in the second kernel, in laps of footprint / (4 * threads)", 1, 1u << 24},
    {"second", "12", "loads a thread in the third kernel, likewise", 1, 1u << 24},
};

constexpr Address kArray = 0x7fa000000000;
constexpr unsigned kBatch = 32;  // loads in flight in the unrolled loop
constexpr std::uint32_t kElement = 4;

struct Reader {
  std::uint32_t threads, warp;
  std::uint64_t lap, from;  // a thread's loads in one pass over the array; the load with which it begins
};

Address address_of(const Reader& r, std::uint64_t load) {
  return kArray + ((r.from + load) % r.lap * r.threads + r.warp * kWarpSize) * kElement;
}

/// Loads in batches; each batch is added up when it has arrived.
void emit_reads(WarpText& w, const Reader& r, std::uint64_t loads) {
  emit_prologue(w);
  w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
  const std::uint32_t top = w.pc();
  for (std::uint64_t n = 0; n < loads; n += kBatch) {
    w.jump(top);
    const auto size = static_cast<int>(std::min<std::uint64_t>(kBatch, loads - n));
    for (int u = 0; u < size; ++u)
      w.emit({.opcode = "LDG.E.CONSTANT.SYS",
              .to = 16 + u,
              .from = {4},
              .access = strided(kElement, address_of(r, n + static_cast<std::uint64_t>(u)), kElement)});
    for (int u = 0; u < size; ++u) w.emit({.opcode = "FADD", .to = 10, .from = {10, 16 + u}});
    w.emit({.opcode = "FMUL", .to = 10, .from = {10, 11}});
    w.emit({.opcode = "ISETP.NE.AND", .from = {8}});
    w.emit({.opcode = "BRA", .mask = n + kBatch < loads ? w.live() : 0});
  }
  w.emit({.opcode = "EXIT"});
}

void write_reads(TraceFolder& folder, trace::KernelHeader& header, const Reader& reader,
                 std::uint64_t loads) {
  ++header.id;
  KernelFile file = folder.kernel(header);
  for (std::uint32_t cta = 0; cta < header.grid.x; ++cta) {
    file.begin_cta({cta, 0, 0});
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k)
      emit_reads(file.begin_warp(k), {reader.threads, k, reader.lap, reader.from}, loads);
    file.end_cta();
  }
  file.close();
}

/// CTAs go to GPCs in turn, and these are in either L2 half in turn, where there are two: each CTA with an
/// even number reads the same as the next one, so that both halves have every line.
void write_warming(TraceFolder& folder, trace::KernelHeader& header, std::uint64_t bytes) {
  ++header.id;
  KernelFile file = folder.kernel(header);
  const std::uint64_t lines = bytes / kLineBytes, shares = std::max(header.grid.x / 2, 1u);
  const std::uint64_t warps = header.warps_per_cta() * shares;
  for (std::uint32_t cta = 0; cta < header.grid.x; ++cta) {
    file.begin_cta({cta, 0, 0});
    for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k) {
      WarpText& w = file.begin_warp(k);
      emit_prologue(w);
      const std::uint32_t top = w.pc();
      for (std::uint64_t line = cta / 2 % shares * header.warps_per_cta() + k; line < lines; line += warps) {
        w.jump(top);
        w.emit({.opcode = "LDG.E.CONSTANT.SYS",
                .to = 16,
                .from = {4},
                .access = strided(kElement, kArray + line * kLineBytes, kElement)});
        w.emit({.opcode = "BRA", .mask = line + warps < lines ? w.live() : 0});
      }
      w.emit({.opcode = "EXIT"});
    }
    file.end_cta();
  }
  file.close();
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  trace::KernelHeader header;
  header.name = "_Z9cachereadPfPKfi";
  header.grid = {options.number32("ctas"), 1, 1};
  header.block = {options.number32("threads"), 1, 1};
  header.registers = 64;
  Reader reader{header.block.x, 0, 0, 0};
  reader.lap =
      std::max<std::uint64_t>(options.number("footprint") / (std::uint64_t{kElement} * reader.threads), 1);
  if (const std::uint64_t warm = options.number("warm")) write_warming(folder, header, warm);
  for (const char* part : {"first", "second"}) {
    write_reads(folder, header, reader, options.number(part));
    reader.from += options.number(part);  // the next one goes on there
  }
}

}  // namespace

const Kind kCacheRead = {"cache_read", "every CTA reads one array again and again; 2 or 3 kernels", kOptions,
                         generate};

}  // namespace lockstep::synth
