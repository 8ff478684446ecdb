#include "plot/ticks.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

namespace lockstep::plot {
namespace {

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& t : ticks) out.push_back(t.label);
  return out;
}

/// Whether `step` is 1, 2 or 5 times a power of ten: its leading digit in scientific notation, written by
/// printf.
bool round_step(double step) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6e", step);
  const std::string digits(text, 8);
  return digits == "1.000000" || digits == "2.000000" || digits == "5.000000";
}

}  // namespace

TEST_CASE("ticks are round, evenly spaced, within the range, and about as many as wanted") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-6, 9), part(0.01, 1);
  for (int i = 0; i < 2000; ++i) {
    const double size = std::pow(10, exponent(random));
    const Range range{-size * part(random), size * part(random)};
    const auto ticks = ticks_of(Scale::kLinear, range, 6);
    REQUIRE(ticks.size() >= 2);
    REQUIRE(ticks.size() <= 8);
    const double step = ticks[1].value - ticks[0].value;
    CHECK(round_step(step));
    for (std::size_t t = 0; t < ticks.size(); ++t) {
      CHECK(ticks[t].value >= range.from - 1e-6 * step);
      CHECK(ticks[t].value <= range.to + 1e-6 * step);
      CHECK(ticks[t].value == Approx(ticks[0].value + static_cast<double>(t) * step).margin(1e-6 * step));
    }
  }
}

TEST_CASE("a linear range is the data's, widened to whole ticks") {
  Axis axis;
  CHECK(range_of(axis, {3, 97}).from == 0);
  CHECK(range_of(axis, {3, 97}).to == 100);
  CHECK(range_of(axis, {101, 107}).from == 100);
  CHECK(range_of(axis, {101, 107}).to == 108);
  axis.zero = true;
  CHECK(range_of(axis, {101, 107}).from == 0);
  axis.to = 250;
  CHECK(range_of(axis, {101, 107}).to == 250);
}

TEST_CASE("one value and no value have a range, too") {
  const Range one = range_of({}, {5, 5}), none = range_of({}, {1, 0});
  CHECK(one.from <= 5);
  CHECK(one.to > 5);
  CHECK(none.from == 0);
  CHECK(none.to == 1);
  const Axis log{.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = {}, .to = {}};
  CHECK(range_of(log, {5, 5}).from <= 5);
  CHECK(range_of(log, {5, 5}).to > range_of(log, {5, 5}).from);
  CHECK(range_of(log, {1, 0}).to == 10);
}

TEST_CASE("a logarithmic axis has powers of ten, and steps between where there are few") {
  CHECK(labels(ticks_of(Scale::kLogarithmic, {1, 1e4}, 0)) ==
        std::vector<std::string>{"1", "10", "100", "1000", "10k"});
  CHECK(labels(ticks_of(Scale::kLogarithmic, {1, 30}, 0)) ==
        std::vector<std::string>{"1", "2", "5", "10", "20"});
  const Axis log{.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = {}, .to = {}};
  CHECK(range_of(log, {2, 450}).from == Approx(1));
  CHECK(range_of(log, {2, 450}).to == Approx(1000));
  CHECK(range_of(log, {40, 250}).from == Approx(30));
  CHECK(range_of(log, {40, 250}).to == Approx(300));
}

TEST_CASE("numbers are short") {
  CHECK(number(0) == "0");
  CHECK(number(0.25) == "0.25");
  CHECK(number(1234) == "1234");
  CHECK(number(1500000) == "1.5M");
  CHECK(number(999999) == "1M");
  CHECK(number(-2500000000.0) == "-2.5G");
  CHECK(number(3e-6) == "3e-06");
  CHECK(number(std::nan("")) == "-");
}

TEST_CASE("numbers at the borders of prefixes and of scientific notation") {
  const std::pair<double, const char*> rows[] = {
      {9999, "9999"},      {9999.4, "9999"},      {9999.6, "10k"},        {999.9e3, "999.9k"},
      {999'949, "999.9k"}, {999'951, "1M"},       {999.96e6, "1G"},       {999.96e9, "1T"},
      {9999e12, "9999T"},  {9.9996e15, "1e+16"},  {-9.9996e15, "-1e+16"}, {1e16, "1e+16"},
      {1e-4, "0.0001"},    {9.99e-5, "9.99e-05"}, {-0.5, "-0.5"},         {123.456, "123.5"},
      {-999'951, "-1M"},   {HUGE_VAL, "-"},       {-HUGE_VAL, "-"}};
  for (const auto& [value, text] : rows) CHECK(number(value) == text);
}

TEST_CASE("a number's text is within half of its fourth digit, for all sizes with a prefix") {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> exponent(-4, 15.99);
  for (int i = 0; i < 3000; ++i) {
    const double value = std::pow(10, exponent(random)) * (i % 2 ? 1 : -1);
    const std::string text = number(value);
    CAPTURE(value, text);
    char* end = nullptr;
    double read = std::strtod(text.c_str(), &end);
    const auto prefix = std::string("kMGT").find(*end);
    if (*end != '\0') {
      REQUIRE(prefix != std::string::npos);
      read *= std::pow(1000.0, static_cast<double>(prefix + 1));
    }
    REQUIRE(std::abs(read - value) <= 0.5001e-3 * std::abs(value));
  }
}

TEST_CASE("zero is a tick without a sign, and steps of a tenth are written as such") {
  CHECK(labels(ticks_of(Scale::kLinear, {-0.2, 0.2}, 4)) ==
        std::vector<std::string>{"-0.2", "-0.1", "0", "0.1", "0.2"});
  CHECK(labels(ticks_of(Scale::kLinear, {0, 0.3}, 3)) == std::vector<std::string>{"0", "0.1", "0.2", "0.3"});
  CHECK(labels(ticks_of(Scale::kLinear, {0, 10}, 0)) == std::vector<std::string>{"0", "10"});
}

TEST_CASE("a logarithmic axis of many decades has some of them, evenly") {
  for (int decades = 3; decades < 60; ++decades) {
    const auto ticks = ticks_of(Scale::kLogarithmic, {1, std::pow(10, decades)}, 0);
    CAPTURE(decades);
    REQUIRE(ticks.size() >= 4);
    REQUIRE(ticks.size() <= 16);
    CHECK(ticks[0].value == 1);
    const double step = std::log10(ticks[1].value);
    CHECK(step == Approx(std::round(step)));
    for (std::size_t i = 0; i < ticks.size(); ++i)
      CHECK(std::log10(ticks[i].value) == Approx(step * static_cast<double>(i)).margin(1e-9));
  }
}

TEST_CASE("an axis' own ends are kept, and one that ends before it begins is made longer") {
  Axis axis{.title = "", .unit = "", .from = 5, .to = {}};
  CHECK(range_of(axis, {8, 97}).from == 5);
  CHECK(range_of(axis, {8, 97}).to == 100);
  axis.to = 5;
  CHECK(range_of(axis, {8, 97}).to == 6);
  axis = {.title = "", .unit = "", .scale = Scale::kLogarithmic, .from = 2, .to = 300};
  CHECK(range_of(axis, {5, 5000}).from == 2);
  CHECK(range_of(axis, {5, 5000}).to == 300);
  axis.to = 1;
  CHECK(range_of(axis, {5, 5000}).to == 20);
  axis.from = axis.to = -7;  // no logarithm: as if they were not given
  CHECK(range_of(axis, {5, 5000}).from == 3);
  CHECK(range_of(axis, {5, 5000}).to == 10'000);
  axis.from = axis.to = {};
  CHECK(range_of(axis, {-5, 0}).from == 1);
}

}  // namespace lockstep::plot
