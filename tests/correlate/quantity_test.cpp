// Numbers and units of profilers: written by the test in every way that is allowed, and what is not a number.
#include "correlate/quantity.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>

namespace lockstep::correlate {
namespace {

/// "1,234,567": the digits in groups of three from the right.
std::string in_groups(std::string digits) {
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace

TEST_CASE("quantities: whole numbers and decimals are read with and without groups of three digits") {
  std::mt19937_64 random(29);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t whole = random() >> (11 + random() % 53);  // at most 53 bits: exact
    const std::string digits = std::to_string(whole), sign = random() % 2 ? "-" : "";
    const double expected = sign.empty() ? static_cast<double>(whole) : -static_cast<double>(whole);
    INFO(digits);
    REQUIRE(parse_number(sign + digits) == expected);
    REQUIRE(parse_number(sign + in_groups(digits)) == expected);
    REQUIRE(parse_number(" \t" + sign + in_groups(digits) + " ") == expected);
    REQUIRE(parse_number(sign + in_groups(digits) + ".") == expected);
    const std::string decimals = "." + std::to_string(random() % 1'000'000);
    REQUIRE(parse_number(in_groups(digits) + decimals) == std::stod(digits + decimals));
    REQUIRE(parse_number(in_groups(digits) + decimals + "e-3") == std::stod(digits + decimals + "e-3"));
  }
}

TEST_CASE("quantities: one digit group that is not of three makes it no number") {
  std::mt19937 random(31);
  for (int i = 0; i < 500; ++i) {
    std::string text = in_groups(std::to_string(1'000'000 + random() % 1'000'000'000));
    const std::size_t comma = text.rfind(',');
    text.insert(comma + random() % 4 + (random() % 2 ? 1 : 0), 1, '7');
    const std::size_t first = text.find(',');
    const bool fits = (text.size() - first) % 4 == 0 && text.size() - text.rfind(',') == 4 && first <= 3;
    INFO(text);
    REQUIRE(parse_number(text).has_value() == fits);
  }
}

TEST_CASE("quantities: what is no finite number is none") {
  for (const char* text :
       {"",     " ",      "-",        ".",    "e5",  "1e",   "1.2.3",  "1,23",    ",123",
        "123,", "1,,234", "1234,567", "0x10", "inf", "-inf", "nan",    "1e999",   "-1e999",
        "1 2",  "12%",    "1_000",    "--1",  "+1",  "N/A",  "1,234e", "1.000,5", "(!) nan"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text).has_value());
  }
}

TEST_CASE("quantities: prefixes of counted things are powers of a thousand, in every spelling") {
  const std::pair<const char*, double> prefixes[] = {{"", 1},    {"K", 1e3}, {"k", 1e3},
                                                     {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
  for (const auto& [prefix, factor] : prefixes)
    for (const char* thing :
         {"byte", "bytes", "B", "Hz", "hz", "sector", "inst", "cycle", "cycles", "warp"}) {
      INFO(prefix << thing);
      CHECK(unit_factor(std::string(prefix) + thing) == factor);
      CHECK(unit_factor(" " + (prefix + std::string(thing)) + "\t") == factor);
    }
}

TEST_CASE("quantities: times are nanoseconds, and words that are not known count by themselves") {
  const std::pair<const char*, double> times[] = {
      {"ns", 1},          {"us", 1e3},          {"ms", 1e6},
      {"s", 1e9},         {"nsecond", 1},       {"usecond", 1e3},
      {"msecond", 1e6},   {"second", 1e9},      {"milliseconds", 1e6},
      {"\xc2\xb5s", 1e3}, {"microsecond", 1e3}, {"seconds", 1e9}};
  for (const auto& [unit, factor] : times) CHECK(unit_factor(unit) == factor);
  for (const char* unit : {"", "%", "register/thread", "block", "Kthing", "Mapples", "KB/s", "request"})
    CHECK(unit_factor(unit) == 1);
}

}  // namespace lockstep::correlate
