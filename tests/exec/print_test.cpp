// vprintf.
#include "exec/print.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <random>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr const char* kPrint = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[23] = {37, 100, 32, 37, 46, 49, 102, 32, 37, 108, 108, 117, 32, 37, 115, 32, 37, 99, 37, 37, 10, 0};
.global .align 1 .b8 word[3] = {104, 105, 0};
.visible .entry run() {
  .local .align 8 .b8 depot[40];
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f64 %d<3>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 33;
  and.b32 %r2, %r1, 31;
  setp.ne.and.u32 %p, %r2, 3, %p;
  @%p bra $END;
  neg.s32 %r3, %r1;
  st.local.u32 [depot], %r3;
  cvt.rn.f64.u32 %d1, %r1;
  st.local.f64 [depot+8], %d1;
  mov.u64 %rd1, 0xffffffffffffffff;
  st.local.u64 [depot+16], %rd1;
  mov.u64 %rd2, word;
  cvta.global.u64 %rd2, %rd2;
  st.local.u64 [depot+24], %rd2;
  mov.u32 %r4, 65;
  st.local.u32 [depot+32], %r4;
  mov.u64 %rd3, format;
  cvta.global.u64 %rd3, %rd3;
  mov.u64 %rd4, depot;
  cvta.local.u64 %rd4, %rd4;
  { .param .b64 p0; .param .b64 p1; .param .b32 r0;
    st.param.b64 [p0], %rd3;
    st.param.b64 [p1], %rd4;
    call.uni (r0), vprintf, (p0, p1);
    ld.param.b32 %r4, [r0]; }
$END:
  ret;
})";

TEST_CASE("vprintf prints in order of CTA and thread") {
  Device device(kPrint);
  std::string text;
  device.options.print = [&](std::string_view part) { text += part; };
  device.run("run", {2, 1, 1}, {64, 1, 1}, Arguments());
  const std::string one =
      "-3 3.0 18446744073709551615 hi A%\n-33 33.0 18446744073709551615 hi A%\n-35 35.0 18446744073709551615 "
      "hi A%\n";
  CHECK(text == one + one);
}

/// What the C library makes of one conversion with the values of its asterisks.
template <class T>
std::string printed_by_host(const std::string& spec, const std::vector<int>& asterisks, T value) {
  std::vector<char> text(1000);
  const auto print = [&](auto... values) {
    return std::snprintf(text.data(), text.size(), spec.c_str(), values...);
  };
  const int length = asterisks.empty()       ? print(value)
                     : asterisks.size() == 1 ? print(asterisks[0], value)
                                             : print(asterisks[0], asterisks[1], value);
  return {text.data(), static_cast<std::size_t>(length)};
}

struct Printed {
  std::string text;
  int taken = 0;
};

/// "%s" shows the text "word", wherever the argument points.
Printed print_device(const std::string& format, const Arguments& arguments) {
  Printed out;
  const auto argument = [&](std::uint32_t at, std::uint32_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, arguments.bytes().subspan(at, bytes).data(), bytes);
    return value;
  };
  out.taken = format_device(
      format, argument, [](Address) { return std::string("word"); }, out.text);
  return out;
}

TEST_CASE("printf: random conversions are those of the C library") {
  std::mt19937_64 random(1);
  const auto pick = [&](const std::vector<const char*>& from) { return from[random() % from.size()]; };
  for (int round = 0; round < 4000; ++round) {
    std::string format, expected;
    Arguments arguments;
    int given = 0;
    for (auto conversions = 1 + random() % 4; conversions > 0; --conversions) {
      std::vector<int> asterisks;
      const auto number = [&](int least) -> std::string {
        const int value = least + static_cast<int>(random() % static_cast<unsigned>(30 - least));
        if (random() % 2 != 0) return std::to_string(std::abs(value));
        asterisks.push_back(value);
        return "*";
      };
      const char letter = *pick({"d", "i", "o", "u", "x", "X", "c", "f", "e", "G", "g", "a", "s"});
      std::string spec = "%";
      for (const char flag : {'-', '+', ' ', '#', '0'})
        if (random() % 5 == 0) spec += flag;
      if (random() % 2 != 0) spec += number(-20);
      if (random() % 2 != 0) spec += "." + (random() % 4 == 0 ? "" : number(-10));
      for (const int value : asterisks) arguments.add(value);
      given += static_cast<int>(asterisks.size()) + 1;
      if (letter == 's') {
        arguments.add(random());
        expected += printed_by_host(spec += letter, asterisks, "word");
      } else if (std::strchr("feGga", letter)) {
        const double value =
            std::ldexp(static_cast<double>(random()) - 0x1p63, -static_cast<int>(random() % 90));
        arguments.add(value);
        expected += printed_by_host(spec += letter, asterisks, value);
      } else if (letter != 'c' && random() % 2 != 0) {
        spec += pick({"l", "ll", "j", "z", "t"});
        const auto value = static_cast<long long>(random() >> random() % 64);
        arguments.add(value);
        expected += printed_by_host(spec += letter, asterisks, value);
      } else {
        if (letter != 'c') spec += pick({"", "h", "hh"});
        const auto value = letter == 'c' ? 'A' + static_cast<int>(random() % 26) : static_cast<int>(random());
        arguments.add(value);
        expected += printed_by_host(spec += letter, asterisks, value);
      }
      format += spec + "%% ";
      expected += "% ";
    }
    INFO(format);
    const Printed out = print_device(format, arguments);
    REQUIRE(out.text == expected);
    REQUIRE(out.taken == given);
  }
}

TEST_CASE("printf: an asterisk's value below zero means the left, or no precision") {
  CHECK(print_device("[%*d]", Arguments(-5, 7)).text == "[7    ]");
  CHECK(print_device("[%.*f]", Arguments(-5, 0.5)).text == "[0.500000]");
  CHECK(print_device("[%*.*f]", Arguments(6, 1, 0.5)).text == "[   0.5]");
}

TEST_CASE("printf: what is no conversion is copied, and takes no argument") {
  for (const char* text : {"100%", "%", "%-", "%5", "%y", "%.3 ", "%ll", "%n", "a\tb"}) {
    INFO(text);
    const Printed out = print_device(text, Arguments());
    CHECK(out.text == text);
    CHECK(out.taken == 0);
  }
  CHECK(print_device("%%%d", Arguments(3)).text == "%3");
}

}  // namespace
}  // namespace lockstep::exec::test
