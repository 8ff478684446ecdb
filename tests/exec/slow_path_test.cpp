// Which lanes of a division or root call the subroutine. Limits: constants of the checks in ptxas 13.0's
// cubins.
#include "exec/slow_path.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "ptx/parser.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

SlowPathFn of(const std::string& instruction) {
  const auto module = ptx::parse(
      std::string(kHeader) + ".visible .entry k() { .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .b32 %r<4>;\n" +
          instruction + "\nret; }",
      "test");
  return slow_path(module.functions.front().instructions.front().form);
}

bool slow(const std::string& instruction, std::uint64_t a, std::uint64_t b = 0) {
  LaneValues first{}, second{};
  first.lane[5] = a;
  second.lane[5] = b;
  LaneArgs args{};
  args.src[0] = &first;
  args.src[1] = &second;
  args.mask = 1u << 5;
  const LaneMask lanes = of(instruction)(args);
  CHECK((lanes & ~args.mask) == 0);
  return lanes != 0;
}

std::uint64_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
std::uint64_t bits(double d) { return std::bit_cast<std::uint64_t>(d); }
constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("only rounding divisions and roots of f32 and f64 have a slow path") {
  for (const char* with : {"div.rn.f32 %f1, %f2, %f3;", "div.rz.ftz.f32 %f1, %f2, %f3;",
                           "rcp.rn.f32 %f1, %f2;", "sqrt.rn.f32 %f1, %f2;", "div.rn.f64 %d1, %d2, %d3;",
                           "rcp.rn.f64 %d1, %d2;", "sqrt.rn.f64 %d1, %d2;"})
    CHECK(of(with) != nullptr);
  for (const char* without :
       {"div.approx.f32 %f1, %f2, %f3;", "div.full.f32 %f1, %f2, %f3;", "rcp.approx.f32 %f1, %f2;",
        "sqrt.approx.f32 %f1, %f2;", "rsqrt.approx.f32 %f1, %f2;", "div.s32 %r1, %r2, %r3;",
        "add.f32 %f1, %f2, %f3;"})
    CHECK(of(without) == nullptr);
}

TEST_CASE("zeros, infinities and NaNs take the slow path, usual operands do not") {
  for (const float special : {0.0f, -0.0f, kInfinity, -kInfinity, kNan, 1e-40f}) {
    CAPTURE(special);
    CHECK(slow("div.rn.f32 %f1, %f2, %f3;", bits(special), bits(3.0f)));
    CHECK(slow("div.rn.f32 %f1, %f2, %f3;", bits(3.0f), bits(special)));
    CHECK(slow("rcp.rn.f32 %f1, %f2;", bits(special)));
    CHECK(slow("sqrt.rn.f32 %f1, %f2;", bits(special)));
  }
  CHECK(slow("sqrt.rn.f32 %f1, %f2;", bits(-2.0f)));
  CHECK(slow("div.rn.f64 %d1, %d2, %d3;", bits(0.0), bits(3.0)));
  CHECK(slow("div.rn.f64 %d1, %d2, %d3;", bits(3.0), bits(0.0) | 1));
  CHECK(slow("rcp.rn.f64 %d1, %d2;", bits(0.0)));
  CHECK(slow("sqrt.rn.f64 %d1, %d2;", bits(0.0)));
  CHECK(slow("sqrt.rn.f64 %d1, %d2;", bits(-1.0)));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponents(-20, 20);
  for (int i = 0; i < 1000; ++i) {
    const double a = std::exp2(exponents(random)), b = -std::exp2(exponents(random));
    const auto fa = static_cast<float>(a), fb = static_cast<float>(b);
    CHECK_FALSE(slow("div.rn.f32 %f1, %f2, %f3;", bits(fa), bits(fb)));
    CHECK_FALSE(slow("rcp.rn.f32 %f1, %f2;", bits(fb)));
    CHECK_FALSE(slow("sqrt.rn.f32 %f1, %f2;", bits(fa)));
    CHECK_FALSE(slow("div.rn.f64 %d1, %d2, %d3;", bits(a), bits(b)));
    CHECK_FALSE(slow("rcp.rn.f64 %d1, %d2;", bits(b)));
    CHECK_FALSE(slow("sqrt.rn.f64 %d1, %d2;", bits(a)));
  }
}

