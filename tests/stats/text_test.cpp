#include "stats/text.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace lockstep::stats {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

/// Whole numbers as decimal digits, the lowest first: long multiplication and division as on paper.
using Digits = std::vector<unsigned>;

Digits digits_of(std::uint64_t value) {
  Digits out;
  for (; value != 0; value /= 10) out.push_back(static_cast<unsigned>(value % 10));
  return out;
}

void trim(Digits& a) {
  while (!a.empty() && a.back() == 0) a.pop_back();
}

Digits product(const Digits& a, const Digits& b) {
  Digits out(a.size() + b.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) out[i + j] += a[i] * b[j];
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    out[i + 1] += out[i] / 10;
    out[i] %= 10;
  }
  trim(out);
  return out;
}

bool less(const Digits& a, const Digits& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

Digits sum(Digits a, const Digits& b) {
  a.resize(std::max(a.size(), b.size()) + 1);
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    a[i] += i < b.size() ? b[i] : 0;
    a[i + 1] += a[i] / 10;
    a[i] %= 10;
  }
  trim(a);
  return a;
}

/// a - b, where b is not larger.
Digits difference(Digits a, const Digits& b) {
  unsigned borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const unsigned take = (i < b.size() ? b[i] : 0) + borrow;
    borrow = a[i] < take;
    a[i] = a[i] + 10 * borrow - take;
  }
  trim(a);
  return a;
}

Digits divided(const Digits& a, const Digits& by) {
  Digits out(a.size()), rest;
  for (std::size_t i = a.size(); i-- > 0;) {
    rest.insert(rest.begin(), a[i]);
    trim(rest);
    for (; !less(rest, by); ++out[i]) rest = difference(rest, by);
  }
  trim(out);
  return out;
}

/// numerator * scale / denominator, rounded half up to `decimals` digits.
std::string ratio_on_paper(std::uint64_t numerator, std::uint64_t denominator, unsigned decimals,
                           std::uint64_t scale) {
  Digits shifted = product(digits_of(numerator), digits_of(scale));
  if (!shifted.empty()) shifted.insert(shifted.begin(), decimals, 0);
  const Digits twice = digits_of(2), by = digits_of(denominator);
  Digits units = divided(sum(product(shifted, twice), by), product(by, twice));
  if (units.size() <= decimals) units.resize(decimals + 1);
  std::string text;
  for (std::size_t i = units.size(); i-- > 0;) {
    text += static_cast<char>('0' + units[i]);
    if (i == decimals && decimals > 0) text += '.';
  }
  return text;
}

}  // namespace

TEST_CASE("ratios of random numbers are those of long division on paper") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t numerator = random() >> random() % 64, scale = round % 3 ? 1 : random() >> 44;
    const std::uint64_t denominator = (random() >> random() % 64) | 1;
    const auto decimals = static_cast<unsigned>(random() % 10);
    CAPTURE(numerator, denominator, decimals, scale);
    REQUIRE(fixed_ratio(numerator, denominator, decimals, scale) ==
            ratio_on_paper(numerator, denominator, decimals, scale));
  }
}

TEST_CASE("ratios exactly between two values are rounded up") {
  for (std::uint64_t odd = 1; odd < 2000; odd += 2) {
    const std::uint64_t twice = 2 * 1000;  // odd / 2000 lies between two thousandths
    REQUIRE(fixed_ratio(odd, twice, 3) == ratio_on_paper(odd / 2 + 1, 1000, 3, 1));
  }
}

TEST_CASE("quotients are rounded down and hold products of 128 bits") {
  CHECK(quotient(7, 10, 4) == 17);
  CHECK(quotient(kMax, kMax, kMax) == kMax);
  CHECK(quotient(kMax, 1'000'000, 1'000'001) == 18446725626983924631u);  // Python: (2**64-1)*10**6//(10**6+1)
  CHECK(quotient(5, 3, 0) == 0);
}

TEST_CASE("a scaled number has three digits, the right prefix and is within half of its last digit") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 5000; ++round) {
    const double value =
        std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 53) - 4);
    const std::string text = scaled(value);
    CAPTURE(value, text);
    char* end = nullptr;
    const double mantissa = std::strtod(text.c_str(), &end);
    const std::string prefix = end;
    const auto place = std::string(" kMGT").find(prefix.empty() ? ' ' : prefix[0]);
    REQUIRE(prefix.size() <= 1);
    REQUIRE(place != std::string::npos);
    const std::string number(text.c_str(), static_cast<const char*>(end));
    const auto dot = number.find('.');
    const std::size_t decimals = dot == std::string::npos ? 0 : number.size() - dot - 1;
    const double unit = std::pow(1000.0, static_cast<double>(place));
    const double half = 0.5 * std::pow(10.0, -static_cast<double>(decimals)) * unit;
    REQUIRE(std::abs(mantissa * unit - value) <= half * (1 + 1e-9));
    if (place > 0) REQUIRE(mantissa >= 1);
    if (place < 4) {
      REQUIRE(mantissa < 1000);
      const bool whole = place == 0 && value == std::floor(value);
      if (!whole) REQUIRE(number.size() - (dot != std::string::npos) == 3);
    }
  }
}

TEST_CASE("scaled numbers at the boundaries of digits and prefixes") {
  CHECK(scaled(0.5) == "0.50");
  CHECK(scaled(9.99) == "9.99");
  CHECK(scaled(9.996) == "10.0");
  CHECK(scaled(99.94) == "99.9");
  CHECK(scaled(99.96) == "100");
  CHECK(scaled(999.4) == "999");
  CHECK(scaled(999.5) == "1.00k");
  CHECK(scaled(1000) == "1.00k");
  CHECK(scaled(1e9) == "1.00G");
  CHECK(scaled(2.5e12) == "2.50T");
  CHECK(scaled(1e15) == "1000T");  // no prefix above T
}

TEST_CASE("grouped numbers are the digits with a comma before each three") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t value = random() >> random() % 64;
    std::string text = grouped(value);
    for (std::size_t i = 0; i < text.size(); ++i) REQUIRE((text[text.size() - 1 - i] == ',') == (i % 4 == 3));
    std::erase(text, ',');
    REQUIRE(text == std::to_string(value));
  }
}

TEST_CASE("hashes have sixteen digits that are read back as themselves") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t value = random() >> random() % 64;
    const std::string text = hex16(value);
    REQUIRE(text.size() == 16);
    REQUIRE(std::strtoull(text.c_str(), nullptr, 16) == value);
  }
}

TEST_CASE("JSON strings of any ASCII text are read back as they were, on one line") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto n = random() % 40; n > 0; --n) text += static_cast<char>(random() % 128);
    const std::string json = json_string(text);
    REQUIRE(std::none_of(json.begin(), json.end(), [](char c) { return c >= 0 && c < 0x20; }));
    REQUIRE(nlohmann::json::parse(json).get<std::string>() == text);
  }
  CHECK(nlohmann::json::parse(json_string("\xc3\xbc \xe2\x82\xac")) == "\xc3\xbc \xe2\x82\xac");
  for (int c = 0x80; c < 0x100; ++c)  // alone none of these is UTF-8
    REQUIRE(nlohmann::json::parse(json_string(std::string(1, static_cast<char>(c)))) == "\xef\xbf\xbd");
}

TEST_CASE("printable text keeps ASCII's 95 printing characters and its length") {
  for (int c = 0; c < 0x100; ++c) {
    const std::string text{'a', static_cast<char>(c), 'b'};
    REQUIRE(printable(text) == (c >= 0x20 && c <= 0x7e ? text : "a?b"));
  }
}

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
