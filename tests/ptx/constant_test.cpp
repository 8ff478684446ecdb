// Constant expressions have the values that NVIDIA's assembler gives them.
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

std::int64_t signed_value(const std::string& text) { return static_cast<std::int64_t>(immediate(text).bits); }

struct ConstantSample {
  const char* text;
  std::int64_t value;
};

// The 8 bytes that ptxas 13.0 -arch=sm_80 stores for `.visible .global .u64 x[] = {TEXT};`.
constexpr ConstantSample kAssembled[] = {
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"-7 / 2", -3},
    {"-8 >> 1", -4},
    {"1 << 4 | 3 & 2 ^ 1", 19},
    {"5 > 3 && 2 >= 3 || !0", 1},
    {"0 ? 2 : 1 == 1 ? 7 : 8", 7},
    {"-1 > 1", 0},
    // What is unsigned: literals above 2^63 or with U, and what is made of them.
    {"-1 > 1U", 1},
    {"0xFFFFFFFFFFFFFFFF > 1", 1},
    {"9223372036854775808 > 1", 1},
    {"-9223372036854775808 < 0", 0},
    {"0 - 1U > 0", 1},
    {"(.u64)~0 >> 60", 15},
    // A conditional gives the chosen value as it is.
    {"(1 ? -1 : 2U) >> 60", -1},
    // Comparisons and '!' are signed whatever they compare.
    {"(1U == 1U) - 2 < 0", 1},
    {"(!5U) - 1 < 0", 1},
    // '~' is unsigned whatever it inverts.
    {"~0 >> 60", 15},
    {"(~0) / 2", std::numeric_limits<std::int64_t>::max()},
    // So is '%'.
    {"-7 % 4", 1},
    {"7 % -4", 7},
    {"(7 % 4) - 5 > 0", 1},
    // '&', '|' and '^' of signed values are signed.
    {"(-1 & -1) >> 60", -1},
    {"(-1 | 0) >> 60", -1},
    {"(-1 ^ 0) >> 60", -1},
    {"(-8 & -1) / 2", -4},
    // Shifts count modulo 64.
    {"1 << 64", 1},
    {"1 << 65", 2},
    {"1 << -1", std::numeric_limits<std::int64_t>::min()},
    {"-1 >> 64", -1},
    {"-1 >> 70", -1},
    {"1.5 * 2.0 > 2.9", 1},
};

}  // namespace

TEST_CASE("ptx constants: expressions have the values that ptxas gives them") {
  for (const ConstantSample& sample : kAssembled) {
    INFO(sample.text);
    CHECK(signed_value(sample.text) == sample.value);
  }
  CHECK(signed_value("WARP_SZ * 2 - 1") == 63);
}

TEST_CASE(
    "ptx constants: the sixteen hexadecimal digits of 0d and the eight of 0f are the bits, in any case") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t bits = random();
    char text[2][32];
    std::snprintf(text[0], sizeof text[0], "0d%016llX", static_cast<unsigned long long>(bits));
    std::snprintf(text[1], sizeof text[1], "0D%016llx", static_cast<unsigned long long>(bits));
    for (const char* t : text) {
      REQUIRE(immediate(t).literal == Literal::kFloat64);
      REQUIRE(immediate(t).bits == bits);
    }
    const auto half = static_cast<std::uint32_t>(bits);
    std::snprintf(text[0], sizeof text[0], "0f%08X", half);
    REQUIRE(immediate(text[0]).literal == Literal::kFloat32);
    REQUIRE(immediate(text[0]).bits == half);
    // A sign in front changes the sign bit and nothing else, of infinities and NaNs too.
    REQUIRE(immediate("-" + std::string(text[0])).bits == (half ^ 0x80000000u));
  }
}

TEST_CASE("ptx constants: decimal floating-point literals are those of the C library") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 500; ++round) {
    std::string text = std::to_string(random() % 1'000'000) + "." + std::to_string(random() % 1'000'000'000);
    if (round % 2) text += "e" + std::to_string(static_cast<int>(random() % 600) - 300);
    INFO(text);
    REQUIRE(immediate(text).bits == std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)));
  }
}

TEST_CASE("ptx constants: printed and read again, immediates and offsets are the same") {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> values{0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                    (std::uint64_t{1} << 63) - 1};
  for (int i = 0; i < 300; ++i) values.push_back(random() >> random() % 64);
  std::string body;
  for (const std::uint64_t v : values) {
    const auto s = static_cast<std::int64_t>(v);
    body += "mov.b64 %d1, (.s64)" + std::to_string(v) + "; mov.b64 %d1, " + std::to_string(v) + "U;\n";
    body += "ld.global.b32 %r1, [%d1+" + std::to_string(s % 1'000'000) + "];\n";
  }
  const Module m = parse(kernel_text(body), "constants");
  const Module again = parse(print(m), "printed");
  CHECK(difference(again, m) == "");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& read = again.functions[0].instructions;
    REQUIRE(read[3 * i].operands[1].bits == values[i]);
    REQUIRE(read[3 * i].operands[1].literal == Literal::kSigned);
    REQUIRE(read[3 * i + 1].operands[1].bits == values[i]);
    REQUIRE(read[3 * i + 1].operands[1].literal == Literal::kUnsigned);
    REQUIRE(read[3 * i + 2].operands[1].offset == static_cast<std::int64_t>(values[i]) % 1'000'000);
  }
}

}  // namespace lockstep::ptx
