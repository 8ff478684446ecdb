// Numbers with units, by moving the decimal point in the text, and texts that are safe to print.
#include "config/value.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "config/config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

/// What stands for the number with its point `places` further right; "" if digits are left behind it.
std::string moved_point(std::string text, std::size_t places) {
  std::size_t point = text.find('.');
  if (point == std::string::npos)
    point = text.size();
  else
    text.erase(point, 1);
  while (text.size() < point + places) text += '0';
  if (text.find_first_not_of('0', point + places) != std::string::npos) return "";
  text.resize(point + places);
  const std::size_t first = text.find_first_not_of('0');
  return first == std::string::npos ? "0" : text.substr(first);
}

constexpr std::pair<const char*, std::size_t> kDecimalUnits[] = {
    {"B/s", 0}, {"kB/s", 3}, {"MB/s", 6}, {"GB/s", 9}, {"TB/s", 12}};

TEST_CASE("numbers with decimal units are exact, as moving the point of their text") {
  const Parameter& p = *find("host.bytes_per_second").parameter;  // 1,000,000 to 10^13
  std::mt19937 random(1);
  unsigned whole = 0, broken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto digits = 1 + random() % 9; digits > 0; --digits) text += static_cast<char>('0' + random() % 10);
    if (random() % 2) {
      text += '.';
      for (auto digits = 1 + random() % 9; digits > 0; --digits)
        text += static_cast<char>('0' + (random() % 3 ? 0 : random() % 10));
    }
    const auto& [unit, places] = kDecimalUnits[random() % 5];
    const std::string expected = moved_point(text, places);
    const std::string with_unit = text + (random() % 2 ? " " : "") + unit;
    GpuConfig c;
    const std::string error = test::error_of([&] { set_value(p, c, with_unit); });
    CAPTURE(text, unit, error);
    if (expected.empty()) {
      REQUIRE(error.find("is not a whole number of B/s") != std::string::npos);
      ++broken;
    } else if (expected.size() < 7 || expected.size() > 13) {
      REQUIRE((expected == "10000000000000" || error.find("is out of range") != std::string::npos));
    } else {
      REQUIRE(error == "(no error)");
      REQUIRE(value_text(p, c) == expected);
      ++whole;
    }
  }
  CHECK(whole > 2000);
  CHECK(broken > 2000);
}

TEST_CASE("a unit smaller than the stored one must come out whole") {
  const Parameter& ns = *find("launch.latency_ns").parameter;
  GpuConfig c;
  set_value(ns, c, "1500000 ps");
  CHECK(c.launch.latency_ns == 1500);
  set_value(ns, c, "0.5 us");
  CHECK(c.launch.latency_ns == 500);
  CHECK(test::error_of([&] { set_value(ns, c, "1500 ps"); }) ==
        "launch.latency_ns = 1500 ps is not a whole number of ns");
  CHECK(c.launch.latency_ns == 500);  // as before
}

TEST_CASE("numbers that are none: points without digits, signs, exponents, two points, too many digits") {
  const Parameter& p = *find("l1.mshrs").parameter;
  for (const char* text :
       {".5", "5.", "1.2.3", "0x10", "1e2", "1,000", "--1", "", " ", "1 2", "1234567890123456789"}) {
    CAPTURE(text);
    CHECK(test::error_of([&] { (void)number_of(p, text); }) != "(no error)");
  }
  CHECK(number_of(p, "  00064\t") == 64);
  CHECK(number_of(p, "64.000") == 64);
}

TEST_CASE("an alias gives the unit of a number that has none, and of no other") {
  const auto mhz = find("core.clock_mhz");
  GpuConfig c;
  set_value(*mhz.parameter, c, "1500", mhz.scale);
  CHECK(c.clock.core_khz == 1'500'000);
  set_value(*mhz.parameter, c, "1500000 kHz", mhz.scale);
  CHECK(c.clock.core_khz == 1'500'000);
  set_value(*mhz.parameter, c, "1500000");
  CHECK(c.clock.core_khz == 1'500'000);
}

TEST_CASE("canonical values with their units read back") {
  const GpuConfig model = resolve("h100_sxm");
  for (const Parameter& p : schema()) {
    CAPTURE(p.key);
    GpuConfig c;
    set_value(p, c, value_with_unit(p, model));
    CHECK(same_value(p, c, model));
    CHECK(value_text(p, c) == value_text(p, model));
  }
}

TEST_CASE("texts in messages are printable and short") {
  CHECK(printable("l1.ways = 4") == "l1.ways = 4");
  CHECK(printable(std::string_view("a\0\x1f\x7f~\n", 6)) == "a\\x00\\x1f\\x7f~\\x0a");
  CHECK(printable("\xc3\xa9") == "\\xc3\\xa9");
  CHECK(printable(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(printable(std::string(61, 'x')) == std::string(60, 'x') + "...");
}

TEST_CASE("splitting gives every part, empty ones too, without blanks") {
  using Parts = std::vector<std::string_view>;
  CHECK(split("a, b ,c", ',') == Parts{"a", "b", "c"});
  CHECK(split("", ',') == Parts{""});
  CHECK(split(",", ',') == Parts{"", ""});
  CHECK(split(" a b \t", ',') == Parts{"a b"});
  CHECK(trimmed(" \t\r a\r\n") == "a\r\n");  // a line feed is no blank: lines are cut there
}

TEST_CASE("names are found by their whole spelling, else all are listed") {
  constexpr std::string_view kNames[] = {"one", "two", "twofold"};
  CHECK(index_of(kNames, "two") == 1);
  CHECK(index_of(kNames, "twofold") == 2);
  CHECK(test::error_of([&] { (void)index_of(kNames, "tw"); }) ==
        "found 'tw', expected one of one, two, twofold");
}

}  // namespace
}  // namespace lockstep::config
