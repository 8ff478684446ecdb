// SVG elements and the frame of a chart: title, axes, grid and legend. For the charts of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plot/ticks.hpp"

namespace lockstep::plot {

/// Text for an element or an attribute: & < > " are escaped, control characters and bytes that are not UTF-8
/// become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// A coordinate: two decimals at most.
[[nodiscard]] std::string coordinate(double value);

/// Estimated width of `text` in pixels at a font size: there is no font here to measure with.
[[nodiscard]] double text_width(std::string_view text, double font_size);

/// `text` cut to `width`, with an ellipsis.
[[nodiscard]] std::string fitted(std::string_view text, double width, double font_size);

inline constexpr double kFontSize = 12, kTitleSize = 14;

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

/// Collects elements; colours are classes of style_sheet().
class Canvas {
 public:
  Canvas(std::string_view title, Size size, Place place);

  void text(double x, double y, std::string_view content, Anchor anchor, std::string_view css_class = "ink");
  void upward_text(double x, double y, std::string_view content);
  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  /// `hint`, where there is one, appears when the pointer rests on the element.
  void rectangle(double x, double y, double width, double height, std::string_view css_class,
                 std::string_view hint = {}, double opacity = 1);
  void circle(double x, double y, double radius, std::string_view css_class, std::string_view hint = {});
  void path(std::string_view data, std::string_view css_class);

  [[nodiscard]] std::string finish() &&;
  [[nodiscard]] Size size() const { return size_; }

 private:
  void element(std::string_view tag, std::string_view hint);

  std::string out_;
  Size size_;
};

/// A position on an axis as a share of its length.
[[nodiscard]] double share_of(Scale scale, Range range, double value);

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
};

/// A plot area with two numeric axes.
struct Frame {
  Box box;
  Scale x_scale = Scale::kLinear, y_scale = Scale::kLinear;
  Range x{}, y{};
  [[nodiscard]] double px(double value) const { return box.left + share_of(x_scale, x, value) * box.width(); }
  [[nodiscard]] double py(double value) const {
    return box.bottom - share_of(y_scale, y, value) * box.height();
  }
};

[[nodiscard]] std::string axis_title(const Axis& axis);

struct LegendEntry {
  std::string name;
  unsigned colour = 0;
};
/// Draws the legend under the title and returns the y below it.
double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, double top);

/// The box that is left when titles and the labels of the y axis have their room.
[[nodiscard]] Box plot_box(Size size, double top, double label_width, bool x_title, bool y_title);

/// Grid, ticks and titles of both axes.
void draw_axes(Canvas& canvas, const Frame& frame, const Axis& x, const Axis& y);

/// Width of the widest label.
[[nodiscard]] double widest(const std::vector<Tick>& ticks);

/// "no data" in the middle, or a note on values that are not shown.
void draw_no_data(Canvas& canvas, const Box& box);
void draw_left_out(Canvas& canvas, const Box& box, std::size_t values);

/// "f3", "l3": fill and line of a palette colour.
[[nodiscard]] std::string fill_class(unsigned colour);
[[nodiscard]] std::string line_class(unsigned colour);

}  // namespace lockstep::plot
