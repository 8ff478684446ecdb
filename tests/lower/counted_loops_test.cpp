// Loops that count: how often they are executed, against counting in C++, and which ones are none.
#include "lower/counted_loops.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

struct Counting {
  std::string type, how;
  std::int64_t start = 0, step = 0, limit = 0;
  bool test_first = false, until = false;  // until: the branch is taken while the comparison is false
};

template <class T>
bool holds(const std::string& how, T a, T b) {
  if (how == "lt") return a < b;
  if (how == "le") return a <= b;
  if (how == "gt") return a > b;
  if (how == "ge") return a >= b;
  return how == "eq" ? a == b : a != b;
}

/// 0 where there are more than kMaxIterations.
template <class T>
std::uint32_t iterations_of(const Counting& c) {
  const T limit = static_cast<T>(c.limit);
  T counter = static_cast<T>(c.start);
  for (std::uint32_t count = 1; count <= kMaxIterations; ++count) {
    const T next = static_cast<T>(static_cast<std::uint64_t>(counter) + static_cast<std::uint64_t>(c.step));
    if (holds(c.how, c.test_first ? counter : next, limit) == c.until) return count;
    counter = next;
  }
  return 0;
}

std::uint32_t expected_iterations(const Counting& c) {
  if (c.type == "s32") return iterations_of<std::int32_t>(c);
  if (c.type == "u32") return iterations_of<std::uint32_t>(c);
  return c.type == "s64" ? iterations_of<std::int64_t>(c) : iterations_of<std::uint64_t>(c);
}

/// Labels may be used once in a kernel.
std::string loop_text(const Counting& c, const std::string& body = "add.s32 %i2, %i2, %i3;\n") {
  const bool wide = c.type == "s64" || c.type == "u64";
  const std::string counter = wide ? "%l1" : "%i1";
  const std::string step = fmt::format("add.{0} {1}, {1}, {2};\n", wide ? "s64" : "s32", counter, c.step);
  const std::string test = fmt::format("setp.{}.{} %p1, {}, {};\n", c.how, c.type, counter, c.limit);
  return fmt::format("mov.b{} {}, {};\nLOOP:\n{}{}{}@{}%p1 bra LOOP;\n", wide ? 64 : 32, counter, c.start,
                     c.test_first ? test + step : body, c.test_first ? body : step, c.test_first ? "" : test,
                     c.until ? "!" : "");
}

std::optional<CountedLoop> found(const std::string& body, std::uint32_t from = 0) {
  return find_counted_loop(function_of(body + "st.global.b32 [%r1], %i2;\n"), from);
}

/// A loop over %i1 from 0 to 8 with this body, its comparison and its branch.
std::string plain(const std::string& body, const std::string& test = "setp.lt.s32 %p1, %i1, 8;\n",
                  const std::string& branch = "@%p1 bra LOOP;\n") {
  return "mov.b32 %i1, 0;\nLOOP:\n" + body + "add.s32 %i1, %i1, 1;\n" + test + branch;
}

}  // namespace

TEST_CASE("iterations of random counted loops are as many as counting gives") {
  std::mt19937 random(5);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  static const char* const kTypes[] = {"s32", "u32", "s64", "u64"};
  static const char* const kHow[] = {"lt", "le", "gt", "ge", "eq", "ne"};
  std::size_t counted = 0;
  for (unsigned round = 0; round < 1500; ++round) {
    Counting c{kTypes[below(4)], kHow[below(6)], 0, 0, 0, below(2) == 0, below(4) == 0};
    c.step = static_cast<std::int64_t>(1 + below(3) * below(7)) * (below(2) == 0 ? 1 : -1);
    c.start = static_cast<std::int64_t>(below(80)) - (c.type[0] == 's' ? 40 : 0);
    c.limit = static_cast<std::int64_t>(below(80)) - (c.type[0] == 's' ? 40 : 0);
    const std::uint32_t expected = expected_iterations(c);
    CAPTURE(c.type, c.how, c.start, c.step, c.limit, c.test_first, c.until);
    const auto loop = found(loop_text(c));
    REQUIRE(loop);
    CHECK(loop->count == (expected > 1 ? expected : 0));
    if (loop->count > 0) CHECK(loop->start == c.start);
    CHECK_FALSE(loop->nested);
    counted += loop->count > 0;
  }
  CHECK(counted > 300);
}

