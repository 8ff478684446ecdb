#include "stats/text.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

namespace lockstep::stats {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("ratios are exact and rounded half up") {
  CHECK(fixed_ratio(1, 3, 6) == "0.333333");
  CHECK(fixed_ratio(2, 3, 6) == "0.666667");
  CHECK(fixed_ratio(1, 2, 0) == "1");
  CHECK(fixed_ratio(5, 1000, 2) == "0.01");
  CHECK(fixed_ratio(4, 1000, 2) == "0.00");
  CHECK(fixed_ratio(0, 7, 3) == "0.000");
  CHECK(fixed_ratio(7, 0, 3) == "0.000");
  CHECK(fixed_ratio(999999, 1000000, 3) == "1.000");
  CHECK(fixed_ratio(kMax, 1, 6) == "18446744073709551615.000000");
  CHECK(fixed_ratio(kMax, kMax, 6) == "1.000000");
  // 18446744073709551615 * 10^6 / 1312000 in Python's fractions: 14060018348863987511.4329...
  CHECK(fixed_ratio(kMax, 1312000, 3, 1000000) == "14060018348863987511.433");
}

TEST_CASE("cycles become nanoseconds to three decimals") {
  CHECK(cycles_to_ns(1380, 1380000) == "1000.000");
  CHECK(cycles_to_ns(1, 1312000) == "0.762");        // 1 / 1.312 GHz = 0.76220 ns
  CHECK(cycles_to_ns(6204, 1312000) == "4728.659");  // 6204 / 1.312 = 4728.6585
}

TEST_CASE("numbers for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(kMax) == "18,446,744,073,709,551,615");
  CHECK(scaled(0) == "0");
  CHECK(scaled(12) == "12");
  CHECK(scaled(1234) == "1.23k");
  CHECK(scaled(999400) == "999k");
  CHECK(scaled(999600) == "1.00M");
  CHECK(hex16(0xabc) == "0000000000000abc");
}

TEST_CASE("JSON strings are escaped and valid UTF-8") {
  CHECK(json_string("a\"b\\c\n") == "\"a\\\"b\\\\c\\n\"");
  CHECK(json_string("\xff") == "\"\xef\xbf\xbd\"");
}

}  // namespace lockstep::stats
