// Round numbers along an axis.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "plot/chart.hpp"

namespace lockstep::plot {

struct Range {
  double from = 0, to = 1;
};
/// Of no value yet.
inline constexpr Range kEmptyRange{std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity()};

struct Tick {
  double value = 0;
  std::string label;
};

/// The range to draw: `axis`'s own ends, elsewhere the data's, widened to whole ticks on a linear axis and to
/// whole decades (halves of them, 1 and 3, where there is less than one) on a logarithmic one. `data` with
/// from > to means no data.
[[nodiscard]] Range range_of(const Axis& axis, Range data);

/// Ticks within the range, ascending: steps of 1, 2 or 5 times a power of ten, about `wanted` of them; on a
/// logarithmic axis powers of ten, with 2 and 5 times these where there are fewer than three.
[[nodiscard]] std::vector<Tick> ticks_of(Scale scale, Range range, unsigned wanted);

/// "1.5M", "0.25", "3e-06": at most four significant digits.
[[nodiscard]] std::string number(double value);

}  // namespace lockstep::plot
