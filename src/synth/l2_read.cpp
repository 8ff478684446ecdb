// Large CTAs that read pieces of an array of doubles, many CTAs the same piece: the bandwidth of the L2
// against the footprint, in the shape of gpu-l2-cache of the public gpu-benches.
#include <algorithm>
#include <string_view>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"pieces", "8", "pieces of 64 * 8 KiB; a CTA reads one, the next CTA the next piece", 1, 1u << 16},
    {"rows", "32", "rows of 16 KiB that a CTA reads of its piece, of 32", 1, 32},
    {"resident", "160",
     "CTAs that the GPU takes at a time; of the kernels that count these read parts, so that they end in "
     "turn",
     1, 1u << 16},
    {"warm", "0", "CTAs of the first kernel, which brings the array into the L2; all read a whole piece", 0,
     1u << 20},
    {"first", "320", "CTAs of the second kernel", 1, 1u << 20},
    {"second", "640", "CTAs of the third kernel", 1, 1u << 20},
};

constexpr Address kArray = 0x7fa000000000;
constexpr std::uint32_t kThreads = 1024, kElement = 8;
constexpr std::uint64_t kRow =
    2ull * kThreads * kElement;       // a row of a piece: two columns, one element per thread in each
constexpr std::uint32_t kUnroll = 4;  // rows in flight in the unrolled loop

struct Part {
  std::uint64_t piece, pieces;
  std::uint32_t from, rows;  // rows [from, rows) of the piece
};

void emit_reads(WarpText& w, const Part& part, std::uint32_t warp) {
  emit_prologue(w);
  w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
  const std::uint32_t top = w.pc();
  for (std::uint32_t n = part.from; n < part.rows; n += kUnroll) {
    w.jump(top);
    const std::uint32_t size = std::min(kUnroll, part.rows - n);
    for (std::uint32_t u = 0; u < 2 * size; ++u) {
      const Address row = kArray + ((n + u / 2) * part.pieces + part.piece) * kRow;
      const Address at = row + (u % 2 * kThreads + warp * kWarpSize) * std::uint64_t{kElement};
      w.emit({.opcode = "LDG.E.64.CONSTANT.SYS",
              .to = 8 + 2 * static_cast<int>(u),
              .from = {4},
              .access = strided(kElement, at, kElement)});
    }
    for (int u = 0; u < static_cast<int>(size); ++u)
      w.emit({.opcode = "DFMA", .to = 28, .from = {8 + 4 * u, 10 + 4 * u, 28}});
    w.emit({.opcode = "ISETP.NE.AND", .from = {6}});
    w.emit({.opcode = "BRA", .mask = n + kUnroll < part.rows ? w.live() : 0});
  }
  w.emit({.opcode = "EXIT"});
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint64_t pieces = options.number("pieces");
  trace::KernelHeader header;
  header.name = "_Z6l2readPdPKdi";
  header.block = {kThreads, 1, 1};
  header.registers = 32;
  const std::uint32_t rows = options.number32("rows"), resident = options.number32("resident");
  std::uint64_t from = 0;  // a kernel goes on with the pieces where the one before ended
  for (const std::string_view part : {"warm", "first", "second"}) {
    if (options.number(part) == 0) continue;
    const std::uint32_t staggered = part == "warm" ? 0 : resident;
    ++header.id;
    header.grid = {options.number32(part), 1, 1};
    KernelFile file = folder.kernel(header);
    for (std::uint32_t cta = 0; cta < header.grid.x; ++cta) {
      file.begin_cta({cta, 0, 0});
      // The CTAs with which a kernel begins read their last rows, more and more of them.
      const std::uint32_t skipped =
          cta < staggered ? rows - 1 - static_cast<std::uint32_t>(std::uint64_t{rows} * cta / staggered) : 0;
      for (std::uint32_t k = 0; k < header.warps_per_cta(); ++k)
        emit_reads(file.begin_warp(k), {(from + cta) % pieces, pieces, skipped, rows}, k);
      file.end_cta();
    }
    file.close();
    from += header.grid.x;
  }
}

}  // namespace

const Kind kL2Read = {"l2_read", "CTAs of 1024 threads read pieces of one array from the L2; 2 or 3 kernels",
                      kOptions, generate};

}  // namespace lockstep::synth
