// Bars for categories, upright or sideways.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/canvas.hpp"

namespace lockstep::plot {
namespace {

constexpr double kBarHeight = 16, kGap = 8;  // sideways
constexpr double kMaxCategoryShare = 0.4;    // of the width, for sideways categories
constexpr double kMinLabelWidth = 46;  // upright: narrower categories are named by every second, third...

double value_at(const BarChart::Bars& bars, std::size_t category) {
  const double value = category < bars.values.size() ? bars.values[category] : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

struct Shown {
  std::size_t values = 0, left_out = 0;
};

/// Values that are there, and those below the axis' beginning.
Shown shown_of(const BarChart& chart) {
  Shown shown;
  for (const BarChart::Bars& bars : chart.series)
    for (std::size_t c = 0; c < std::min(chart.categories.size(), bars.values.size()); ++c) {
      shown.values += std::isfinite(bars.values[c]) ? 1u : 0u;
      shown.left_out += std::isfinite(bars.values[c]) && bars.values[c] < 0 ? 1u : 0u;
    }
  return shown;
}

void draw_notes(Canvas& canvas, const BarChart& chart, const Box& box) {
  const Shown shown = shown_of(chart);
  if (shown.values == shown.left_out) draw_no_data(canvas, box);
  draw_left_out(canvas, box, shown.left_out);
}

double highest(const BarChart& chart) {
  double highest = 0;
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    double sum = 0;
    for (const BarChart::Bars& bars : chart.series) {
      sum =
          chart.form == BarChart::Form::kStacked ? sum + value_at(bars, c) : std::max(sum, value_at(bars, c));
    }
    highest = std::max(highest, sum);
  }
  return highest;
}

std::string hint_of(const BarChart& chart, const BarChart::Bars& bars, std::size_t c) {
  std::string text = chart.categories[c];
  if (!bars.name.empty()) text += ", " + bars.name;
  text += ": " + number(value_at(bars, c));
  return chart.value.unit.empty() ? text : text + " " + chart.value.unit;
}

/// Draws every bar, as far as the axis shows it: `place(category, lane, lanes, from, to)` gives its
/// rectangle.
template <class Place>
void draw_bars(Canvas& canvas, const BarChart& chart, const std::vector<LegendEntry>& legend, Range axis,
               const Place& place) {
  const bool stacked = chart.form == BarChart::Form::kStacked;
  const std::size_t lanes = stacked ? 1 : chart.series.size();
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    double floor = 0;
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = value_at(chart.series[s], c), bottom = stacked ? floor : 0;
      const double from = std::clamp(bottom, axis.from, axis.to),
                   to = std::clamp(bottom + value, axis.from, axis.to);
      if (from < to) {
        const Box box = place(c, stacked ? 0 : s, lanes, from, to);
        canvas.rectangle(box.left, box.top, box.width(), box.height(), fill_class(legend[s].colour),
                         hint_of(chart, chart.series[s], c));
      }
      floor += value;
    }
  }
}

void draw_upright(Canvas& canvas, const BarChart& chart, const std::vector<LegendEntry>& legend, double top) {
  Frame frame{.box = {}, .y = range_of(chart.value, {0, highest(chart)})};
  frame.box = plot_box(canvas.size(), top, widest(ticks_of(frame.y_scale, frame.y, 8)),
                       !chart.category_title.empty(), !axis_title(chart.value).empty());
  const Box& box = frame.box;
  const double slot = box.width() / static_cast<double>(std::max<std::size_t>(1, chart.categories.size()));
  for (const Tick& tick : ticks_of(frame.y_scale, frame.y, static_cast<unsigned>(box.height() / 40))) {
    canvas.line(box.left, frame.py(tick.value), box.right, frame.py(tick.value), "grid");
    canvas.text(box.left - 6, frame.py(tick.value) + 4, tick.label, Anchor::kEnd);
  }
  const auto stride = static_cast<std::size_t>(std::max(1.0, std::ceil(kMinLabelWidth / slot)));
  for (std::size_t c = 0; c < chart.categories.size(); c += stride)
    canvas.text(box.left + slot * (static_cast<double>(c) + 0.5), box.bottom + 15,
                fitted(chart.categories[c], slot * static_cast<double>(stride) - 4, kFontSize),
                Anchor::kMiddle);
  draw_bars(canvas, chart, legend, frame.y,
            [&](std::size_t c, std::size_t lane, std::size_t lanes, double from, double to) {
              const double width = slot * 0.8 / static_cast<double>(lanes);
              const double left =
                  box.left + slot * (static_cast<double>(c) + 0.1) + width * static_cast<double>(lane);
              return Box{left, frame.py(to), left + width, frame.py(from)};
            });
  canvas.line(box.left, box.bottom, box.right, box.bottom, "axis");
  canvas.text((box.left + box.right) / 2, box.bottom + 33, chart.category_title, Anchor::kMiddle);
  if (!axis_title(chart.value).empty())
    canvas.upward_text(16, (box.top + box.bottom) / 2, axis_title(chart.value));
  draw_notes(canvas, chart, box);
}

