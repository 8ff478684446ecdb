// Scanners of trace text against std::from_chars, and what they refuse.
#include "trace/text_scan.hpp"

#include <catch2/catch.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace lockstep::trace {
namespace {

/// The value, and how many characters it takes; nothing where the scanner refuses.
template <class T, class Scan>
std::optional<std::pair<T, std::ptrdiff_t>> scanned(std::string text, Scan&& scan) {
  text += '\n';
  T value = 0;
  const char* const end = scan(text.c_str(), value);
  if (end == nullptr) return std::nullopt;
  return std::pair{value, end - text.c_str()};
}
template <class T>
std::optional<std::pair<T, std::ptrdiff_t>> by_library(const std::string& text, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) return std::nullopt;
  return std::pair{value, end - text.data()};
}

/// Digits, with what may end or spoil them.
std::string random_number_text(std::mt19937& random, const std::string& digits) {
  std::string text;
  const auto length = random() % 24;
  for (std::uint32_t i = 0; i < length; ++i) text += digits[random() % digits.size()];
  if (random() % 4 == 0) text.insert(random() % (text.size() + 1), 1, " gx.-\t"[random() % 6]);
  return text;
}

TEST_CASE("text scan: decimal and hexadecimal numbers are what std::from_chars reads") {
  std::mt19937 random(2);
  unsigned read = 0, refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::string decimal = random_number_text(random, "0123456789");
    const auto number = scanned<std::uint64_t>(decimal, scan_decimal);
    REQUIRE(number == by_library<std::uint64_t>(decimal, 10));
    number ? ++read : ++refused;
    std::string hex = random_number_text(random, "0123456789abcdefABCDEF");
    if (hex.starts_with("0x")) hex = "1" + hex;  // a prefix, which from_chars does not know
    REQUIRE(scanned<std::uint64_t>(hex, scan_hex) == by_library<std::uint64_t>(hex, 16));
    const auto behind = scanned<std::uint64_t>("0x" + hex, scan_hex);
    const auto expected = by_library<std::uint64_t>(hex, 16);
    REQUIRE(behind.has_value() == expected.has_value());
    if (behind) REQUIRE(behind->first == expected->first);
    if (behind) REQUIRE(behind->second == expected->second + 2);
  }
  CHECK(read > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("text scan: signed numbers, and unsigned ones beyond them that wrap") {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random_number_text(random, "0123456789").substr(0, 18);
    if (text.starts_with("-")) text.erase(0, 1);
    if (random() % 2 == 0) text = "-" + text;
    REQUIRE(scanned<std::int64_t>(text, scan_signed) == by_library<std::int64_t>(text, 10));
  }
  const auto value = [](const char* text) { return scanned<std::int64_t>(text, scan_signed); };
  constexpr std::int64_t kMinimum = std::numeric_limits<std::int64_t>::min();
  CHECK(value("-9223372036854775808")->first == kMinimum);
  CHECK_FALSE(value("-9223372036854775809"));
  CHECK(value("9223372036854775808")->first == kMinimum);
  CHECK(value("18446744073709551615")->first == -1);
  CHECK_FALSE(value("18446744073709551616"));
  CHECK_FALSE(value("-"));
  CHECK_FALSE(value("--5"));
  CHECK_FALSE(value(""));
}

TEST_CASE("text scan: the largest numbers, and the first ones that are too large") {
  const auto decimal = [](const char* text) { return scanned<std::uint64_t>(text, scan_decimal); };
  const auto hex = [](const char* text) { return scanned<std::uint64_t>(text, scan_hex); };
  CHECK(decimal("18446744073709551615")->first == ~std::uint64_t{0});
  CHECK_FALSE(decimal("18446744073709551616"));
  CHECK_FALSE(decimal("18446744073709551620"));
  CHECK(decimal("00000000000000000000000000007")->first == 7);
  CHECK(hex("0xffffffffffffffff")->first == ~std::uint64_t{0});
  CHECK_FALSE(hex("0x10000000000000000"));
  CHECK(hex("0x000000000000000000000001F")->first == 31);
  CHECK(hex("0XaBc")->first == 0xabc);
  CHECK_FALSE(hex("0x"));
  CHECK_FALSE(hex("x1"));
  CHECK(hex("0 x1")->second == 1);
}

TEST_CASE("text scan: keys want their sign, with blanks around it or not") {
  const auto value = [](const char* text) -> std::string {
    const char* const at = scan_key(text, "grid dim");
    return at == nullptr ? "no" : std::string(at, skip_token(at));
  };
  CHECK(value("grid dim=7\n") == "7");
  CHECK(value("grid dim \t = \t (1,2,3) x\n") == "(1,2,3)");
  CHECK(value("grid dim =\n").empty());
  for (const char* wrong : {"grid dims = 1\n", "grid di\n", "grid dim 7\n", "\n", "Grid dim = 1\n"})
    CHECK(value(wrong) == "no");
}

TEST_CASE("text scan: none of the functions passes the end of the line") {
  for (const char* text : {"\n", " \t\r\n", "grid\n"}) {
    const char* const end = text + std::char_traits<char>::length(text) - 1;
    CHECK(skip_token(skip_blanks(text)) == end);
  }
  CHECK(trim(" \t a b \r ") == "a b");
  CHECK(trim(" \t ").empty());
  CHECK(trim("").empty());
  CHECK(starts_with("-kernel id\n", "-kernel"));
  CHECK_FALSE(starts_with("-ker\n", "-kernel"));
}

TEST_CASE("text scan: hashes of many short texts all differ, and depend on every byte and the length") {
  std::set<std::uint64_t> hashes;
  for (unsigned i = 0; i < 50'000; ++i) hashes.insert(hash_text("R" + std::to_string(i) + " FFMA 3 R1 R2"));
  CHECK(hashes.size() == 50'000);
  const std::string text = "IMAD.MOV.U32 2 R4 R255 ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    CHECK(hash_text(other) != hash_text(text));
  }
  for (std::size_t n = 0; n < 20; ++n) CHECK(hashes.insert(hash_text(std::string(n, '\0'))).second);
}

}  // namespace
}  // namespace lockstep::trace
