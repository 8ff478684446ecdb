// The pieces of the page: what a browser makes of them.
#include "report/html.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <regex>
#include <string>

namespace lockstep::report {
namespace {

/// Text as a browser shows it: the five entities of XML, no tags.
std::string shown(const std::string& html) {
  static const std::map<std::string, char> kEntities{
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
  std::string text;
  for (std::size_t i = 0; i < html.size();) {
    if (html[i] == '<') {
      i = html.find('>', i) + 1;
    } else if (html[i] == '&') {
      const std::size_t end = html.find(';', i);
      text += kEntities.at(html.substr(i, end + 1 - i));
      i = end + 1;
    } else {
      text += html[i++];
    }
  }
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// What Number() of JavaScript makes of it (ECMA-262, StringToNumber): "inf" is not a number there.
double number_in_javascript(const std::string& text) {
  static const std::regex kDecimal("[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?");
  if (text == "Infinity" || text == "+Infinity") return HUGE_VAL;
  if (text == "-Infinity") return -HUGE_VAL;
  return std::regex_match(text, kDecimal) ? std::stod(text) : std::nan("");
}

std::string sort_key_of(double value) {
  const std::string html = table({{"", ""}}, {{Cell{"", value}}});
  const auto start = html.find("data-v=\"") + 8;
  return html.substr(start, html.find('"', start) - start);
}

}  // namespace

TEST_CASE("any text is shown as it is, and opens neither a tag nor an attribute") {
  std::mt19937_64 random(1);
  const std::string characters = "<>&\"'ab;# /=-";
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto n = 1 + random() % 20; n > 0; --n) text += characters[random() % characters.size()];
    REQUIRE(shown(text_cell(text).html) == text);
    REQUIRE(text_cell(text).html.find_first_of("<>\"") == std::string::npos);
    const std::string link = link_cell(text, text).html;
    REQUIRE(shown(link) == text);
    REQUIRE(count(link, "<") == 2);  // <a> and </a>
    REQUIRE(count(link, "\"") == 2);
    REQUIRE(shown(paragraph(text)) == text + "\n");
    REQUIRE(count(heading(2, text, text), "<") == 2);
    REQUIRE(count(heading(2, text, text), "\"") == 2);
    REQUIRE(shown(folded(text, "", false)) == text + "\n\n");
    const std::string one = table({{text, text, true}}, {{text_cell(text)}});
    REQUIRE(count(one, "<") == count(table({{"t", "h", true}}, {{text_cell("c")}}), "<"));
    REQUIRE(count(one, "\"") == count(table({{"t", "h", true}}, {{text_cell("c")}}), "\""));
  }
}

TEST_CASE("numbers are whole and grouped, or have their decimals; never below zero without") {
  CHECK(number_cell(1234567).html == "1,234,567");
  CHECK(number_cell(0.5).html == "1");  // half away from zero
  CHECK(number_cell(0.49).html == "0");
  CHECK(number_cell(-3).html == "0");
  CHECK(number_cell(-3.25, 1).html == "-3.2");  // an exact half: to even
  CHECK(number_cell(2.675, 2).value == 2.675);
  CHECK(number_cell(0x1p63).html == "9,223,372,036,854,775,808");
  CHECK(number_cell(std::nextafter(0x1p64, 0)).html == "18,446,744,073,709,549,568");  // 2^64 - 2^11
  CHECK(number_cell(0x1p64).html == "1.845e+19");
  CHECK(number_cell(1e300).html == "1e+300");
}

TEST_CASE("a share's bar ends at 0 and 100 %, its text does not") {
  CHECK(share_cell(0.5).html.find("width:50.0%") != std::string::npos);
  CHECK(share_cell(1.25).html.find("width:100.0%") != std::string::npos);
  CHECK(shown(share_cell(1.25).html) == "125.0 %");
  CHECK(share_cell(-0.1).html.find("width:0.0%") != std::string::npos);
  CHECK(share_cell(0.3).value == 0.3);
}

TEST_CASE("changes have a sign, and what came from nothing is new and sorted above all else") {
  CHECK(change_cell(100, 150).html == "+50.0 %");
  CHECK(change_cell(100, 50).html == "-50.0 %");
  CHECK(change_cell(100, 50).value == -0.5);
  CHECK(change_cell(7, 7).html == "=");
  CHECK(change_cell(0, 0).html == "=");
  CHECK(change_cell(0, 0).value == 0);
  CHECK(change_cell(0, 1).html == "new");
  CHECK(change_cell(0, 1).value == HUGE_VAL);
  CHECK(change_cell(5, 0).html == "-100.0 %");
}

TEST_CASE("a table's cells carry what they are sorted by, where it is a number") {
  const std::string html =
      table({{"name", "", false}, {"n", "how many", true}}, {{text_cell("a"), number_cell(1500)}}, false);
  CHECK(html.find("<th>name</th><th class=\"n\" title=\"how many\">n</th>") != std::string::npos);
  CHECK(html.find("<td>a</td><td class=\"n\" data-v=\"1500\">1,500</td>") != std::string::npos);
  CHECK(html.find("sortable") == std::string::npos);
  CHECK(table({}, {}).find("class=\"sortable\"") != std::string::npos);
}

TEST_CASE("what a cell is sorted by is the same number in the browser") {
  std::mt19937_64 random(3);
  for (const double value :
       {0.0, -0.5, 1.0 / 3, 1e-300, 1.8e19, 123456789.0, 123456790.0, HUGE_VAL, -HUGE_VAL})
    CHECK(number_in_javascript(sort_key_of(value)) == value);
  for (int i = 0; i < 1000; ++i) {
    const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 150);
    REQUIRE(number_in_javascript(sort_key_of(value)) == value);
  }
}

}  // namespace lockstep::report
