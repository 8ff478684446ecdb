// Text, coordinates and the frame that all charts share.
#include "plot/canvas.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace lockstep::plot {
namespace {

const std::string kUnknown = "\xEF\xBF\xBD";  // U+FFFD

/// RFC 3629, section 3.
std::string utf8(std::uint32_t code) {
  const auto byte = [](std::uint32_t v) { return static_cast<char>(v); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  const std::string tail{byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
  if (code < 0x10000) return byte(0xe0 | code >> 12) + tail;
  return std::string{byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f))} + tail;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("escaped text: every character that XML 1.0 allows stays, the first and last of each length too") {
  std::mt19937 random(1);
  std::vector<std::uint32_t> codes{0x80,   0x7ff,   0x800,   0xfff,   0x1000,  0xcfff,   0xd7ff,  0xe000,
                                   0xfffd, 0x10000, 0x3ffff, 0x40000, 0xfffff, 0x100000, 0x10ffff};
  for (int i = 0; i < 2000; ++i)
    codes.push_back(static_cast<std::uint32_t>(0x80 + random() % (0xd800 - 0x80)));
  for (int i = 0; i < 2000; ++i) codes.push_back(static_cast<std::uint32_t>(0x10000 + random() % 0x100000));
  for (const std::uint32_t code : codes) {
    CAPTURE(code);
    REQUIRE(escaped("a" + utf8(code) + "b") == "a" + utf8(code) + "b");
  }
}

TEST_CASE("escaped text: ASCII stays but for markup and control characters") {
  for (int c = 0; c < 0x80; ++c) {
    const std::string text(1, static_cast<char>(c));
    const std::string expected = c < 0x20 || c == 0x7f ? kUnknown
                                 : c == '&'            ? "&amp;"
                                 : c == '<'            ? "&lt;"
                                 : c == '>'            ? "&gt;"
                                 : c == '"'            ? "&quot;"
                                                       : text;
    CHECK(escaped(text) == expected);
  }
}

TEST_CASE("escaped text: what is no UTF-8 is replaced byte by byte, and what follows it stays") {
  const std::string bad[] = {"\x80",
                             "\xbf",
                             "\xc0\x80",
                             "\xc1\xbf",  // overlong, or no beginning
                             "\xe0\x80\x80",
                             "\xe0\x9f\xbf",
                             "\xf0\x80\x80\x80",
                             "\xf0\x8f\xbf\xbf",
                             "\xed\xa0\x80",
                             "\xed\xbf\xbf",  // surrogates
                             "\xef\xbf\xbe",
                             "\xef\xbf\xbf",  // no characters of XML
                             "\xf4\x90\x80\x80",
                             "\xf5\x80\x80\x80",
                             "\xff",
                             "\xfe",  // beyond U+10FFFF
                             "\xc3",
                             "\xe2\x82",
                             "\xf0\x9f\x98"};  // cut off
  for (const std::string& bytes : bad) {
    const std::string text = escaped(bytes + "a\xc3\xa9");
    CHECK(text.ends_with("a\xc3\xa9"));
    CHECK(count_of(text, kUnknown) == bytes.size());
    CHECK(text.size() == bytes.size() * kUnknown.size() + 3);
  }
}

TEST_CASE("coordinates: at most two decimals, nearest, without zeros at the end") {
  CHECK(coordinate(0) == "0");
  CHECK(coordinate(-0.001) == "0");
  CHECK(coordinate(100) == "100");
  CHECK(coordinate(2.5) == "2.5");
  CHECK(coordinate(-2.256) == "-2.26");
  CHECK(coordinate(std::nan("")) == "0");
  CHECK(coordinate(-std::numeric_limits<double>::infinity()) == "0");
  std::mt19937 random(2);
  std::uniform_real_distribution<double> value(-2000, 2000);
  for (int i = 0; i < 1000; ++i) {
    const double v = value(random);
    const std::string text = coordinate(v);
    REQUIRE(std::abs(std::strtod(text.c_str(), nullptr) - v) <= 0.005 + 1e-9);
    REQUIRE((text.find('.') == text.npos || (text.back() != '0' && text.size() - text.find('.') <= 3)));
  }
}

TEST_CASE("a fitted text is a beginning of whole characters and an ellipsis, where it does not fit") {
  CHECK(text_width("\xc3\xa9\xe2\x82\xac", 10) == text_width("ab", 10));  // two characters
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto n = random() % 30; n > 0; --n) text += random() % 3 ? std::string("m") : utf8(0x20ac);
    const auto width = static_cast<double>(random() % 200);
    const std::string cut = fitted(text, width, 12);
    CAPTURE(text, width, cut);
    if (text_width(text, 12) <= width) {
      REQUIRE(cut == text);
      continue;
    }
    REQUIRE(cut.ends_with("\xe2\x80\xa6"));
    const std::string kept = cut.substr(0, cut.size() - 3);
    REQUIRE(text.starts_with(kept));
    REQUIRE(count_of(escaped(kept), kUnknown) == 0);  // no character is cut in two
    REQUIRE((kept.empty() || text_width(cut, 12) <= width + 12));
  }
}

