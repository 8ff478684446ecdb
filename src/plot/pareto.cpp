// The front of points, and its chart.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "plot/chart.hpp"

namespace lockstep::plot {

std::vector<std::size_t> pareto_front(const std::vector<Point>& points, Better x, Better y) {
  const auto cost = [](double value, Better better) { return better == Better::kLower ? value : -value; };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::isfinite(points[i].x) && std::isfinite(points[i].y)) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double ax = cost(points[a].x, x), bx = cost(points[b].x, x);
    const double ay = cost(points[a].y, y), by = cost(points[b].y, y);
    return ax != bx ? ax < bx : ay != by ? ay < by : a < b;
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool first = front.empty();
    const Point* last = first ? nullptr : &points[front.back()];
    const bool equal = last && last->x == points[i].x && last->y == points[i].y;
    if (first || equal || cost(points[i].y, y) < cost(last->y, y)) front.push_back(i);
  }
  std::sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) {
    return points[a].x != points[b].x ? points[a].x < points[b].x : a < b;
  });
  return front;
}

std::string svg(const ParetoChart& pareto, Place place) {
  Chart chart{.title = pareto.title, .x = pareto.x, .y = pareto.y, .series = {}, .size = pareto.size};
  const auto direction = [](Better better) {
    return better == Better::kLower ? "lower is better" : "higher is better";
  };
  const auto say = [&](Axis& axis, Better better) {
    axis.title += (axis.title.empty() ? "" : ", ") + std::string(direction(better));
  };
  say(chart.x, pareto.x_better);
  say(chart.y, pareto.y_better);
  std::vector<bool> on_front(pareto.points.size());
  Series front{.name = "front", .points = {}, .mark = Mark::kLineAndPoints, .colour = 1};
  for (const std::size_t i : pareto_front(pareto.points, pareto.x_better, pareto.y_better)) {
    on_front[i] = true;
    front.points.push_back(pareto.points[i]);
  }
  Series rest{.name = "other points", .points = {}, .mark = Mark::kPoints, .colour = 7};
  for (std::size_t i = 0; i < pareto.points.size(); ++i)
    if (!on_front[i]) rest.points.push_back(pareto.points[i]);
  chart.series = {std::move(rest), std::move(front)};
  return svg(chart, place);
}

}  // namespace lockstep::plot
