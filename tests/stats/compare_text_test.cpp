// What is shown of a comparison: signs, percentages, limits and letters.
#include "stats/compare_text.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace lockstep::stats {
namespace {

using Catch::Contains;
using Json = nlohmann::ordered_json;
using Row = Comparison::Row;

/// A comparison of as many runs as the row has values, with this one difference.
Comparison comparison_of(Row row) {
  Comparison c;
  for (std::size_t r = 0; r < row.values.size(); ++r)
    c.runs.push_back({letter(r) + ".json", "identity " + letter(r)});
  c.compared = 12'345;
  c.different = 1'000;
  c.parts = {{"kernel 1 _Z1f", "kernel 1 f", "", {std::move(row)}}};
  return c;
}

/// The line of the only row, without runs of blanks.
std::string row_line(std::vector<Json> values) {
  const std::string text = as_text(comparison_of({"cycles", std::move(values)}));
  const std::size_t begin = text.find("  cycles ") + 2;
  std::string line;
  for (const char c : text.substr(begin, text.find('\n', begin) - begin))
    if (c != ' ' || line.back() != ' ') line += c;
  return line;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("compare text: two runs show both values, the signed change and its percentage of the first") {
  CHECK(row_line({2000u, 2500u}) == "cycles 2,000 2,500 +500 (+25.00%)");
  CHECK(row_line({2500u, 2000u}) == "cycles 2,500 2,000 -500 (-20.00%)");
  CHECK(row_line({0u, 3u}) == "cycles 0 3 +3");  // no percentage of zero
  CHECK(row_line({3u, 0u}) == "cycles 3 0 -3 (-100.00%)");
  CHECK(row_line({18446744073709551615u, 0u}) ==
        "cycles 18,446,744,073,709,551,615 0 -18,446,744,073,709,551,615 (-100.00%)");
  CHECK(row_line({0.5, 0.25}) == "cycles 0.5 0.25 -0.25 (-50.00%)");
  CHECK(row_line({-2, 1u}) == "cycles -2 1 +3 (+150.00%)");  // of the size of -2
  CHECK(row_line({1u, nullptr}) == "cycles 1 -");
  CHECK(row_line({"a\n", true}) == "cycles a? true");
  CHECK(row_line({"\xff", Json::array({"\xff"})}) == "cycles ? [\"\\ufffd\"]");
}

TEST_CASE("compare text: of more runs each has its value and percentage, equal ones none") {
  CHECK(row_line({100u, 100u, 150u, nullptr, 99u}) == "cycles 100 100 150 (+50.00%) - 99 (-1.00%)");
  const std::string text = as_text(comparison_of({"cycles", {1u, 2u, 3u}}));
  CHECK_THAT(text,
             Catch::StartsWith("A: A.json: identity A\nB: B.json: identity B\nC: C.json: identity C\n"));
  CHECK_THAT(text, Contains("\nkernel 1 f\n") && !Contains("_Z1f") && !Contains("against"));
  CHECK_THAT(as_text(comparison_of({"cycles", {1u, 2u}})), Contains("  B against A\n"));
}

TEST_CASE("compare text: the last line counts what differs, and by how much it had to") {
  Comparison c = comparison_of({"cycles", {1u, 2u}});
  CHECK_THAT(as_text(c), Catch::EndsWith("\n1,000 of 12,345 values differ\n"));
  c.tolerance = 0.05;
  CHECK_THAT(as_text(c), Catch::EndsWith("\n1,000 of 12,345 values differ by more than 0.05\n"));
  c.lone = {{"A", 1, 1}, {"B, C", 2'000, 30'000}};
  CHECK_THAT(as_text(c),
             Catch::EndsWith("\n1,000 of 12,345 values differ by more than 0.05; only in A: 1 "
                             "section of 1 value, only in B, C: 2,000 sections of 30,000 values\n"));
  c.parts.clear();
  CHECK_THAT(as_text(c), Catch::EndsWith("\nno difference by more than 0.05: 12,345 values compared\n"));
  c.tolerance = 0;
  CHECK_THAT(as_text(c), Catch::EndsWith("\nno difference: 12,345 values compared\n"));
}

TEST_CASE("compare text: 30 sections of 40 values and 20 parameters are shown, the others are counted") {
  const Row row{"value", {1u, 2u}}, parameter{"l1.ways", {"4", "8"}};
  for (const std::size_t more : {0u, 1u, 7u}) {
    Comparison c = comparison_of(row);
    c.parts.front().rows.assign(40 + more, row);
    c.parameters.assign(20 + more, parameter);
    c.parts.resize(30 + more, {"section", "section", "A", {}});
    const std::string text = as_text(c), number = std::to_string(more);
    CHECK(count_of(text, "  value ") == 40);
    CHECK(count_of(text, "  l1.ways ") == 20);
    CHECK(count_of(text, "\nsection: only in A\n") == 29);
    CHECK(count_of(text, "  ... and " + number + " more; --json lists all\n") == (more ? 2 : 0));
    CHECK(count_of(text, "\n... and differences in " + number + " more; --json") == (more ? 1 : 0));
    const Json json = Json::parse(as_json(c));
    CHECK(json["differences"].size() == 40 + more + 29 + more);
    CHECK(json["parameters"].size() == 20 + more);
  }
}

TEST_CASE("compare JSON: numbers keep every digit, text that is not UTF-8 is replaced") {
  Comparison c = comparison_of({"cycles", {18446744073709551615u, nullptr, "\xff"}});
  c.tolerance = 0.25;
  c.lone = {{"B", 2, 30}};
  const Json json = Json::parse(as_json(c));
  CHECK(json["schema"] == 1);
  CHECK(json["lone"] == Json::array({{{"only_in", "B"}, {"sections", 2}, {"values", 30}}}));
  CHECK(json["b"] == "B.json");
  CHECK(json["tolerance"] == 0.25);
  CHECK(json["values"] == 12'345);
  CHECK(json["different"] == 1'000);
  CHECK(json["differences"] == Json::array({{{"where", "kernel 1 _Z1f"},
                                             {"counter", "cycles"},
                                             {"a", 18446744073709551615u},
                                             {"b", nullptr},
                                             {"c", "\xef\xbf\xbd"}}}));
}

}  // namespace lockstep::stats
