// What lies beyond the ends of the axes is not drawn.
#include "plot/clip.hpp"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <sstream>

#include "plot/chart.hpp"

namespace lockstep::plot {
namespace {

using Node = boost::property_tree::ptree;

std::vector<Node> nodes_of(const std::string& svg, const std::string& tag) {
  std::istringstream in(svg);
  Node tree;
  boost::property_tree::read_xml(in, tree);
  std::vector<Node> found;
  for (const auto& [name, child] : tree.get_child("svg"))
    if (name == tag) found.push_back(child);
  return found;
}

double value_of(const Node& node, const std::string& name) { return node.get<double>("<xmlattr>." + name); }

/// As drawn: the grid's lines go from edge to edge.
Box box_of(const std::string& svg) {
  Box box{1e9, 1e9, -1e9, -1e9};
  for (const Node& line : nodes_of(svg, "line")) {
    box.left = std::min(box.left, value_of(line, "x1"));
    box.right = std::max(box.right, value_of(line, "x2"));
    box.top = std::min(box.top, value_of(line, "y1"));
    box.bottom = std::max(box.bottom, value_of(line, "y2"));
  }
  return box;
}

/// A path's corners as shares of the box: (0, 0) is the lower left, (1, 1) the upper right.
struct Corner {
  char command;
  double x, y;
};
std::vector<Corner> corners_of(const std::string& svg, std::size_t path = 0) {
  const Box box = box_of(svg);
  std::istringstream in(nodes_of(svg, "path").at(path).get<std::string>("<xmlattr>.d"));
  std::vector<Corner> corners;
  Corner next{};
  while (in >> next.command && next.command != 'Z' && in >> next.x >> next.y)
    corners.push_back(
        {next.command, (next.x - box.left) / box.width(), (box.bottom - next.y) / box.height()});
  return corners;
}

void check_corners(const std::vector<Corner>& corners, const std::vector<Corner>& expected) {
  REQUIRE(corners.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(corners[i].command == expected[i].command);
    CHECK(corners[i].x == Approx(expected[i].x).margin(1e-3));
    CHECK(corners[i].y == Approx(expected[i].y).margin(1e-3));
  }
}

/// Axes from 0 to 10 and from 0 to 20.
Chart ten_by_twenty(std::vector<Point> points, Mark mark) {
  return {.title = "",
          .x = {.title = "", .unit = "", .from = 0, .to = 10},
          .y = {.title = "", .unit = "", .from = 0, .to = 20},
          .series = {{.name = "", .points = std::move(points), .mark = mark, .colour = {}}},
          .size = {}};
}

bool notes(const std::string& svg, const std::string& text) {
  for (const Node& node : nodes_of(svg, "text"))
    if (node.data() == text) return true;
  return false;
}

BarChart bars(std::vector<double> values, BarChart::Direction direction) {
  return {.title = "",
          .category_title = "",
          .value = {.title = "", .unit = "", .from = 5, .to = 10},
          .categories = {"a", "b", "c"},
          .series = {{"", std::move(values), {}}},
          .direction = direction,
          .size = {}};
}

std::vector<Node> drawn_bars(const std::string& svg) {
  std::vector<Node> found = nodes_of(svg, "rect");
  std::erase_if(found, [](const Node& node) { return node.get("title", "").empty(); });
  return found;
}

bool inside(const Box& box, double x, double y) {
  return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

}  // namespace

TEST_CASE("a line that leaves the plot ends at its edge, and begins there when it comes back") {
  const std::string chart = svg(ten_by_twenty({{0, 0, ""}, {8, 40, ""}, {10, 0, ""}}, Mark::kLine));
  check_corners(corners_of(chart), {{'M', 0, 0}, {'L', 0.4, 1}, {'M', 0.9, 1}, {'L', 1, 0}});
  CHECK_FALSE(notes(chart, "1 value cannot be shown on these axes"));
}

TEST_CASE("a line whose ends are both outside is drawn where it crosses the plot") {
  check_corners(corners_of(svg(ten_by_twenty({{-10, 10, ""}, {30, 10, ""}}, Mark::kLine))),
                {{'M', 0, 0.5}, {'L', 1, 0.5}});
  check_corners(corners_of(svg(ten_by_twenty({{-2, 8, ""}, {3, -2, ""}}, Mark::kLine))),
                {{'M', 0, 0.2}, {'L', 0.2, 0}});
  const std::string past = svg(ten_by_twenty({{-2, 2, ""}, {2, -6, ""}}, Mark::kLine));
  CHECK(nodes_of(past, "path").empty());  // it passes the corner
}

TEST_CASE("a line to a point far outside keeps its direction") {
  check_corners(corners_of(svg(ten_by_twenty({{0, 0, ""}, {1000, 1000, ""}}, Mark::kLine))),
                {{'M', 0, 0}, {'L', 1, 0.5}});
}

TEST_CASE("a line over logarithmic axes is cut where it is straight: between the logarithms") {
  Chart chart = ten_by_twenty({{1, 1, ""}, {1e4, 1e4, ""}}, Mark::kLine);
  chart.x = {.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = 1, .to = 1e4};
  chart.y = {.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = 1, .to = 10};
  check_corners(corners_of(svg(chart)), {{'M', 0, 0}, {'L', 0.25, 1}});
}

TEST_CASE("points beyond an axis' end are left out with their labels, and counted; those on it are shown") {
  Chart chart = ten_by_twenty(
      {{10, 20, "on"}, {0, 0, "on"}, {10.1, 5, "out"}, {-0.1, 5, "out"}, {5, 20.1, "out"}, {5, -0.1, "out"}},
      Mark::kPoints);
  chart.label_points = true;
  const std::string text = svg(chart);
  CHECK(nodes_of(text, "circle").size() == 2);
  CHECK(notes(text, "4 values cannot be shown on these axes"));
  CHECK(notes(text, "on"));
  CHECK_FALSE(notes(text, "out"));
}

TEST_CASE("bars are cut at the ends of their axis, and those beyond it are left out") {
  for (const auto direction : {BarChart::Direction::kUpright, BarChart::Direction::kSideways}) {
    CAPTURE(static_cast<int>(direction));
    const bool upright = direction == BarChart::Direction::kUpright;
    const std::string text = svg(bars({7.5, 3, 12}, direction));
    const auto found = drawn_bars(text);
    REQUIRE(found.size() == 2);
    const double length = upright ? box_of(text).height() : box_of(text).width();
    const std::string side = upright ? "height" : "width";
    CHECK(value_of(found[0], side) == Approx(length / 2).margin(0.02));
    CHECK(value_of(found[1], side) == Approx(length).margin(0.02));
    CHECK(found[1].get<std::string>("title") == "c: 12");  // its whole value
  }
}

TEST_CASE("the parts of a stacked bar above the axis' end are left out") {
  BarChart chart = bars({4, 0, 0}, BarChart::Direction::kUpright);
  chart.value.from = 0;
  chart.form = BarChart::Form::kStacked;
  for (const double value : {4.0, 4.0, 4.0}) chart.series.push_back({"", {value}, {}});
  const std::string text = svg(chart);
  const auto found = drawn_bars(text);
  REQUIRE(found.size() == 3);  // to 4, to 8 and to 12
  CHECK(value_of(found[2], "height") == Approx(box_of(text).height() / 5).margin(0.02));
}

TEST_CASE("areas are cut at the plot's edge") {
  // From 0 at x = 0 to 20.2 at x = 10.1, on axes that end at 10 and 10: cut off above x = 5.
  AreaChart chart{.title = "",
                  .x = {.title = "", .unit = "", .from = 0, .to = 10},
                  .y = {.title = "", .unit = "", .from = 0, .to = 10},
                  .at = {0, 10.1},
                  .layers = {{"", {0, 20.2}, {}}, {"", {100, 100}, {}}},
                  .size = {}};
  const std::string text = svg(chart);
  double lowest = 1e9, highest = -1e9, twice = 0;
  const auto corners = corners_of(text);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner a = corners[i], b = corners[(i + 1) % corners.size()];
    lowest = std::min({lowest, a.x, a.y});
    highest = std::max({highest, a.x, a.y});
    twice += a.x * b.y - b.x * a.y;
  }
  CHECK(lowest == Approx(0).margin(1e-3));
  CHECK(highest == Approx(1).margin(1e-3));
  CHECK(std::abs(twice) / 2 == Approx(0.75).margin(1e-3));  // a quarter is above the slope
  chart.layers.insert(chart.layers.begin(), {"", {20, 20}, {}});
  CHECK(nodes_of(svg(chart), "path").size() == 1);  // all others are above the end
}

TEST_CASE("of random lines the part is kept that samples along them find inside") {
  const Box box{10, 20, 40, 30};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> x(-10, 60), y(0, 50);
  for (unsigned i = 0; i < 300; ++i) {
    const Spot from{x(random), y(random)}, to{x(random), y(random)};
    constexpr unsigned kSamples = 20'000;
    double hits = 0;
    for (unsigned s = 0; s < kSamples; ++s) {
      const double share = (s + 0.5) / kSamples;
      hits += inside(box, from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share) ? 1 : 0;
    }
    const auto part = cut_line(box, from, to);
    const double whole = std::hypot(to.x - from.x, to.y - from.y);
    const double kept = part ? std::hypot(part->second.x - part->first.x, part->second.y - part->first.y) : 0;
    REQUIRE(kept / whole == Approx(hits / kSamples).margin(2e-4));
    if (part)  // in the same direction
      REQUIRE((part->second.x - part->first.x) * (to.x - from.x) >= 0);
  }
}

}  // namespace lockstep::plot
