// The frame of a chart: legend, axes and notes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/canvas.hpp"

namespace lockstep::plot {
namespace {

constexpr double kEdge = 8;         // between a chart's contents and its edge
constexpr double kLine = 18;        // height of a line of text
constexpr double kTickRoom = 70;    // along x: pixels for a tick's label
constexpr double kTickHeight = 40;  // along y
constexpr double kFarthest = 1e6;   // lengths of an axis: coordinates stay finite

}  // namespace

double share_of(Scale scale, Range range, double value) {
  const double share = scale == Scale::kLogarithmic
                           ? std::log(value / range.from) / std::log(range.to / range.from)
                           : (value - range.from) / (range.to - range.from);
  return std::clamp(share, -kFarthest, kFarthest);
}

std::string axis_title(const Axis& axis) {
  if (axis.unit.empty()) return axis.title;
  return axis.title.empty() ? axis.unit : fmt::format("{} [{}]", axis.title, axis.unit);
}

double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, double top) {
  double x = kEdge;
  bool any = false;
  for (const LegendEntry& entry : entries) {
    if (entry.name.empty()) continue;
    const double width = text_width(entry.name, kFontSize) + 30;
    if (any && x + width > canvas.size().width - kEdge) {
      x = kEdge;
      top += kLine;
    }
    any = true;
    canvas.rectangle(x, top, 10, 10, fill_class(entry.colour));
    canvas.text(x + 15, top + 10, entry.name, Anchor::kStart);
    x += width;
  }
  return any ? top + kLine + 4 : top;
}

Box plot_box(Size size, double top, double label_width, bool x_title, bool y_title) {
  Box box;
  box.left = kEdge + label_width + 6 + (y_title ? kLine : 0);
  box.top = top + 6;
  box.right = std::max(box.left + 10, size.width - 2 * kEdge - 8);
  box.bottom = std::max(box.top + 10, size.height - kEdge - kLine - (x_title ? kLine : 0));
  return box;
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, kFontSize));
  return width;
}

void draw_axes(Canvas& canvas, const Frame& frame, const Axis& x, const Axis& y) {
  const Box& box = frame.box;
  for (const Tick& tick : ticks_of(frame.x_scale, frame.x, static_cast<unsigned>(box.width() / kTickRoom))) {
    const double at = frame.px(tick.value);
    canvas.line(at, box.top, at, box.bottom, "grid");
    canvas.text(at, box.bottom + 15, tick.label, Anchor::kMiddle);
  }
  for (const Tick& tick :
       ticks_of(frame.y_scale, frame.y, static_cast<unsigned>(box.height() / kTickHeight))) {
    const double at = frame.py(tick.value);
    canvas.line(box.left, at, box.right, at, "grid");
    canvas.text(box.left - 6, at + 4, tick.label, Anchor::kEnd);
  }
  canvas.line(box.left, box.bottom, box.right, box.bottom, "axis");
  canvas.line(box.left, box.top, box.left, box.bottom, "axis");
  canvas.text((box.left + box.right) / 2, box.bottom + 33, axis_title(x), Anchor::kMiddle);
  if (!axis_title(y).empty()) canvas.upward_text(16, (box.top + box.bottom) / 2, axis_title(y));
}

void draw_no_data(Canvas& canvas, const Box& box) {
  canvas.text((box.left + box.right) / 2, (box.top + box.bottom) / 2, "no data", Anchor::kMiddle, "faint");
}

void draw_left_out(Canvas& canvas, const Box& box, std::size_t values) {
  if (values == 0) return;
  canvas.text(box.right, box.top + 12,
              fmt::format("{} value{} cannot be shown on these axes", values, values == 1 ? "" : "s"),
              Anchor::kEnd, "faint");
}

std::string fill_class(unsigned colour) { return fmt::format("f{}", colour % kPaletteSize); }
std::string line_class(unsigned colour) { return fmt::format("l{}", colour % kPaletteSize); }

}  // namespace lockstep::plot
