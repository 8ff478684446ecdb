#include "plot/chart.hpp"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "plot/canvas.hpp"

namespace lockstep::plot {
namespace {

using Tree = boost::property_tree::ptree;

/// The elements of a chart, read back by a reader of XML that is not ours. Throws on text that is no XML.
Tree parsed(const std::string& svg) {
  std::istringstream in(svg);
  Tree tree;
  boost::property_tree::read_xml(in, tree);
  return tree.get_child("svg");
}

std::vector<Tree> elements(const Tree& svg, const std::string& tag) {
  std::vector<Tree> found;
  for (const auto& [name, child] : svg)
    if (name == tag) found.push_back(child);
  return found;
}

std::vector<std::string> texts(const Tree& svg) {
  std::vector<std::string> found;
  for (const Tree& t : elements(svg, "text")) found.push_back(t.data());
  return found;
}

bool has_text(const Tree& svg, const std::string& text) {
  const auto all = texts(svg);
  return std::find(all.begin(), all.end(), text) != all.end();
}

double attribute(const Tree& element, const std::string& name) {
  return element.get<double>("<xmlattr>." + name);
}

Chart points_chart(std::vector<Point> points) {
  return {.title = "t",
          .x = {.title = "x", .unit = "cycles", .from = 0, .to = 10},
          .y = {.title = "y", .unit = "", .from = 0, .to = 100},
          .series = {{.name = "s", .points = std::move(points), .mark = Mark::kPoints, .colour = {}}},
          .size = {}};
}

/// Where the grid has the tick `label`: on x under the plot, on y to the left of it.
double position_of(const Tree& svg, const std::string& label, const std::string& coordinate) {
  for (const Tree& t : elements(svg, "text"))
    if (t.data() == label) return attribute(t, coordinate);
  throw std::runtime_error("no tick " + label);
}

}  // namespace

TEST_CASE("a point stands where the axes say") {
  const Tree svg = parsed(lockstep::plot::svg(points_chart({{5, 25, "p"}})));
  const auto circles = elements(svg, "circle");
  REQUIRE(circles.size() == 1);
  const double x4 = position_of(svg, "4", "x"), x6 = position_of(svg, "6", "x");
  CHECK(attribute(circles[0], "cx") == Approx((x4 + x6) / 2).margin(0.02));
  const double y20 = position_of(svg, "20", "y"), y40 = position_of(svg, "40", "y");
  CHECK(attribute(circles[0], "cy") ==
        Approx(y20 + (y40 - y20) / 4 - 4).margin(0.02));  // labels stand 4 lower
  CHECK(circles[0].get<std::string>("title") == "p: 5 cycles, 25");
}

TEST_CASE("a point on logarithmic axes stands where its logarithm does") {
  Chart chart = points_chart({{100, 1000, ""}});
  chart.x = {.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = 1, .to = 1e4};
  chart.y = {.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = 1, .to = 1e6};
  const Tree svg = parsed(lockstep::plot::svg(chart));
  const Tree circle = elements(svg, "circle").at(0);
  CHECK(attribute(circle, "cx") ==
        Approx((position_of(svg, "1", "x") + position_of(svg, "10k", "x")) / 2).margin(0.02));
}

TEST_CASE("values that cannot be shown are left out and counted") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Chart chart = points_chart({{1, 1, ""}, {nan, 2, ""}, {2, infinity, ""}, {0, 5, ""}, {-3, 5, ""}});
  chart.x.scale = Scale::kLogarithmic;
  const Tree svg = parsed(lockstep::plot::svg(chart));
  CHECK(elements(svg, "circle").size() == 1);
  CHECK(has_text(svg, "4 values cannot be shown on these axes"));
}

