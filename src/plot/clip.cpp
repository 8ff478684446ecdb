#include "plot/clip.hpp"

#include <algorithm>
#include <array>

namespace lockstep::plot {
namespace {

constexpr double kRounding = 1e-6;  // pixels: a value on an axis' end is shown

/// How far inside a spot is, from each of the box's four edges; negative beyond the edge.
using Depths4 = std::array<double, 4>;

Depths4 depths_in(const Box& box, Spot spot) {
  return {spot.x - box.left + kRounding, box.right - spot.x + kRounding, spot.y - box.top + kRounding,
          box.bottom - spot.y + kRounding};
}

Spot between(Spot a, Spot b, double share) { return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share}; }

}  // namespace

bool within(const Box& box, Spot spot) {
  const Depths4 depths = depths_in(box, spot);
  return std::all_of(depths.begin(), depths.end(), [](double depth) { return depth >= 0; });
}

/// Y.-D. Liang and B. A. Barsky, "A New Concept and Method for Line Clipping", TOG 3(1), 1984.
std::optional<std::pair<Spot, Spot>> cut_line(const Box& box, Spot from, Spot to) {
  const Depths4 a = depths_in(box, from), b = depths_in(box, to);
  double enters = 0, leaves = 1;
  for (std::size_t edge = 0; edge < a.size(); ++edge) {
    if (a[edge] < 0 && b[edge] < 0) return std::nullopt;
    if (a[edge] < 0) enters = std::max(enters, a[edge] / (a[edge] - b[edge]));
    if (b[edge] < 0) leaves = std::min(leaves, a[edge] / (a[edge] - b[edge]));
  }
  if (enters > leaves) return std::nullopt;
  return std::pair{enters > 0 ? between(from, to, enters) : from,
                   leaves < 1 ? between(from, to, leaves) : to};
}

/// I. E. Sutherland and G. W. Hodgman, "Reentrant Polygon Clipping", CACM 17(1), 1974: edge by edge.
std::vector<Spot> cut_area(const Box& box, std::vector<Spot> outline) {
  for (std::size_t edge = 0; edge < Depths4{}.size(); ++edge) {
    std::vector<Spot> kept;
    for (std::size_t i = 0; i < outline.size(); ++i) {
      const Spot from = outline[i], to = outline[(i + 1) % outline.size()];
      const double a = depths_in(box, from)[edge], b = depths_in(box, to)[edge];
      if (a >= 0) kept.push_back(from);
      if ((a >= 0) != (b >= 0)) kept.push_back(between(from, to, a / (a - b)));
    }
    outline = std::move(kept);
  }
  return outline;
}

}  // namespace lockstep::plot
