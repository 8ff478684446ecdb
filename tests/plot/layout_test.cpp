// Where the parts of a chart stand, and what they say.
#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "plot/chart.hpp"

namespace lockstep::plot {
namespace {

using Xml = boost::property_tree::ptree;

struct Element {
  std::string tag, text, hint;
  Xml attributes;
  [[nodiscard]] double number(const char* name) const { return attributes.get<double>(name); }
  [[nodiscard]] std::string word(const char* name) const { return attributes.get<std::string>(name, ""); }
};

std::vector<Element> drawn(const std::string& svg, const std::string& tag,
                           const std::string& css_class = "") {
  std::istringstream in(svg);
  Xml tree;
  boost::property_tree::read_xml(in, tree);
  std::vector<Element> found;
  for (const auto& [name, child] : tree.get_child("svg")) {
    if (name != tag) continue;
    Element e{name, child.data(), child.get("title", ""), child.get_child("<xmlattr>", Xml())};
    if (css_class.empty() || e.word("class") == css_class) found.push_back(std::move(e));
  }
  return found;
}

/// Those with a hint: bars and cells, not the key or the legend.
std::vector<Element> hinted(const std::string& svg) {
  std::vector<Element> found = drawn(svg, "rect");
  std::erase_if(found, [](const Element& e) { return e.hint.empty(); });
  return found;
}

Element text_of(const std::string& svg, const std::string& text) {
  for (const Element& e : drawn(svg, "text"))
    if (e.text == text) return e;
  FAIL("no text " << text);
  return {};
}

bool shows(const std::string& svg, const std::string& text) {
  for (const Element& e : drawn(svg, "text"))
    if (e.text == text) return true;
  return false;
}

Chart chart_of(std::vector<Point> points, Mark mark) {
  return {.title = "",
          .x = {.title = "", .unit = "", .from = 0, .to = 10},
          .y = {.title = "", .unit = "", .from = 0, .to = 20},
          .series = {{.name = "", .points = std::move(points), .mark = mark, .colour = {}}},
          .size = {}};
}

HeatMap map_of(std::vector<double> values, std::size_t columns) {
  HeatMap map{.title = "",
              .x_title = "",
              .y_title = "",
              .columns = {},
              .rows = {},
              .values = values,
              .value_title = "",
              .unit = "",
              .size = {}};
  for (std::size_t c = 0; c < columns; ++c) map.columns.push_back("c" + std::to_string(c));
  for (std::size_t r = 0; r < values.size() / columns; ++r) map.rows.push_back("r" + std::to_string(r));
  return map;
}

BarChart bars_of(std::size_t categories, BarChart::Direction direction) {
  BarChart chart{.title = "",
                 .category_title = "",
                 .value = {},
                 .categories = {},
                 .series = {{"", {}, {}}},
                 .direction = direction,
                 .size = {}};
  for (std::size_t c = 0; c < categories; ++c) {
    chart.categories.push_back("k" + std::to_string(c));
    chart.series[0].values.push_back(static_cast<double>(c + 1));
  }
  return chart;
}

}  // namespace

TEST_CASE("lines have a path, points have circles, and line and points have both") {
  struct Row {
    Mark mark;
    std::size_t paths, circles;
  };
  for (const Row& row : {Row{Mark::kLine, 1, 0}, Row{Mark::kPoints, 0, 2}, Row{Mark::kLineAndPoints, 1, 2}}) {
    const std::string text = svg(chart_of({{1, 1, ""}, {2, 2, ""}}, row.mark));
    CHECK(drawn(text, "path").size() == row.paths);
    CHECK(drawn(text, "circle").size() == row.circles);
  }
}

TEST_CASE("series take the palette's colours in turn, or the one that is given") {
  Chart chart = chart_of({{1, 1, ""}}, Mark::kPoints);
  chart.series.resize(kPaletteSize + 2, chart.series[0]);
  chart.series[1].colour = 9;
  const auto circles = drawn(svg(chart), "circle");
  REQUIRE(circles.size() == kPaletteSize + 2);
  CHECK(circles[0].word("class") == "f0");
  CHECK(circles[1].word("class") == "f9");
  CHECK(circles[2].word("class") == "f2");
  CHECK(circles[kPaletteSize + 1].word("class") == "f1");
}

TEST_CASE("a point's hint is its label, or its series' name, and both values with units") {
  Chart chart = chart_of({{1, 2, "p"}, {1500, 2, ""}}, Mark::kPoints);
  chart.x.to = 2000;
  chart.x.unit = "B";
  CHECK(drawn(svg(chart), "circle")[0].hint == "p: 1 B, 2");
  CHECK(drawn(svg(chart), "circle")[1].hint == "1500 B, 2");
  chart.series[0].name = "run";
  chart.y.unit = "s";
  CHECK(drawn(svg(chart), "circle")[1].hint == "run: 1500 B, 2 s");
}

TEST_CASE("labels of points stand right of them, at the right edge left of them") {
  Chart chart = chart_of({{1, 1, "first"}, {9.9, 1, "last"}, {5, 5, ""}}, Mark::kPoints);
  CHECK_FALSE(shows(svg(chart), "first"));
  chart.label_points = true;
  const std::string text = svg(chart);
  const auto circles = drawn(text, "circle");
  CHECK(text_of(text, "first").number("x") > circles[0].number("cx"));
  CHECK(text_of(text, "first").word("text-anchor") == "start");
  CHECK(text_of(text, "last").number("x") < circles[1].number("cx"));
  CHECK(text_of(text, "last").word("text-anchor") == "end");
}

TEST_CASE("the diagonal goes through equal values, and ends where one of the axes does") {
  Chart chart = chart_of({{5, 5, ""}, {10, 10, ""}}, Mark::kPoints);
  CHECK(drawn(svg(chart), "line", "diagonal").empty());
  chart.diagonal = true;
  const std::string text = svg(chart);
  const auto circles = drawn(text, "circle");
  const Element line = drawn(text, "line", "diagonal").at(0);  // from 0 to 10, as x ends there
  CHECK(line.number("x2") == Approx(circles[1].number("cx")).margin(0.02));
  CHECK(line.number("y2") == Approx(circles[1].number("cy")).margin(0.02));
  CHECK(line.number("x1") == Approx(2 * circles[0].number("cx") - circles[1].number("cx")).margin(0.03));
  CHECK(line.number("y1") == Approx(2 * circles[0].number("cy") - circles[1].number("cy")).margin(0.03));
  chart.y.from = 15;  // no value is on both axes
  CHECK(drawn(svg(chart), "line", "diagonal").empty());
}

TEST_CASE("a map's depth is linear, or follows the logarithm; values without one are counted") {
  HeatMap map = map_of({1, 100, 10'000, 0, -1, std::nan("")}, 3);
  map.scale = Scale::kLogarithmic;
  const std::string text = svg(map);
  const auto cells = hinted(text);
  REQUIRE(cells.size() == 3);
  const auto depth = [&](std::size_t i) { return cells[i].attributes.get("fill-opacity", 1.0); };
  CHECK(depth(1) == Approx((depth(0) + depth(2)) / 2).margin(0.01));
  CHECK(depth(0) > 0);
  CHECK(depth(2) == 1);
  CHECK(shows(text, "2 values cannot be shown on these axes"));
  CHECK(cells[1].hint == "r0, c1: 100");
  map.scale = Scale::kLinear;
  CHECK(hinted(svg(map)).size() == 5);
  CHECK(hinted(svg(map_of({7, 7}, 2)))[0].attributes.get("fill-opacity", 1.0) == 1);  // equal: full depth
}

TEST_CASE("a map's values stand in cells that have room, in the paper's colour where these are dark") {
  HeatMap map = map_of({0, 5, 10}, 3);
  CHECK(text_of(svg(map), "5").word("class") == "ink");
  CHECK(drawn(svg(map), "text", "on").size() == 1);  // of 0, 0.5 and 1 only the last is above 0.6
  map.show_values = false;
  CHECK_FALSE(shows(svg(map), "5"));
  CHECK(shows(svg(map), "10"));  // the key's end
  HeatMap narrow = map_of(std::vector<double>(40, 5), 40);
  narrow.values[0] = 1;
  narrow.values[1] = 9;
  CHECK_FALSE(shows(svg(narrow), "5"));
}

TEST_CASE("a map's key names lowest and highest value and what they are") {
  HeatMap map = map_of({1, 1500, std::nan("")}, 3);
  map.show_values = false;
  map.value_title = "time";
  map.unit = "us";
  CHECK(shows(svg(map), "time [us]"));
  CHECK(text_of(svg(map), "1").number("x") < text_of(svg(map), "1500").number("x"));
  map.unit.clear();
  CHECK(shows(svg(map), "time"));
  CHECK_FALSE(shows(svg(map_of({std::nan("")}, 1)), "time"));
}

TEST_CASE("narrow categories are named by every second, third and so on, from the first") {
  const std::string few = svg(bars_of(5, BarChart::Direction::kUpright));
  for (const char* name : {"k0", "k1", "k2", "k3", "k4"}) CHECK(shows(few, name));
  const std::string many = svg(bars_of(60, BarChart::Direction::kUpright));
  std::vector<std::size_t> named;
  for (std::size_t c = 0; c < 60; ++c)
    if (shows(many, "k" + std::to_string(c))) named.push_back(c);
  REQUIRE(named.size() > 5);
  REQUIRE(named.size() < 20);
  for (std::size_t i = 0; i < named.size(); ++i) CHECK(named[i] == i * named[1]);
  CHECK(hinted(many).size() == 60);
}

TEST_CASE("sideways bars: the chart is as high as its bars need, and all are of one height") {
  const auto height = [](const BarChart& chart) {
    return drawn(svg(chart), "rect", "paper").at(0).number("height");
  };
  BarChart chart = bars_of(3, BarChart::Direction::kSideways);
  const double three = height(chart), four = height(bars_of(4, BarChart::Direction::kSideways));
  CHECK(height(bars_of(13, BarChart::Direction::kSideways)) == three + 10 * (four - three));
  const auto bars = hinted(svg(chart));
  CHECK(bars[1].number("y") - bars[0].number("y") == Approx(four - three));
  CHECK(bars[2].number("y") + bars[2].number("height") < three);
  for (const Element& bar : bars) CHECK(bar.number("height") == bars[0].number("height"));
  chart.series.push_back(chart.series[0]);
  CHECK(height(chart) == three + 3 * bars[0].number("height"));  // beside each other
  chart.form = BarChart::Form::kStacked;
  CHECK(height(chart) == three);
}

TEST_CASE("a bar's hint names category, series, value and unit, as far as there are such") {
  BarChart chart = bars_of(1, BarChart::Direction::kUpright);
  CHECK(hinted(svg(chart))[0].hint == "k0: 1");
  chart.series[0].name = "A";
  chart.value.unit = "ns";
  CHECK(hinted(svg(chart))[0].hint == "k0, A: 1 ns");
}

TEST_CASE("an area begins where the one below ends, and values that are missing count as nothing") {
  const AreaChart chart{.title = "",
                        .x = {},
                        .y = {},
                        .at = {0, 10, 30},
                        .layers = {{"a", {1, std::nan(""), 3}, {}}, {"b", {2}, {}}},
                        .size = {}};
  std::vector<std::vector<std::pair<double, double>>> outlines;
  for (const Element& path : drawn(svg(chart), "path")) {
    std::string data = path.word("d");
    std::replace_if(
        data.begin(), data.end(), [](char c) { return c == 'M' || c == 'L' || c == 'Z'; }, ' ');
    std::istringstream in(data);
    outlines.emplace_back();
    for (double x, y; in >> x >> y;) outlines.back().emplace_back(x, y);
  }
  REQUIRE(outlines.size() == 2);
  REQUIRE(outlines[0].size() == 6);  // above from left to right, below back
  REQUIRE(outlines[1].size() == 6);
  for (std::size_t i = 0; i < 3; ++i) CHECK(outlines[1][5 - i] == outlines[0][i]);
  const double zero = outlines[0][5].second, unit = zero - outlines[0][0].second;
  CHECK(outlines[0][1].second == zero);  // NaN
  CHECK(zero - outlines[1][0].second == Approx(3 * unit).margin(0.03));
  CHECK(zero - outlines[1][2].second == Approx(3 * unit).margin(0.03));  // `b` has no third value
  CHECK(outlines[0][2].first - outlines[0][1].first ==
        Approx(2 * (outlines[0][1].first - outlines[0][0].first)).margin(0.03));
}

TEST_CASE("the axes of a Pareto chart say which direction is better") {
  ParetoChart chart{.title = "",
                    .x = {.title = "cost", .unit = "$", .from = {}, .to = {}},
                    .y = {},
                    .points = {{1, 1, ""}, {2, 1, ""}},
                    .size = {}};
  CHECK(shows(svg(chart), "cost, lower is better [$]"));
  CHECK(shows(svg(chart), "higher is better"));
  std::swap(chart.x_better, chart.y_better);
  CHECK(shows(svg(chart), "cost, higher is better [$]"));
  CHECK(shows(svg(chart), "other points"));  // the legend
}

TEST_CASE("a chart's title stands in it and in the document, where there is one") {
  Chart chart = chart_of({{1, 1, ""}}, Mark::kPoints);
  CHECK(drawn(svg(chart), "title").at(0).text.empty());
  chart.title = "A & B";
  CHECK(drawn(svg(chart), "title").at(0).text == "A & B");
  CHECK(text_of(svg(chart), "A & B").word("font-weight") == "bold");
  chart.title.assign(500, 'm');
  CHECK(drawn(svg(chart), "title").at(0).text == chart.title);
  CHECK_FALSE(shows(svg(chart), chart.title));  // cut to the chart's width
}

}  // namespace lockstep::plot
