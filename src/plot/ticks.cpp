#include "plot/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::plot {
namespace {

constexpr unsigned kStepsOfAWholeRange = 5;  // a range is widened to steps of about a fifth of it
constexpr unsigned kMaxTicks = 1000;         // whatever the range

/// The smallest of 1, 2 or 5 times a power of ten that is not below `raw`.
double step_from(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

Range logarithmic(const Axis& axis, Range data) {
  if (!(data.from <= data.to) || data.to <= 0) data = {1, 10};
  const auto below = [](double v) {
    const double decade = std::pow(10.0, std::floor(std::log10(v) + 1e-12));
    return v >= 3 * decade ? 3 * decade : decade;
  };
  Range range{below(data.from), below(data.to)};
  if (range.to < data.to * (1 - 1e-12)) {
    const double decade = std::pow(10.0, std::floor(std::log10(range.to) + 1e-12));
    range.to = range.to >= 3 * decade * (1 - 1e-12) ? 10 * decade : 3 * decade;
  }
  if (axis.from && *axis.from > 0) range.from = *axis.from;
  if (axis.to && *axis.to > 0) range.to = *axis.to;
  if (!(range.from < range.to)) range.to = range.from * 10;
  return range;
}

std::vector<Tick> decades(Range range) {
  const int first = static_cast<int>(std::floor(std::log10(range.from) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(range.to) + 1e-9));
  const int stride = std::max(1, (last - first) / 8);
  const bool dense = last - first < 3;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, exponent);
      if (factor > 1 && !dense) break;
      if (value >= range.from * (1 - 1e-9) && value <= range.to * (1 + 1e-9))
        ticks.push_back({value, number(value)});
    }
  }
  return ticks;
}

}  // namespace

Range range_of(const Axis& axis, Range data) {
  if (axis.scale == Scale::kLogarithmic) return logarithmic(axis, data);
  if (!(data.from <= data.to)) data = {0, 1};
  if (axis.zero) data = {std::min(data.from, 0.0), std::max(data.to, 0.0)};
  if (data.from == data.to) data.to = data.from + std::max(1.0, std::abs(data.from) * 0.1);
  const double step = step_from((data.to - data.from) / kStepsOfAWholeRange);
  Range range{std::floor(data.from / step + 1e-9) * step, std::ceil(data.to / step - 1e-9) * step};
  range = {axis.from.value_or(range.from), axis.to.value_or(range.to)};
  if (!(range.from < range.to)) range.to = range.from + 1;
  return range;
}

std::vector<Tick> ticks_of(Scale scale, Range range, unsigned wanted) {
  if (scale == Scale::kLogarithmic) return decades(range);
  const double step = step_from((range.to - range.from) / std::max(1u, wanted));
  std::vector<Tick> ticks;
  const double first = std::ceil(range.from / step - 1e-9);
  for (unsigned i = 0; i < kMaxTicks; ++i) {
    double value = (first + i) * step;
    if (value > range.to + step * 1e-9) break;
    if (std::abs(value) < step * 1e-9) value = 0;
    ticks.push_back({value, number(value)});
  }
  return ticks;
}

std::string number(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-4 || size >= 9.9995e15) return fmt::format("{:.3g}", value);
  if (size < 9999.5) return fmt::format("{:.4g}", value);
  constexpr std::array kPrefixes = {"k", "M", "G", "T"};
  double scaled = value / 1000;
  std::size_t prefix = 0;
  while (std::abs(scaled) >= 999.95 && prefix + 1 < kPrefixes.size()) {
    scaled /= 1000;
    ++prefix;
  }
  return fmt::format("{:.4g}{}", scaled, kPrefixes[prefix]);
}

}  // namespace lockstep::plot
