#include "libraries/fft/schedule.hpp"

#include <algorithm>
#include <array>

#include "libraries/common/error.hpp"
#include "libraries/fft/lengths.hpp"

namespace lockstep::libraries::fft {
namespace {

constexpr int kDimensions = Layout::kDimensions;
constexpr long long kIndexLimit = 1LL << 31;
constexpr unsigned kSharedBytes = 48 * 1024;
constexpr unsigned kThreads = 256;
constexpr unsigned kBlockElements = 1024, kColumnElements = 2048;
constexpr unsigned kLinesOfBlock = 128;
constexpr unsigned kLinesTogether = 8;
constexpr unsigned kBlocksWanted = 256;

using Sizes = std::array<long long, kDimensions>;

/// Where data lies between two passes.
struct Spot {
  Place place = Place::kInput;
  Layout layout;
  Element element = Element::kComplex;
};

/// One of the passes of one axis, in indices along that axis.
struct Part {
  unsigned length = 1;
  unsigned in_step = 1, out_step = 1;
  struct Lines {
    unsigned count = 1, in_index = 0, out_index = 0, twiddle = 0;
  };
  std::array<Lines, 2> lines;
  unsigned twiddles = 0;  // the denominator of their exponents; 0: none
};

Layout packed(const Sizes& sizes) {
  Layout layout;
  long long stride = 1;
  for (int d = kDimensions - 1; d >= 0; --d) {
    layout.stride[d] = stride;
    stride *= sizes[static_cast<std::size_t>(d)];
  }
  return layout;
}

long long product(const Sizes& sizes) {
  long long result = 1;
  for (const long long size : sizes) {
    if (size > (1LL << 40) / result) refuse("cufft: a transform of more than 2^40 elements");
    result *= size;
  }
  return result;
}

/// The passes of a transform: all write where they have read but the last of several, which also transposes.
std::vector<Part> parts_of(const std::vector<unsigned>& n) {
  if (n.size() == 1) return {{n[0], 1, 1, {}, 0}};
  if (n.size() == 2)
    return {{n[0], n[1], n[1], {{{n[1], 1, 1, 1}, {}}}, n[0] * n[1]},
            {n[1], 1, n[0], {{{n[0], n[1], 1, 0}, {}}}, 0}};
  const unsigned inner = n[1] * n[2];
  return {{n[0], inner, inner, {{{inner, 1, 1, 1}, {}}}, n[0] * inner},
          {n[1], n[2], n[2], {{{n[2], 1, 1, 1}, {n[0], inner, inner, 0}}}, inner},
          {n[2], 1, n[0] * n[1], {{{n[1], n[2], n[0], 0}, {n[0], inner, 1, 0}}}, 0}};
}

class Scheduler {
 public:
  Scheduler(const Problem& problem, bool through_work) : problem_(problem) {
    std::copy(std::begin(problem.size), std::end(problem.size), sizes_.begin());
    if (problem.kind != Kind::kComplex) sizes_[kDimensions - 1] = problem.size[kDimensions - 1] / 2 + 1;
    now_ = {Place::kInput, problem.in, Element::kComplex};
    if (problem.kind == Kind::kRealToComplex) now_.element = Element::kReal;
    make(through_work);
  }

  Schedule schedule;

 private:
  void make(bool through_work) {
    std::vector<int> axes;
    for (int axis = kDimensions - 1; axis > 0; --axis)
      if (problem_.size[axis] > 1 || axis == kDimensions - 1) axes.push_back(axis);
    if (problem_.kind == Kind::kComplexToReal) std::reverse(axes.begin(), axes.end());
    for (const int axis : axes) {
      const bool last = axis == axes.back() && !(through_work && schedule.steps.empty());
      transform_axis(axis, last);
      // As far as it is needed at all: in place, one pass would write what others still have to read.
      if (axis == axes.back() && !last) copy_out();
    }
  }