TEST_CASE("counters wrap as their type does") {
  const auto count = [](const Counting& c) {
    const auto loop = found(loop_text(c));
    return loop ? loop->count : ~0u;
  };
  CHECK(count({"s32", "gt", 2147483640, 1, 0}) == 8);  // until it is negative
  CHECK(count({"u32", "ne", 4294967290, 1, 0}) == 6);  // until it is zero
  CHECK(count({"u32", "lt", 3, -1, 100}) == 4);        // until it is below zero, which is large
  CHECK(count({"s64", "gt", 0x7fffffffffffffff - 2, 1, 0}) == 3);
  CHECK(count({"s64", "lt", 2147483640, 4, 2147483680}) == 10);
  CHECK(count({"s32", "lt", 0, 1, 65536}) == 65536);
  CHECK(count({"s32", "lt", 0, 1, 65537}) == 0);  // too many
  CHECK(count({"s32", "ne", 0, 0, 1}) == 0);      // endless
}

TEST_CASE("a loop's instructions are where the text has them") {
  const auto loop = found("mov.b32 %i9, 5;\n" + plain("add.s32 %i2, %i2, %i9;\nmul.lo.s32 %i2, %i2, %i2;\n"));
  REQUIRE(loop);
  CHECK(loop->first == 3);  // behind the parameter and two moves
  CHECK(loop->step == 5);
  CHECK(loop->test == 6);
  CHECK(loop->end == 8);
  CHECK(loop->count == 8);
  CHECK_FALSE(found(plain(""), 3));
  CHECK(found(plain(""), 2));
  CHECK(found("mov.b32 %i4, 3;\n" + plain("", "setp.lt.s32 %p1, %i1, %i4;\n"))->count == 0);
}

TEST_CASE("where a loop begins, a register of one immediate is as good as the immediate") {
  CHECK(found("mov.b32 %i4, 3;\nmov.b32 %i1, %i4;\nLOOP:\nadd.s32 %i1, %i1, 1;\n"
              "setp.lt.s32 %p1, %i1, 8;\n@%p1 bra LOOP;\n")
            ->count == 5);
  CHECK(found("mov.b32 %i4, 3;\nmov.b32 %i1, %i4;\nmov.b32 %i4, 1;\nLOOP:\nadd.s32 %i1, %i1, 1;\n"
              "setp.lt.s32 %p1, %i1, 8;\n@%p1 bra LOOP;\n")
            ->count == 0);
  CHECK(found("mov.b32 %i1, 3;\n@%p2 mov.b32 %i1, 4;\nLOOP:\nadd.s32 %i1, %i1, 1;\n"
              "setp.lt.s32 %p1, %i1, 8;\n@%p1 bra LOOP;\n")
            ->count == 0);
  CHECK(found("ld.global.b32 %i1, [%r1];\nLOOP:\nadd.s32 %i1, %i1, 1;\n"
              "setp.lt.s32 %p1, %i1, 8;\n@%p1 bra LOOP;\n")
            ->count == 0);
}

TEST_CASE("barriers may be in a counted loop; calls, exits and other jumps may not") {
  CHECK(found(plain("bar.sync 0;\n")));
  CHECK(found(plain("@%p2 add.s32 %i2, %i2, 1;\n")));
  CHECK_FALSE(found(plain("@%p2 bar.sync 0;\n")));
  CHECK_FALSE(found(plain("membar.gl;\n")));
  CHECK_FALSE(found(plain("nanosleep.u32 100;\n")));
  CHECK_FALSE(found(plain("mov.u32 %i2, %clock;\n")));
  CHECK_FALSE(found(plain("@%p2 ret;\n")));
  CHECK_FALSE(found(plain("@%p2 bra OUT;\n") + "OUT:\n"));
  CHECK_FALSE(found("@%p2 bra LOOP;\n" + plain("")));  // two ways in
}

