#include "util/size.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>

namespace lockstep {
namespace {

/// Of "12.5 MiB": the number and the bytes of its unit.
std::pair<double, double> parts_of(const std::string& text) {
  const auto blank = text.find(' ');
  const std::string unit = text.substr(blank + 1);
  double bytes = 1;
  for (const char* const name : {"B", "KiB", "MiB", "GiB", "TiB"}) {
    if (unit == name) return {std::stod(text.substr(0, blank)), bytes};
    bytes *= 1024;
  }
  FAIL("no unit: " << text);
  return {};
}

}  // namespace

TEST_CASE("sizes as people read them, in binary units") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1.0 KiB");
  CHECK(size_text(98304) == "96.0 KiB");
  CHECK(size_text(1536 * 1024) == "1.5 MiB");
  CHECK(size_text(std::uint64_t{80} << 30) == "80.0 GiB");
  CHECK(size_text(~std::uint64_t{0}) == "16777216.0 TiB");
}

TEST_CASE("sizes just below a unit are rounded to one of it, not to 1024 of the smaller") {
  CHECK(size_text((1 << 20) - 1) == "1.0 MiB");
  CHECK(size_text((1 << 20) - 51) == "1.0 MiB");     // 1023.9502 KiB
  CHECK(size_text((1 << 20) - 52) == "1023.9 KiB");  // 1023.9492 KiB
  CHECK(size_text((std::uint64_t{1} << 40) - 1) == "1.0 TiB");
}

TEST_CASE("sizes of any number are within half of their last decimal, in a unit of which there is one") {
  std::mt19937_64 random(89);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t bytes = random() >> (random() % 64);
    const std::string text = size_text(bytes);
    const auto [number, unit] = parts_of(text);
    INFO(bytes << ": " << text);
    REQUIRE(std::abs(number * unit - static_cast<double>(bytes)) <= 0.0500001 * unit * (unit > 1 ? 1 : 0));
    REQUIRE((number >= 1 || bytes == 0));
    REQUIRE((number < 1024 || text.ends_with("TiB")));
  }
}

}  // namespace lockstep
