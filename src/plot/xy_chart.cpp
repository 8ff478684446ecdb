// Lines and points over two numeric axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/canvas.hpp"

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

void draw_line(Canvas& canvas, const Chart& chart, const Frame& frame, const Series& series,
               unsigned colour) {
  std::string data;
  bool pen_down = false;  // a point that cannot be shown is a gap
  for (const Point& p : series.points) {
    if (!shown(chart, p)) {
      pen_down = false;
      continue;
    }
    data += fmt::format("{}{} {}",
                        pen_down       ? " L"
                        : data.empty() ? "M"
                                       : " M",
                        coordinate(frame.px(p.x)), coordinate(frame.py(p.y)));
    pen_down = true;
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

void draw_points(Canvas& canvas, const Chart& chart, const Frame& frame, const Series& series,
                 unsigned colour) {
  for (const Point& p : series.points) {
    if (!shown(chart, p)) continue;
    const double x = frame.px(p.x), y = frame.py(p.y);
    canvas.circle(x, y, kRadius, fill_class(colour), hint_of(chart, series, p));
    if (!chart.label_points || p.label.empty()) continue;
    const bool left = x + 8 + text_width(p.label, kFontSize) > frame.box.right;
    canvas.text(left ? x - 8 : x + 8, y - 5, p.label, left ? Anchor::kEnd : Anchor::kStart);
  }
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
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.mark != Mark::kPoints) draw_line(canvas, chart, frame, series, legend[i].colour);
    if (series.mark != Mark::kLine) draw_points(canvas, chart, frame, series, legend[i].colour);
  }
  draw_left_out(canvas, frame.box, extent.left_out);
  return std::move(canvas).finish();
}

}  // namespace lockstep::plot