  void transform_axis(int axis, bool last) {
    axis_ = axis;
    const auto length = static_cast<unsigned>(problem_.size[axis]);
    const bool inner = axis == kDimensions - 1;
    if (inner && problem_.kind == Kind::kComplexToReal) now_.element = Element::kHermitian;
    const unsigned limit = problem_.twice ? 1024 : 2048;
    const auto lengths = pass_lengths(length, limit);
    const std::size_t first = schedule.steps.size();
    const unsigned kept = inner && problem_.kind == Kind::kRealToComplex ? length / 2 + 1 : length;
    if (!lengths.empty()) {
      run_parts(lengths, {length, length, kept}, last);
    } else {
      const unsigned padded = padded_length(length);
      const auto padded_lengths = pass_lengths(padded, limit);
      run_parts(padded_lengths, {padded, length, padded}, false);
      Step& middle = schedule.steps.back();
      schedule.steps[first].in_factors = {Factors::kChirp, length, padded};
      middle.out_factors = {Factors::kSpectrum, length, padded};
      middle.pass.conjugate_out = true;
      run_parts(padded_lengths, {padded, padded, kept}, last);
      schedule.steps.back().out_factors = {Factors::kFinalChirp, length, padded};
      schedule.steps.back().pass.conjugate_out = true;
    }
    schedule.steps[first].begins_axis = true;
    schedule.steps.back().ends_axis = true;
  }

  struct Range {
    unsigned length, read, kept;  // elements of the axis
  };

  /// The passes of a transform along the axis that reads the first `read` elements and keeps the first
  /// `kept`.
  void run_parts(const std::vector<unsigned>& lengths, const Range& range, bool last) {
    const auto parts = parts_of(lengths);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const bool begins = p == 0;
      const bool ends = p + 1 == parts.size();
      const unsigned read = begins ? range.read : range.length;
      const unsigned kept = ends ? range.kept : range.length;
      const bool stays = now_.place >= Place::kWork0 && read == kept && !(ends && parts.size() > 1) &&
                         now_.element == Element::kComplex;
      const Spot next = ends && last ? final_spot() : work_spot(kept, stays);
      add(parts[p], next, range.length, read, kept);
      now_ = next;
    }
  }

  void copy_out() {
    const Spot next = final_spot();
    const auto length = static_cast<unsigned>(problem_.size[axis_]);
    const bool half = axis_ == kDimensions - 1 && problem_.kind == Kind::kRealToComplex;
    const unsigned kept = half ? length / 2 + 1 : length;
    add({1, 1, 1, {{{kept, 1, 1, 0}, {}}}, 0}, next, kept, kept, kept);
    now_ = next;
  }

  [[nodiscard]] Spot final_spot() const {
    return {Place::kOutput, problem_.out,
            problem_.kind == Kind::kComplexToReal ? Element::kReal : Element::kComplex};
  }

  /// A work area with `kept` elements along the axis.
  Spot work_spot(unsigned kept, bool stays) {
    Sizes sizes = sizes_;
    sizes[static_cast<std::size_t>(axis_)] = kept;
    const auto elements = static_cast<std::size_t>(product(sizes));
    schedule.work_elements = std::max(schedule.work_elements, elements);
    Place place = Place::kWork0;
    if (stays ? now_.place == Place::kWork1 : now_.place == Place::kWork0) place = Place::kWork1;
    schedule.work_areas = std::max(schedule.work_areas, place == Place::kWork1 ? 2 : 1);
    return {place, packed(sizes), Element::kComplex};
  }

  void add(const Part& part, const Spot& next, unsigned axis_length, unsigned read, unsigned kept);
  void add_digits(const Part& part, const Spot& next, Pass& pass) const;

