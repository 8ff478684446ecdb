// Charts as SVG text: what is to be drawn as plain values, and a function for each kind of chart.
//
// Equal input gives equal bytes on every host. Labels are free text: they are escaped here, and bytes that
// XML does not allow are replaced. Values that cannot be shown (not finite; not positive on a logarithmic
// axis) are left out, and a note in the chart says how many. What lies beyond a fixed end of an axis is cut
// off at the plot's edge, and points there are left out and counted, too. A chart without a value says "no
// data".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::plot {

/// Where the SVG will stand. kFile: on its own; it brings its colours. kPage: within an HTML page that has
/// style_sheet() in a <style> element.
enum class Place : std::uint8_t { kFile, kPage };

enum class Scale : std::uint8_t { kLinear, kLogarithmic };

struct Axis {
  std::string title;
  std::string unit;  // shown as "title [unit]"
  Scale scale = Scale::kLinear;
  std::optional<double> from, to;  // without: the data's range, from 0 on where `zero`
  bool zero = false;               // linear only
};

struct Size {  // in CSS pixels at the natural scale; the SVG scales with its container
  unsigned width = 720, height = 360;
};

enum class Mark : std::uint8_t { kLine, kPoints, kLineAndPoints };

struct Point {
  double x = 0, y = 0;
  std::string label;  // shown when the pointer rests on it, and beside it where Chart::label_points
};

struct Series {
  std::string name;  // in the legend; empty: not there
  std::vector<Point> points;
  Mark mark = Mark::kLine;
  std::optional<unsigned> colour;  // index into the palette; without: the series' position
};

/// Lines and points over two numeric axes.
struct Chart {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  bool diagonal = false;      // also the line y = x: measured against simulated
  bool label_points = false;  // points' labels in the chart
  Size size;
};
[[nodiscard]] std::string svg(const Chart& chart, Place place = Place::kFile);

/// Areas on top of each other, over values of x that all series share.
struct AreaChart {
  struct Layer {
    std::string name;
    std::vector<double> values;  // one for each x; negative ones, and those that are not finite, count as 0
    std::optional<unsigned> colour;
  };
  std::string title;
  Axis x, y;
  std::vector<double> at;  // values of x, ascending
  std::vector<Layer> layers;
  Size size;
};
[[nodiscard]] std::string svg(const AreaChart& chart, Place place = Place::kFile);

/// Bars for categories.
struct BarChart {
  enum class Form : std::uint8_t { kGrouped, kStacked };
  enum class Direction : std::uint8_t {
    kUpright,
    kSideways
  };  // kSideways: room for long names of categories
  struct Bars {
    std::string name;
    std::vector<double> values;  // one for each category; not finite: no value
    std::optional<unsigned> colour;
  };
  std::string title;
  std::string category_title;
  Axis value;  // from 0 on
  std::vector<std::string> categories;
  std::vector<Bars> series;
  Form form = Form::kGrouped;
  Direction direction = Direction::kUpright;
  Size size;  // kSideways: the height follows from the number of bars, and size.height is not used
};
[[nodiscard]] std::string svg(const BarChart& chart, Place place = Place::kFile);

/// A value for each pair of two categories, as the depth of a colour.
struct HeatMap {
  std::string title;
  std::string x_title, y_title;
  std::vector<std::string> columns, rows;  // names; the first row is on top
  std::vector<double> values;              // row by row; not finite: no value
  std::string value_title, unit;
  Scale scale = Scale::kLinear;  // of the colours
  bool show_values = true;       // in the cells, where they are large enough
  Size size;
};
[[nodiscard]] std::string svg(const HeatMap& map, Place place = Place::kFile);

/// Points with the front drawn: the points than which no other is at least as good in both and better in one.
enum class Better : std::uint8_t { kLower, kHigher };
struct ParetoChart {
  std::string title;
  Axis x, y;
  Better x_better = Better::kLower, y_better = Better::kHigher;
  std::vector<Point> points;
  Size size;
};
[[nodiscard]] std::string svg(const ParetoChart& chart, Place place = Place::kFile);

/// Indices of the front's points, ascending in x and then by index. Points that are not finite are never
/// there; of equal points all are.
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<Point>& points, Better x, Better y);

/// Colours for light, dark and paper, of every chart of a page. Series take kPaletteSize colours in turn.
inline constexpr unsigned kPaletteSize = 16;
[[nodiscard]] std::string style_sheet();

}  // namespace lockstep::plot
