// Areas on top of each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/clip.hpp"

namespace lockstep::plot {
namespace {

double value_at(const AreaChart::Layer& layer, std::size_t i) {
  const double value = i < layer.values.size() ? layer.values[i] : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

std::string outline(const Frame& frame, const std::vector<double>& at, const std::vector<double>& floor,
                    const std::vector<double>& ceiling) {
  std::vector<Spot> spots;
  for (std::size_t i = 0; i < at.size(); ++i) spots.push_back({frame.px(at[i]), frame.py(ceiling[i])});
  for (std::size_t i = at.size(); i-- > 0;) spots.push_back({frame.px(at[i]), frame.py(floor[i])});
  std::string data;
  for (const Spot& spot : cut_area(frame.box, std::move(spots)))
    data += fmt::format("{}{} {}", data.empty() ? "M" : " L", coordinate(spot.x), coordinate(spot.y));
  return data.empty() ? data : data + " Z";
}

bool has_values(const AreaChart& chart) {
  const auto has_value = [&](const AreaChart::Layer& layer) {
    const std::size_t shown = std::min(chart.at.size(), layer.values.size());
    return std::any_of(layer.values.begin(), layer.values.begin() + static_cast<std::ptrdiff_t>(shown),
                       [](double v) { return std::isfinite(v); });
  };
  return std::any_of(chart.layers.begin(), chart.layers.end(), has_value);
}

double highest(const AreaChart& chart) {
  double highest = 0;
  for (std::size_t i = 0; i < chart.at.size(); ++i) {
    double sum = 0;
    for (const AreaChart::Layer& layer : chart.layers) sum += value_at(layer, i);
    highest = std::max(highest, sum);
  }
  return highest;
}

}  // namespace

std::string svg(const AreaChart& chart, Place place) {
  Canvas canvas(chart.title, chart.size, place);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < chart.layers.size(); ++i)
    legend.push_back({chart.layers[i].name, chart.layers[i].colour.value_or(static_cast<unsigned>(i))});
  const double top = draw_legend(canvas, legend, chart.title.empty() ? 6 : 30);

  const bool empty = !has_values(chart);
  Axis x = chart.x, y = chart.y;
  if (!empty && !x.to) x.to = chart.at.back();  // no empty margin behind the end
  y.zero = true;
  Frame frame{.box = {},
              .x = range_of(x, empty ? Range{1, 0} : Range{chart.at.front(), chart.at.back()}),
              .y = range_of(y, empty ? Range{1, 0} : Range{0, highest(chart)})};
  frame.box = plot_box(chart.size, top, widest(ticks_of(frame.y_scale, frame.y, 8)), !axis_title(x).empty(),
                       !axis_title(y).empty());
  draw_axes(canvas, frame, x, y);
  if (empty) draw_no_data(canvas, frame.box);
  std::vector<double> floor(chart.at.size()), ceiling(chart.at.size());
  for (std::size_t l = 0; !empty && l < chart.layers.size(); ++l) {
    for (std::size_t i = 0; i < chart.at.size(); ++i) ceiling[i] = floor[i] + value_at(chart.layers[l], i);
    const std::string area = outline(frame, chart.at, floor, ceiling);
    if (!area.empty()) canvas.path(area, fill_class(legend[l].colour));
    floor = ceiling;
  }
  return std::move(canvas).finish();
}

}  // namespace lockstep::plot