TEST_CASE("the counter grows by a constant, the limit stays, and only the branch reads the comparison") {
  CHECK_FALSE(found("LOOP:\nadd.s32 %i1, %i1, %i3;\nsetp.lt.s32 %p1, %i1, 8;\n@%p1 bra LOOP;\n"));
  CHECK_FALSE(found(plain("add.s32 %i1, %i1, 1;\n")));
  CHECK_FALSE(found("LOOP:\n@%p2 add.s32 %i1, %i1, 1;\nsetp.lt.s32 %p1, %i1, 8;\n@%p1 bra LOOP;\n"));
  CHECK_FALSE(found(plain("add.s32 %i4, %i4, 2;\n", "setp.lt.s32 %p1, %i1, %i4;\n")));
  CHECK_FALSE(found(plain("", "setp.lt.f32 %p1, %f1, 0f41000000;\n")));
  CHECK_FALSE(found(plain("", "setp.lt.and.s32 %p1, %i1, 8, %p2;\n")));
  CHECK_FALSE(found(plain("", "setp.lt.s32 %p1, 8, %i1;\n")));
  CHECK_FALSE(found(plain("", "setp.lt.s32 %p1, %i1, 8;\n@%p2 setp.lt.s32 %p1, %i1, 4;\n")));
  CHECK_FALSE(found(plain("") + "@%p1 add.s32 %i2, %i2, 1;\n"));
  CHECK_FALSE(found(plain("selp.b32 %i2, %i3, %i4, %p1;\n")));  // that of the iteration before
}

TEST_CASE("a loop is nested where nothing chooses between its end and another loop's") {
  const auto nested = [](const std::string& between, const std::string& behind) {
    return found("mov.b32 %i5, 0;\nOUTER:\n" + between + plain("") + behind +
                 "add.s32 %i5, %i5, 1;\nsetp.lt.s32 %p3, %i5, %i6;\n@%p3 bra OUTER;\n")
        ->nested;
  };
  CHECK(nested("", ""));
  CHECK(nested("mov.b32 %i7, 1;\n", "bra NEXT;\nNEXT:\n"));
  CHECK_FALSE(nested("", "@%p4 bra NEXT;\nadd.s32 %i2, %i2, 1;\nNEXT:\n"));
  CHECK_FALSE(found(plain(""))->nested);
}

TEST_CASE("a step is an unguarded addition of an immediate to the register itself") {
  const auto step = [](const std::string& text) { return is_step(function_of(text).instructions.at(1)); };
  CHECK(step("add.s32 %i1, %i1, 4;\n"));
  CHECK(step("add.u64 %l1, %l1, -4;\n"));
  CHECK(step("add.s16 %h1, %h1, 1;\n"));
  CHECK_FALSE(step("add.s32 %i1, %i2, 4;\n"));
  CHECK_FALSE(step("add.s32 %i1, %i1, %i2;\n"));
  CHECK_FALSE(step("sub.s32 %i1, %i1, 4;\n"));
  CHECK_FALSE(step("add.sat.s32 %i1, %i1, 4;\n"));
  CHECK_FALSE(step("add.cc.s32 %i1, %i1, 4;\n"));
  CHECK_FALSE(step("@%p1 add.s32 %i1, %i1, 4;\n"));
  CHECK_FALSE(step("add.f32 %f1, %f1, 0f3F800000;\n"));
  CHECK_FALSE(step("mov.b32 %i1, 4;\n"));
}

}  // namespace lockstep::lower::test