  const Problem& problem_;
  Sizes sizes_{};  // of what lies between the axes' transforms
  Spot now_;
  int axis_ = 0;
};

long long in_distance(const Digit& digit, const Pass& pass) {
  return digit.in_stride + digit.in_index * pass.in_stride;
}
long long out_distance(const Digit& digit, const Pass& pass) {
  return digit.out_stride + digit.out_index * pass.out_stride;
}

void add_digit(Pass& pass, long long count, const Digit& digit) {
  if (count == 1) return;
  pass.digit[pass.digits] = digit;
  pass.digit[pass.digits].count = divisor(static_cast<unsigned>(count));
  ++pass.digits;
}

/// The fastest digit is the one whose lines lie closest together: where they are read, or where they are
/// written if each is read in one piece anyway.
void Scheduler::add_digits(const Part& part, const Spot& next, Pass& pass) const {
  for (const auto& lines : part.lines)
    add_digit(pass, lines.count, {{}, lines.in_index, lines.out_index, lines.twiddle, 0, 0});
  for (int d = 0; d < kDimensions; ++d)
    if (d != axis_)
      add_digit(pass, sizes_[static_cast<std::size_t>(d)],
                {{}, 0, 0, 0, now_.layout.stride[d], next.layout.stride[d]});
  const bool by_result = pass.in_step * pass.in_stride <= 1;
  const auto distance = [&](const Digit& digit) {
    return by_result ? out_distance(digit, pass) : in_distance(digit, pass);
  };
  std::stable_sort(pass.digit, pass.digit + pass.digits,
                   [&](const Digit& a, const Digit& b) { return distance(a) < distance(b); });
}

void add_stages(Pass& pass) {
  unsigned span = 1;
  for (const unsigned radix : radices(pass.length.value)) {
    Stage& stage = pass.stage[pass.stages++];
    stage.radix = radix;
    stage.root_step = pass.length.value / (span * radix);
    stage.butterflies = divisor(pass.length.value / radix);
    stage.span = divisor(span);
    span *= radix;
  }
}

/// How many lines a CTA has, and its threads and memory.
void shape(Step& step, bool twice) {
  Pass& pass = step.pass;
  const unsigned length = pass.length.value;
  const unsigned element_bytes = twice ? 16 : 8;
  pass.pitch = (length + length / (twice ? Pass::kSpread<double> : Pass::kSpread<float>)) | 1U;
  const unsigned line_bytes = 2 * pass.pitch * element_bytes + static_cast<unsigned>(sizeof(LinePlace));
  // Neighbouring lines that are read or written together fill memory sectors; beyond that, CTAs are of more
  // use.
  const bool columns = pass.in_by_line || pass.out_by_line;
  const unsigned wanted = columns ? kLinesTogether : 1;
  const unsigned elements = columns ? kColumnElements : kBlockElements;
  unsigned lines = 1;
  while (lines < pass.lines && 2 * lines <= kLinesOfBlock && 2 * lines * length <= elements &&
         2 * lines * line_bytes <= kSharedBytes &&
         (lines < wanted || pass.lines / (2 * lines) >= kBlocksWanted))
    lines *= 2;
  pass.block_lines = divisor(lines);
  step.shared_bytes = lines * line_bytes;
  step.wide =
      std::any_of(pass.stage, pass.stage + pass.stages, [](const Stage& stage) { return stage.radix > 8; });
  step.threads = std::clamp(lines * length / 8, 64U, kThreads) / 32 * 32;
  step.blocks = (pass.lines + lines - 1) / lines;
}

void Scheduler::add(const Part& part, const Spot& next, unsigned axis_length, unsigned read, unsigned kept) {
  Step step;
  Pass& pass = step.pass;
  step.from = now_.place;
  step.to = next.place;
  pass.length = divisor(part.length);
  pass.in_element = now_.element;
  pass.out_element = next.element;
  pass.axis_length = axis_length;
  if (now_.element == Element::kHermitian) pass.axis_length = static_cast<unsigned>(problem_.size[axis_]);
  pass.in_count = read;
  pass.out_count = kept;
  pass.in_step = part.in_step;
  pass.out_step = part.out_step;
  pass.in_stride = now_.layout.stride[axis_];
  pass.out_stride = next.layout.stride[axis_];
  long long lines = 1LL * part.lines[0].count * part.lines[1].count;
  for (int d = 0; d < kDimensions; ++d)
    if (d != axis_) lines *= sizes_[static_cast<std::size_t>(d)];
  if (lines >= kIndexLimit) refuse("cufft: more than 2^31 transforms in one pass");
  pass.lines = static_cast<unsigned>(lines);
  add_digits(part, next, pass);
  add_stages(pass);
  if (pass.digits > 0) {
    pass.in_by_line = in_distance(pass.digit[0], pass) < pass.in_step * pass.in_stride;
    pass.out_by_line = out_distance(pass.digit[0], pass) < pass.out_step * pass.out_stride;
  }
  shape(step, problem_.twice);
  if (part.length > 1) step.roots = {Factors::kRoots, part.length, 0};
  if (part.twiddles > 0) {
    step.low_twiddles = {Factors::kLowTwiddles, part.twiddles, 0};
    step.high_twiddles = {Factors::kHighTwiddles, part.twiddles, 0};
  }
  schedule.steps.push_back(step);
}

}  // namespace

Divisor divisor(unsigned value) {
  Divisor result{value, 0, 0};
  if (value < 2) return result;
  unsigned bits = 0;
  while ((1ULL << bits) < value) ++bits;
  const bool power = 1ULL << bits == value;
  if (!power) result.multiplier = static_cast<unsigned>(((1ULL << (31 + bits)) + value - 1) / value);
  result.shift = power ? bits : bits - 1;
  return result;
}

Schedule make_schedule(const Problem& problem, bool through_work) {
  for (int d = 1; d < kDimensions; ++d)
    if (problem.size[d] > (1LL << 29)) refuse("cufft: an axis of more than 2^29 elements");
  return Scheduler(problem, through_work).schedule;
}

}  // namespace lockstep::libraries::fft
