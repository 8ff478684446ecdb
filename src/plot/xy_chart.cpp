// Lines and points over two numeric axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/clip.hpp"

namespace lockstep::plot {
namespace {

constexpr double kRadius = 3.5;

bool shown(const Axis& axis, double value) {
  return std::isfinite(value) && (axis.scale == Scale::kLinear || value > 0);
}

bool shown(const Chart& chart, const Point& p) { return shown(chart.x, p.x) && shown(chart.y, p.y); }

struct Extent {
  Range x = kEmptyRange, y = kEmptyRange;
  std::size_t left_out = 0;
};

void widen(Range& range, double value) {
  range.from = std::min(range.from, value);
  range.to = std::max(range.to, value);
}

Extent extent_of(const Chart& chart) {
  Extent extent;
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) {
      if (!shown(chart, p)) {
        ++extent.left_out;
        continue;
      }
      widen(extent.x, p.x);
      widen(extent.y, p.y);
    }
  }
  return extent;
}

Spot spot_of(const Frame& frame, const Point& p) { return {frame.px(p.x), frame.py(p.y)}; }

void draw_line(Canvas& canvas, const Chart& chart, const Frame& frame, const Series& series,
               unsigned colour) {
  std::string data;
  const auto add = [&](char command, Spot to) {
    data += fmt::format("{}{}{} {}", data.empty() ? "" : " ", command, coordinate(to.x), coordinate(to.y));
  };
  std::optional<Spot> last;  // a point that cannot be shown is a gap
  for (const Point& p : series.points) {
    if (!shown(chart, p)) {
      last.reset();
      continue;
    }
    const Spot to = spot_of(frame, p);
    if (!last && within(frame.box, to)) add('M', to);
    if (const auto part = last ? cut_line(frame.box, *last, to) : std::nullopt) {
      if (!within(frame.box, *last)) add('M', part->first);
      add('L', part->second);
    }
    last = to;
  }
  if (!data.empty()) canvas.path(data, line_class(colour));
}

std::string hint_of(const Chart& chart, const Series& series, const Point& p) {
  std::string text = p.label.empty() ? series.name : p.label;
  if (!text.empty()) text += ": ";
  const auto with_unit = [](double value, const std::string& unit) {
    return unit.empty() ? number(value) : number(value) + " " + unit;
  };
  return text + with_unit(p.x, chart.x.unit) + ", " + with_unit(p.y, chart.y.unit);
}

/// Returns how many points were left out because they lie beyond the axes' ends.
std::size_t draw_points(Canvas& canvas, const Chart& chart, const Frame& frame, const Series& series,
                        unsigned colour) {
  std::size_t beyond = 0;
  for (const Point& p : series.points) {
    if (!shown(chart, p)) continue;
    const auto [x, y] = spot_of(frame, p);
    if (!within(frame.box, {x, y})) {
      ++beyond;
      continue;
    }
    canvas.circle(x, y, kRadius, fill_class(colour), hint_of(chart, series, p));
    if (!chart.label_points || p.label.empty()) continue;
    const bool left = x + 8 + text_width(p.label, kFontSize) > frame.box.right;
    canvas.text(left ? x - 8 : x + 8, y - 5, p.label, left ? Anchor::kEnd : Anchor::kStart);
  }
  return beyond;
}

/// The part of the line y = x that both axes show.
void draw_diagonal(Canvas& canvas, const Frame& frame) {
  const double from = std::max(frame.x.from, frame.y.from), to = std::min(frame.x.to, frame.y.to);
  if (from < to) canvas.line(frame.px(from), frame.py(from), frame.px(to), frame.py(to), "diagonal");
}

}  // namespace

std::string svg(const Chart& chart, Place place) {
  Canvas canvas(chart.title, chart.size, place);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    legend.push_back({chart.series[i].name, chart.series[i].colour.value_or(static_cast<unsigned>(i))});
  const double top = draw_legend(canvas, legend, chart.title.empty() ? 6 : 30);

  const Extent extent = extent_of(chart);
  Frame frame{.box = {},
              .x_scale = chart.x.scale,
              .y_scale = chart.y.scale,
              .x = range_of(chart.x, extent.x),
              .y = range_of(chart.y, extent.y)};
  frame.box = plot_box(chart.size, top, widest(ticks_of(frame.y_scale, frame.y, 8)),
                       !axis_title(chart.x).empty(), !axis_title(chart.y).empty());
  draw_axes(canvas, frame, chart.x, chart.y);
  if (extent.x.from > extent.x.to) draw_no_data(canvas, frame.box);
  if (chart.diagonal) draw_diagonal(canvas, frame);
  std::size_t left_out = extent.left_out;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.mark != Mark::kPoints) draw_line(canvas, chart, frame, series, legend[i].colour);
    if (series.mark != Mark::kLine) left_out += draw_points(canvas, chart, frame, series, legend[i].colour);
  }
  draw_left_out(canvas, frame.box, left_out);
  return std::move(canvas).finish();
}

}  // namespace lockstep::plot