double lanes_of(const BarChart& chart) {
  return chart.form == BarChart::Form::kStacked
             ? 1
             : static_cast<double>(std::max<std::size_t>(1, chart.series.size()));
}

void draw_sideways(Canvas& canvas, const BarChart& chart, const std::vector<LegendEntry>& legend,
                   double top) {
  double label_width = 0;
  for (const std::string& name : chart.categories)
    label_width = std::max(label_width, text_width(name, kFontSize));
  label_width = std::min(label_width, kMaxCategoryShare * canvas.size().width);
  Frame frame{.box = {}, .x = range_of(chart.value, {0, highest(chart)})};
  frame.box = plot_box(canvas.size(), top, label_width, true, false);
  const Box& box = frame.box;
  for (const Tick& tick : ticks_of(frame.x_scale, frame.x, static_cast<unsigned>(box.width() / 70))) {
    canvas.line(frame.px(tick.value), box.top, frame.px(tick.value), box.bottom, "grid");
    canvas.text(frame.px(tick.value), box.bottom + 15, tick.label, Anchor::kMiddle);
  }
  const double slot = kBarHeight * lanes_of(chart) + kGap;
  for (std::size_t c = 0; c < chart.categories.size(); ++c)
    canvas.text(box.left - 6, box.top + slot * (static_cast<double>(c) + 0.5) + 4,
                fitted(chart.categories[c], label_width + 1, kFontSize), Anchor::kEnd);
  draw_bars(canvas, chart, legend, frame.x,
            [&](std::size_t c, std::size_t lane, std::size_t, double from, double to) {
              const double upper =
                  box.top + slot * static_cast<double>(c) + kGap / 2 + kBarHeight * static_cast<double>(lane);
              return Box{frame.px(from), upper, frame.px(to), upper + kBarHeight};
            });
  canvas.line(box.left, box.top, box.left, box.bottom, "axis");
  canvas.text((box.left + box.right) / 2, box.bottom + 33, axis_title(chart.value), Anchor::kMiddle);
  draw_notes(canvas, chart, box);
}

/// Lines of a legend of these entries, as draw_legend() breaks them, by drawing it on a canvas that is not
/// kept.
double legend_bottom(const std::vector<LegendEntry>& entries, Size size, double top) {
  Canvas scratch("", size, Place::kPage);
  return draw_legend(scratch, entries, top);
}

}  // namespace

std::string svg(const BarChart& chart, Place place) {
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    legend.push_back({chart.series[i].name, chart.series[i].colour.value_or(static_cast<unsigned>(i))});
  const bool sideways = chart.direction == BarChart::Direction::kSideways;
  const double first = chart.title.empty() ? 6 : 30;
  Size size = chart.size;
  if (sideways) {
    const auto slots = static_cast<double>(std::max<std::size_t>(1, chart.categories.size()));
    size.height = static_cast<unsigned>(legend_bottom(legend, size, first) + 6 +
                                        slots * (kBarHeight * lanes_of(chart) + kGap) + 44);
  }
  Canvas canvas(chart.title, size, place);
  const double top = draw_legend(canvas, legend, first);
  BarChart from_zero = chart;
  from_zero.value.zero = true;
  (sideways ? draw_sideways : draw_upright)(canvas, from_zero, legend, top);
  return std::move(canvas).finish();
}

}  // namespace lockstep::plot