TEST_CASE("the limits are those of the checks in machine code") {
  const auto power = [](int e) { return bits(std::ldexp(1.0f, e)); };
  const auto power64 = [](int e) { return bits(std::ldexp(1.0, e)); };
  CHECK_FALSE(slow("sqrt.rn.f32 %f1, %f2;", power(-101)));  // 0x0d000000
  CHECK(slow("sqrt.rn.f32 %f1, %f2;", power(-101) - 1));
  CHECK_FALSE(slow("rcp.rn.f32 %f1, %f2;", power(126) - 1));  // (x + 0x1800000 & 0x7f800000) > 0x1ffffff
  CHECK(slow("rcp.rn.f32 %f1, %f2;", power(126)));
  CHECK_FALSE(slow("rcp.rn.f32 %f1, %f2;", power(-126)));
  CHECK_FALSE(slow("div.rn.f64 %d1, %d2, %d3;", power64(-969), power64(0)));  // 0x03600000
  CHECK(slow("div.rn.f64 %d1, %d2, %d3;", power64(-969) - 1, power64(0)));
  CHECK(slow("div.rn.f64 %d1, %d2, %d3;", power64(-900), power64(123)));  // quotient 2^-1023
  CHECK_FALSE(slow("div.rn.f64 %d1, %d2, %d3;", power64(-900), power64(121)));
  CHECK_FALSE(slow("sqrt.rn.f64 %d1, %d2;", power64(-970)));  // 0x03500000
  CHECK(slow("sqrt.rn.f64 %d1, %d2;", power64(-970) - 1));
  CHECK_FALSE(slow("rcp.rn.f64 %d1, %d2;", power64(-1022)));  // x.hi + 0x300402 as a float >= 0x00400402
  CHECK(slow("rcp.rn.f64 %d1, %d2;", power64(-1022) - 1));
}

/// The sequence as machine code has it, from a reciprocal that is off by `ulps`.
float sequence(float a, float b, int ulps) {
  const float y = std::bit_cast<float>(std::bit_cast<std::int32_t>(1.0f / b) + ulps);
  const float better = std::fma(y, std::fma(-b, y, 1.0f), y);
  const float q = a * better;
  return std::fma(better, std::fma(-b, q, a), q);
}

TEST_CASE("where a division of f32 takes the usual path, that path gives the rounded quotient", "[long]") {
  std::mt19937 random(7);
  unsigned usual = 0;
  for (int i = 0; i < 200000; ++i) {
    const float a = std::bit_cast<float>(static_cast<std::uint32_t>(random())),
                b = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (slow("div.rn.f32 %f1, %f2, %f3;", bits(a), bits(b))) continue;
    ++usual;
    for (const int ulps : {-1, 0, 1})
      if (sequence(a, b, ulps) != a / b) FAIL("" << a << " / " << b << " from a reciprocal off by " << ulps);
  }
  CHECK(usual > 50000);
}

constexpr const char* kDivide = R"(
.visible .entry k(.param .u64 a) {
  .reg .b64 %rd<4>; .reg .b32 %r1; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  div.rn.f32 %f2, %f1, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
})";

TEST_CASE("lanes of the slow path have a record behind their instruction's") {
  Device device(kDivide);
  std::vector<float> values(32, 2.0f);
  values[3] = values[30] = 0;
  const Address at = device.array(values);
  const auto kernel = device.kernel("k");
  const Arguments arguments(at);
  Launch launch;
  launch.kernel = kernel.get();
  launch.grid = {1, 1, 1};
  launch.block = {32, 1, 1};
  launch.parameters = arguments.bytes();
  Grid grid(launch, device.memory, device.options);
  CtaRecord record;
  REQUIRE(grid.run_cta(0, &record));
  const auto& records = record.warps.front().records;
  REQUIRE(records.size() == 9);
  CHECK(records[5].inst() == 5);
  CHECK(records[5].mask == ~LaneMask{0});
  CHECK(records[6].inst() == 8 + 5);  // operations() of the kernel, and the operation
  CHECK(records[6].mask == (1u << 3 | 1u << 30));
  CHECK(records[7].inst() == 6);
}

}  // namespace
}  // namespace lockstep::exec::test