TEST_CASE("a line has a gap where a value cannot be shown") {
  Chart chart = points_chart({{1, 1, ""}, {2, 2, ""}, {3, std::nan(""), ""}, {4, 4, ""}, {5, 5, ""}});
  chart.series[0].mark = Mark::kLine;
  const Tree svg = parsed(lockstep::plot::svg(chart));
  const std::string data = elements(svg, "path").at(0).get<std::string>("<xmlattr>.d");
  CHECK(std::count(data.begin(), data.end(), 'M') == 2);
  CHECK(std::count(data.begin(), data.end(), 'L') == 2);
}

TEST_CASE("charts without data say so and stay well formed") {
  const std::vector<std::string> charts = {svg(Chart{}),
                                           svg(AreaChart{}),
                                           svg(BarChart{}),
                                           svg(HeatMap{}),
                                           svg(ParetoChart{}),
                                           svg(BarChart{.title = "",
                                                        .category_title = "",
                                                        .value = {},
                                                        .categories = {},
                                                        .series = {},
                                                        .direction = BarChart::Direction::kSideways,
                                                        .size = {}})};
  for (const std::string& chart : charts) {
    const Tree tree = parsed(chart);
    CHECK(has_text(tree, "no data"));
  }
}

TEST_CASE("labels are escaped, and what is no text of XML is replaced") {
  const std::string hostile = "<script>&\"'</script>";
  const Chart chart = points_chart({{1, 1, hostile}});
  const Tree svg = parsed(lockstep::plot::svg(chart));
  CHECK(elements(svg, "circle").at(0).get<std::string>("title") == hostile + ": 1 cycles, 1");
  CHECK(lockstep::plot::svg(chart).find("<script") == std::string::npos);
  CHECK(escaped("a\x01"
                "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(escaped("\xC3\xA9") == "\xC3\xA9");
  CHECK(escaped("\xC3") == "\xEF\xBF\xBD");
  CHECK(escaped("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  CHECK(escaped("\xEF\xBF\xBF") ==
        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // U+FFFF is not a character of XML
}

TEST_CASE("any bytes as labels give XML") {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> byte(0, 255), length(0, 40);
  for (int i = 0; i < 300; ++i) {
    std::string text(static_cast<std::size_t>(length(random)), ' ');
    for (char& c : text) c = static_cast<char>(byte(random));
    Chart chart = points_chart({{1, 1, text}});
    chart.title = chart.x.title = chart.series[0].name = text;
    chart.label_points = true;
    CHECK_NOTHROW(parsed(svg(chart)));
    CHECK_NOTHROW(parsed(svg(HeatMap{.title = text,
                                     .x_title = text,
                                     .y_title = text,
                                     .columns = {text},
                                     .rows = {text},
                                     .values = {1},
                                     .value_title = text,
                                     .unit = text,
                                     .size = {}})));
  }
}

TEST_CASE("stacked bars stand on each other, grouped ones beside each other") {
  BarChart chart{.title = "stalls",
                 .category_title = "kernel",
                 .value = {.title = "share", .unit = "%", .from = {}, .to = 100},
                 .categories = {"a", "b"},
                 .series = {{"one", {10, 20}, {}}, {"two", {30, 0}, {}}},
                 .form = BarChart::Form::kStacked,
                 .size = {}};
  auto bars = [&] {
    std::vector<Tree> found;
    for (const Tree& r : elements(parsed(svg(chart)), "rect"))
      if (r.get_child_optional("title")) found.push_back(r);
    return found;
  };
  const auto stacked = bars();
  REQUIRE(stacked.size() == 3);  // nothing for 0
  CHECK(attribute(stacked[1], "height") == Approx(3 * attribute(stacked[0], "height")).margin(0.05));
  CHECK(attribute(stacked[1], "y") + attribute(stacked[1], "height") ==
        Approx(attribute(stacked[0], "y")).margin(0.02));
  CHECK(attribute(stacked[2], "height") == Approx(2 * attribute(stacked[0], "height")).margin(0.05));
  CHECK(stacked[1].get<std::string>("title") == "a, two: 30 %");
  chart.form = BarChart::Form::kGrouped;
  const auto grouped = bars();
  CHECK(attribute(grouped[1], "x") ==
        Approx(attribute(grouped[0], "x") + attribute(grouped[0], "width")).margin(0.02));
  CHECK(attribute(grouped[0], "y") + attribute(grouped[0], "height") ==
        Approx(attribute(grouped[1], "y") + attribute(grouped[1], "height")).margin(0.02));
  chart.direction = BarChart::Direction::kSideways;
  const auto sideways = bars();
  CHECK(attribute(sideways[1], "width") == Approx(3 * attribute(sideways[0], "width")).margin(0.05));
}

TEST_CASE("areas end at the sum of their layers") {
  const AreaChart chart{.title = "",
                        .x = {},
                        .y = {.title = "", .unit = "", .from = {}, .to = 10},
                        .at = {0, 1, 2},
                        .layers = {{"a", {1, 2, 3}, {}}, {"b", {4, 4, -1}, {}}},
                        .size = {}};
  const Tree svg = parsed(lockstep::plot::svg(chart));
  const auto paths = elements(svg, "path");
  REQUIRE(paths.size() == 2);
  double x = 0, y = 0;
  REQUIRE(std::sscanf(paths[1].get<std::string>("<xmlattr>.d").c_str(), "M%lf %lf", &x, &y) == 2);
  const double y4 = position_of(svg, "4", "y") - 4, y6 = position_of(svg, "6", "y") - 4;
  CHECK(y == Approx((y4 + y6) / 2).margin(0.02));  // 1 + 4
}

TEST_CASE("a bar without a value is not drawn; one below the axis is counted") {
  const double nan = std::nan("");
  for (const auto direction : {BarChart::Direction::kUpright, BarChart::Direction::kSideways}) {
    BarChart chart{.title = "",
                   .category_title = "",
                   .value = {},
                   .categories = {"a", "b", "c"},
                   .series = {{"one", {1, nan, -2}, {}}, {"two", {nan, nan, -1}, {}}},
                   .direction = direction,
                   .size = {}};
    Tree svg = parsed(lockstep::plot::svg(chart));
    CHECK(std::ranges::count_if(elements(svg, "rect"), [](const Tree& r) {
            return r.get_child_optional("title").has_value();
          }) == 1);
    CHECK(has_text(svg, "2 values cannot be shown on these axes"));
    CHECK_FALSE(has_text(svg, "no data"));
    chart.series = {{"one", {nan, nan, nan}, {}}};
    CHECK(has_text(parsed(lockstep::plot::svg(chart)), "no data"));
    chart.series = {{"one", {0, nan, nan}, {}}};
    svg = parsed(lockstep::plot::svg(chart));
    CHECK_FALSE(has_text(svg, "no data"));
    CHECK_FALSE(has_text(svg, "1 value cannot be shown on these axes"));
  }
}

TEST_CASE("areas of which no value is known say so") {
  AreaChart chart{.title = "",
                  .x = {},
                  .y = {},
                  .at = {0, 1},
                  .layers = {{"a", {std::nan(""), std::nan("")}, {}}},
                  .size = {}};
  CHECK(has_text(parsed(svg(chart)), "no data"));
  chart.layers[0].values[1] = 0;
  CHECK_FALSE(has_text(parsed(svg(chart)), "no data"));
}

TEST_CASE("a heat map's depth follows the value, and absent values are absent") {
  const HeatMap map{.title = "",
                    .x_title = "",
                    .y_title = "",
                    .columns = {"c0", "c1"},
                    .rows = {"r0", "r1"},
                    .values = {0, 5, 10, std::nan("")},
                    .value_title = "",
                    .unit = "",
                    .size = {}};
  std::vector<double> depth;
  for (const Tree& r : elements(parsed(svg(map)), "rect"))
    if (r.get_child_optional("title")) depth.push_back(r.get("<xmlattr>.fill-opacity", 1.0));
  REQUIRE(depth.size() == 3);
  CHECK(depth[0] < depth[1]);
  CHECK(depth[1] == Approx((depth[0] + depth[2]) / 2).margin(0.01));
  CHECK(depth[2] == 1);
}

TEST_CASE("the front is what no other point beats") {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> value(0, 12);
  for (const Better bx : {Better::kLower, Better::kHigher}) {
    for (const Better by : {Better::kLower, Better::kHigher}) {
      for (int round = 0; round < 100; ++round) {
        std::vector<Point> points(20);
        for (Point& p : points) p = {double(value(random)), double(value(random)), ""};
        points[3].x = std::nan("");
        const auto at_least = [](double a, double b, Better better) {
          return better == Better::kLower ? a <= b : a >= b;
        };
        std::vector<std::size_t> expected;
        for (std::size_t i = 0; i < points.size(); ++i) {
          bool beaten = i == 3;
          for (std::size_t j = 0; j < points.size(); ++j)
            beaten |= j != 3 && at_least(points[j].x, points[i].x, bx) &&
                      at_least(points[j].y, points[i].y, by) &&
                      (points[j].x != points[i].x || points[j].y != points[i].y);
          if (!beaten) expected.push_back(i);
        }
        auto front = pareto_front(points, bx, by);
        for (std::size_t i = 1; i < front.size(); ++i) CHECK(points[front[i - 1]].x <= points[front[i]].x);
        std::sort(front.begin(), front.end());
        CHECK(front == expected);
      }
    }
  }
}

TEST_CASE("a Pareto chart has every point and a line along the front") {
  const ParetoChart chart{
      .title = "", .x = {}, .y = {}, .points = {{1, 1, ""}, {2, 3, ""}, {3, 2, ""}, {4, 4, ""}}, .size = {}};
  const Tree svg = parsed(lockstep::plot::svg(chart));
  CHECK(elements(svg, "circle").size() == 4);
  const std::string data = elements(svg, "path").at(0).get<std::string>("<xmlattr>.d");
  CHECK(std::count(data.begin(), data.end(), 'L') == 2);  // through three points
}

TEST_CASE("a chart for a page leaves the colours to the page") {
  const Chart chart = points_chart({{1, 1, ""}});
  CHECK(svg(chart, Place::kFile).find("<style>") != std::string::npos);
  CHECK(svg(chart, Place::kPage).find("<style>") == std::string::npos);
}

TEST_CASE("readers of SVG that know no variables have colours too") {
  std::istringstream lines(style_sheet());
  unsigned rules = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t variable = line.find(": var(--");
    if (variable == std::string::npos) continue;
    ++rules;
    INFO(line);
    CHECK(line.find(": #") < variable);  // the later declaration wins where it is understood
  }
  CHECK(rules == 7 + 2 * kPaletteSize);
}

TEST_CASE("colours can be told from their paper, in light and in dark") {
  // WCAG 2.1's contrast ratio, from its definition of relative luminance.
  const auto luminance = [](const std::string& hex) {
    double sum = 0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (unsigned i = 0; i < 3; ++i) {
      const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
      sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  const auto contrast = [&](const std::string& a, const std::string& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
  };
  std::istringstream lines(style_sheet());
  std::string line;
  int themes = 0;
  while (std::getline(lines, line)) {
    const auto value = [&](const std::string& name) {
      return line.substr(line.find(name + ": #") + name.size() + 2, 7);
    };
    if (line.find("--paper: #") == std::string::npos) continue;
    ++themes;
    CHECK(contrast(value("--ink"), value("--paper")) >= 7);
    CHECK(contrast(value("--faint"), value("--paper")) >= 4.5);
    for (unsigned i = 0; i < kPaletteSize; ++i) {
      INFO("colour " << i);
      CHECK(contrast(value("--p" + std::to_string(i)), value("--paper")) >= 2.5);
    }
  }
  CHECK(themes == 2);
}

}  // namespace lockstep::plot