TEST_CASE("positions on an axis: ends, middle, outside, and of a finite size however far outside") {
  CHECK(share_of(Scale::kLinear, {10, 20}, 10) == 0);
  CHECK(share_of(Scale::kLinear, {10, 20}, 20) == 1);
  CHECK(share_of(Scale::kLinear, {-10, 30}, 0) == Approx(0.25));
  CHECK(share_of(Scale::kLogarithmic, {1, 1e4}, 10) == Approx(0.25));
  CHECK(share_of(Scale::kLogarithmic, {2, 8}, 4) == Approx(0.5));
  CHECK(share_of(Scale::kLinear, {0, 2}, 50) == 25);
  CHECK(share_of(Scale::kLogarithmic, {1, 10}, 1e30) == Approx(30));
  for (const double far : {1e30, -1e30, 1e308})
    CHECK(std::abs(share_of(Scale::kLinear, {-1e-3, 1e-3}, far)) < 1e9);
}

TEST_CASE("an axis is named by title and unit, or what there is of them") {
  const auto title_of = [](const char* title, const char* unit) {
    return axis_title({.title = title, .unit = unit, .from = {}, .to = {}});
  };
  CHECK(title_of("time", "us") == "time [us]");
  CHECK(title_of("time", "") == "time");
  CHECK(title_of("", "us") == "us");
  CHECK(title_of("", "").empty());
}

TEST_CASE("a legend leaves out what has no name and goes on in the next line where it is full") {
  const auto drawn = [](const std::vector<LegendEntry>& entries, double& below) {
    Canvas canvas("", {200, 100}, Place::kPage);
    below = draw_legend(canvas, entries, 30);
    return std::move(canvas).finish();
  };
  double below = 0;
  CHECK(count_of(drawn({{"", 0}, {"", 1}}, below), "<rect") == 0);
  CHECK(below == 30);
  const std::string one = drawn({{"a", 3}, {"", 4}, {"b", 3 + kPaletteSize}}, below);
  CHECK(count_of(one, "<rect") == 2);
  CHECK(count_of(one, "class=\"f3\"") == 2);  // colours are taken in turn
  const double of_one_line = below;
  const std::string two = drawn({{std::string(12, 'a'), 0}, {std::string(12, 'b'), 0}}, below);
  CHECK(below > of_one_line);
  CHECK(count_of(two, "<rect x=\"8\"") == 2);  // each begins its line
}

TEST_CASE("the plot's box lies within the chart, and has some room in the smallest one") {
  const Box wide = plot_box({720, 360}, 30, 40, true, true),
            narrow = plot_box({720, 360}, 30, 40, false, false);
  CHECK(wide.left > narrow.left);      // room for the title of y
  CHECK(wide.bottom < narrow.bottom);  // and of x
  CHECK(wide.right < 720);
  CHECK(narrow.bottom < 360);
  CHECK(wide.left > 40);
  const Box none = plot_box({1, 1}, 100, 100, true, true);
  CHECK(none.width() == 10);
  CHECK(none.height() == 10);
}

}  // namespace lockstep::plot
