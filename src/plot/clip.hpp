// What of a line or an area lies within a plot's box.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "plot/canvas.hpp"

namespace lockstep::plot {

struct Spot {  // in pixels
  double x = 0, y = 0;
};

/// A spot on the box's edge is within it.
[[nodiscard]] bool within(const Box& box, Spot spot);

/// The part of the line within the box, in the line's direction.
[[nodiscard]] std::optional<std::pair<Spot, Spot>> cut_line(const Box& box, Spot from, Spot to);

/// The part of the area within the box: its outline, which may run along the box's edge; empty where there is
/// no such part.
[[nodiscard]] std::vector<Spot> cut_area(const Box& box, std::vector<Spot> outline);

}  // namespace lockstep::plot
