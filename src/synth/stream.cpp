// The STREAM kernels at a chosen occupancy, one double-precision element per thread, in the shape of
// gpu-stream of the public gpu-benches: shared memory limits an SM to two CTAs.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "synth/kinds.hpp"
#include "util/error.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"kernel", "triad", "what is computed", 0, 0, "init|read|scale|triad|3pt|5pt"},
    {"fill", "0", "bytes that a first kernel moves at full occupancy, so that the L2 is in its steady state",
     0, 1ull << 32},
    {"threads", "256", "threads a CTA, smallest", 32, 1024},
    {"most", "256", "threads a CTA, largest", 32, 1024},
    {"step", "32", "between them; two kernels for each", 32, 1024},
    {"resident", "160", "CTAs that the GPU takes at a time", 1, 1u << 16},
    {"shared", "49152", "bytes of shared memory a CTA", 0, 1u << 20},
    {"waves", "8", "CTAs of the first of two kernels, in multiples of `resident`; at least `bytes`", 1,
     1u << 16},
    {"bytes", "1048576",
     "least bytes of an array in the first of two kernels; the second has three times as many", 1,
     1ull << 32},
};

constexpr std::uint32_t kElement = 8, kFullThreads = 1024;
constexpr Address kWritten = 0x7fa000000000;  // followed by the arrays that are read
constexpr Address kBetween = 0x100000000;
constexpr std::uint64_t kMargin = 4;  // elements of an array that only stencils touch, half at each end

/// A thread's load: from which array, and how far from the thread's own element.
struct Operand {
  int array;
  std::int64_t shift;
};
constexpr Operand kOne[] = {{1, 0}}, kTwo[] = {{1, 0}, {2, 0}}, kThree[] = {{1, -1}, {1, 0}, {1, 1}},
                  kFive[] = {{1, -2}, {1, -1}, {1, 0}, {1, 1}, {1, 2}};
struct Shape {
  std::string_view name;
  std::span<const Operand> loads;
  bool stores;
  std::uint32_t arrays;  // number of arrays moved
};
constexpr Shape kShapes[] = {{"init", {}, true, 1},    {"read", kOne, false, 1}, {"scale", kOne, true, 2},
                             {"triad", kTwo, true, 3}, {"3pt", kThree, true, 2}, {"5pt", kFive, true, 2}};

void emit_element(WarpText& w, const Shape& shape, std::uint64_t element) {
  emit_prologue(w);
  // The bounds check uses 64 bits, and the flag that is never set is a byte argument.
  w.emit({.opcode = "ISETP.GE.U32.AND.EX", .from = {7}});
  w.emit({.opcode = "LDC.U8", .to = 20, .from = {kRz}});
  w.emit({.opcode = "ISETP.NE.AND", .from = {20}});
  w.emit({.opcode = "BRA", .mask = 0});
  w.emit({.opcode = "IMAD.WIDE", .to = 4, .from = {6, 7}});
  int to = 8;
  for (const Operand& o : shape.loads) {
    const std::uint64_t at = element + kMargin / 2 + static_cast<std::uint64_t>(o.shift);
    const Address base = kWritten + static_cast<Address>(o.array) * kBetween + at * kElement;
    w.emit({.opcode = "LDG.E.64.CONSTANT.SYS",
            .to = to,
            .from = {4},
            .access = strided(kElement, base, kElement)});
    to += 2;
  }
  for (int from = 8; from < to; from += 2) w.emit({.opcode = "DFMA", .to = 24, .from = {from, 26, 24}});
  const Address result = kWritten + (element + kMargin / 2) * kElement;
  w.emit({.opcode = "STG.E.64.SYS",
          .from = {6, 24},
          .access = strided(kElement, result, kElement),
          .mask = shape.stores ? w.live() : 0});
  w.emit({.opcode = "EXIT"});
}

class Writer {
 public:
  Writer(TraceFolder& folder, const Shape& shape, std::uint32_t shared) : folder_(folder), shape_(shape) {
    header_.name = "_Z6streamPdPKdS0_S0_mb";
    header_.registers = 32;
    header_.shared_bytes = shared;
  }
  /// Elements that no earlier kernel has touched.
  void kernel(std::uint32_t threads, std::uint64_t ctas) {
    ++header_.id;
    header_.grid = {static_cast<std::uint32_t>(ctas), 1, 1};
    header_.block = {threads, 1, 1};
    KernelFile file = folder_.kernel(header_);
    for (std::uint32_t cta = 0; cta < header_.grid.x; ++cta) {
      file.begin_cta({cta, 0, 0});
      for (std::uint32_t k = 0; k < header_.warps_per_cta(); ++k)
        emit_element(file.begin_warp(k), shape_, next_ + k * kWarpSize);
      next_ += threads;
      file.end_cta();
    }
    file.close();
  }

 private:
  TraceFolder& folder_;
  const Shape& shape_;
  trace::KernelHeader header_;
  std::uint64_t next_ = 0;
};

std::uint64_t ctas_for(std::uint64_t bytes, std::uint32_t threads) {
  const std::uint64_t each = std::uint64_t{threads} * kElement;
  return (bytes + each - 1) / each;
}

/// CTAs of the first kernel, at full occupancy; 0: there is none.
std::uint64_t fill_ctas(const SynthOptions& options, const Shape& shape) {
  const std::uint64_t fill = options.number("fill");
  return fill == 0 ? 0 : ctas_for(std::max<std::uint64_t>(fill / shape.arrays, 1), kFullThreads);
}

/// CTAs of the first of the two kernels with this many threads; the second has three times as many.
std::uint64_t ctas_of(const SynthOptions& options, std::uint32_t threads) {
  const std::uint64_t resident = options.number("resident");
  const std::uint64_t least = ctas_for(options.number("bytes"), threads);
  return std::max(options.number("waves") * resident, (least + resident - 1) / resident * resident);
}

const Shape& shape_of(const SynthOptions& options) {
  return *std::ranges::find(kShapes, std::string_view(options.word("kernel")), &Shape::name);
}

void check(const SynthOptions& options) {
  const std::uint32_t first = options.number32("threads"), most = options.number32("most");
  if (most < first)
    throw UserError(fmt::format("synth stream: most: found {}, expected at least threads, {}", most, first));
  std::uint64_t elements = kMargin + fill_ctas(options, shape_of(options)) * kFullThreads;
  for (std::uint32_t threads = first; threads <= most; threads += options.number32("step"))
    elements += 4 * ctas_of(options, threads) * threads;
  if (elements * kElement > kBetween)
    throw UserError(
        "synth stream: the kernels touch more than 4 GiB of an array, expected less of fill, waves, "
        "resident, "
        "bytes, or a larger step");
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const Shape& shape = shape_of(options);
  Writer writer(folder, shape, options.number32("shared"));
  if (const std::uint64_t ctas = fill_ctas(options, shape)) writer.kernel(kFullThreads, ctas);
  const std::uint32_t step = options.number32("step");
  for (std::uint32_t threads = options.number32("threads"); threads <= options.number32("most");
       threads += step) {
    const std::uint64_t ctas = ctas_of(options, threads);
    writer.kernel(threads, ctas);
    writer.kernel(threads, 3 * ctas);
  }
}

}  // namespace

const Kind kStream = {"stream", "STREAM kernels in double precision at chosen occupancies", kOptions,
                      generate, check};

}  // namespace lockstep::synth
