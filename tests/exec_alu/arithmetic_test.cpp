// Floating-point arithmetic against exact integers, in every format, rounding, .ftz, .sat and .relu.
#include <catch2/catch.hpp>

#include "exec/decode.hpp"
#include "tests/exec_alu/exact.hpp"
#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

struct Mode {
  const char* name;
  Rounding rounding;
};
const Mode kModes[] = {
    {".rn", Rounding::kNearest}, {".rz", Rounding::kZero}, {".rm", Rounding::kDown}, {".rp", Rounding::kUp}};

struct Operation {
  const char* name;
  int sources;
};
const Operation kOperations[] = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3},
                                 {"mad", 3}, {"div", 2}, {"rcp", 1}, {"sqrt", 1}};

Exact exact(const std::string& op, const std::array<Exact, 3>& x, Rounding rounding) {
  Exact one = from_integer(1);
  if (op == "add") return add(x[0], x[1], rounding);
  if (op == "sub") return add(x[0], negate(x[1]), rounding);
  if (op == "mul") return multiply(x[0], x[1]);
  if (op == "div") return divide(x[0], x[1]);
  if (op == "rcp") return divide(one, x[0]);
  if (op == "sqrt") return square_root(x[0]);
  return add(multiply(x[0], x[1]), x[2], rounding);
}

struct Case {
  std::string op;
  int sources;
  Format format;
  Mode mode;
  bool ftz = false, sat = false, relu = false;
};

bool subnormal(Bits bits, Format f) { return (bits & f.infinity()) == 0; }
bool is_nan(Bits bits, Format f) { return (bits & (f.sign_bit() - 1)) > f.infinity(); }

/// What the NaN of an operation is: canonical, but in double precision the first operand's payload.
Bits nan_of(const Case& c, const std::array<Bits, 3>& in) {
  if (c.format.exponent_bits != 11) return c.format.sign_bit() - 1;
  for (int i = 0; i < c.sources; ++i)
    if (is_nan(in[static_cast<std::size_t>(i)], c.format))
      return in[static_cast<std::size_t>(i)] | Bits{1} << 51;
  return 0xfff8000000000000;
}

Bits expected(const Case& c, std::array<Bits, 3> in) {
  std::array<Exact, 3> x;
  for (std::size_t i = 0; i < 3; ++i) {
    in[i] &= c.format.sign_bit() * 2 - 1;
    if (c.ftz && subnormal(in[i], c.format)) in[i] &= c.format.sign_bit();
    x[i] = decode(in[i], c.format);
  }
  const Exact value = exact(c.op, x, c.mode.rounding);
  Bits bits = encode(value, c.format, c.mode.rounding, nan_of(c, in));
  const Bits one = static_cast<Bits>(c.format.bias()) << c.format.mantissa_bits;
  const bool nan = is_nan(bits, c.format), negative = (bits & c.format.sign_bit()) != 0;
  if (c.sat) bits = nan || negative ? 0 : std::min(bits, one);
  if (c.relu && !nan && negative) bits = 0;
  if (c.ftz && subnormal(bits, c.format)) bits &= c.format.sign_bit();
  return bits;
}

/// `type` has `elements` values of the format in a register.
void check(const Case& c, const std::string& type, int elements = 1, int rounds = 40) {
  const std::string form = c.op + c.mode.name + (c.ftz ? ".ftz" : "") + (c.sat ? ".sat" : "") +
                           (c.relu ? ".relu" : "") + "." + type;
  Warp warp(form, c.sources == 1 ? "r,r" : c.sources == 2 ? "r,r,r" : "r,r,r,r");
  std::mt19937_64 random(std::hash<std::string>()(form));
  const int width = 1 + c.format.exponent_bits + c.format.mantissa_bits;
  for (int round = 0; round < rounds; ++round) {
    for (int s = 0; s < c.sources; ++s)
      for (int lane = 0; lane < exec::kLanes; ++lane) {
        Bits packed = 0;
        for (int e = 0; e < elements; ++e)
          packed |= any_float(random, c.format.exponent_bits, c.format.mantissa_bits) << (e * width);
        warp.source(s, lane) = packed;
      }
    warp.run();
    for (int lane = 0; lane < exec::kLanes; ++lane)
      for (int e = 0; e < elements; ++e) {
        std::array<Bits, 3> in{};
        for (int s = 0; s < c.sources; ++s)
          in[static_cast<std::size_t>(s)] = warp.source(s, lane) >> (e * width);
        const Bits mask = c.format.sign_bit() * 2 - 1;
        INFO(form << " element " << e << std::hex << " of " << (in[0] & mask) << " " << (in[1] & mask) << " "
                  << (in[2] & mask));
        REQUIRE((warp.result(lane) >> (e * width) & mask) == expected(c, in));
        if (elements * width < 64) REQUIRE(warp.result(lane) >> (elements * width) == 0);
      }
  }
}

/// What min or max (PTX ISA 9.0, 9.7.4.11) chooses of two: the other one of a NaN, and -0 is below +0.
Bits extreme(bool smaller, Bits a, Bits b, Format f) {
  if (is_nan(a, f)) return is_nan(b, f) ? f.sign_bit() - 1 : b;
  if (is_nan(b, f)) return a;
  const int order = compare(decode(a, f), decode(b, f));
  const bool a_first = order < 0 || (order == 0 && (a & f.sign_bit()) != 0);
  return a_first == smaller ? a : b;
}

/// atom.OP.TYPE on `elements` values of the format in a word.
void check_atomic(const std::string& op, const std::string& type, Format f, int elements, bool flush) {
  const ptx::Instruction in = instruction("atom.global." + op + "." + type, "r,r,r");
  const auto fn = exec::atomic_function(in.form, flush);
  INFO(op << "." << type);
  REQUIRE((fn && *fn));
  std::mt19937_64 random(std::hash<std::string>()(op + type));
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const Bits mask = f.sign_bit() * 2 - 1;
  for (int round = 0; round < 6000; ++round) {
    Bits old = 0, operand = 0, expected_word = 0;
    for (int e = 0; e < elements; ++e) {
      const Bits a = any_float(random, f.exponent_bits, f.mantissa_bits),
                 b = any_float(random, f.exponent_bits, f.mantissa_bits);
      const Case sum{"add", 2, f, kModes[0], flush};
      const Bits result = op == "add" ? expected(sum, {a, b, 0}) : extreme(op == "min", a, b, f);
      old |= a << (e * width);
      operand |= b << (e * width);
      expected_word |= (result & mask) << (e * width);
    }
    INFO(std::hex << old << " " << operand);
    const Bits found = (*fn)(old, operand, 0);
    if (f.exponent_bits == 11 && is_nan(expected_word, f)) {
      REQUIRE(is_nan(found, f));  // which NaN is not defined
    } else {
      REQUIRE(found == expected_word);
    }
  }
}

}  // namespace

TEST_CASE("Floating-point atomics do what the instructions of their names do", "[exec][float]") {
  check_atomic("add", "f32", kF32, 1, false);
  check_atomic("add", "f32", kF32, 1, true);
  check_atomic("add", "f64", kF64, 1, false);
  for (const std::string op : {"add", "min", "max"})
    for (const int elements : {1, 2}) {
      check_atomic(op, elements == 1 ? "f16" : "f16x2", kF16, elements, false);
      check_atomic(op, elements == 1 ? "bf16" : "bf16x2", kBf16, elements, false);
    }
}

TEST_CASE("f32 and f64 in every rounding, with .ftz and .sat", "[exec][float]") {
  for (const Operation& op : kOperations)
    for (const Mode& mode : kModes) {
      check({op.name, op.sources, kF64, mode}, "f64");
      for (const bool ftz : {false, true}) {
        check({op.name, op.sources, kF32, mode, ftz}, "f32");
        const std::string name = op.name;
        if (name == "div" || name == "rcp" || name == "sqrt") continue;
        check({op.name, op.sources, kF32, mode, ftz, true}, "f32");
        if (name != "mad") check({op.name, op.sources, kF32, mode, ftz}, "f32x2", 2, 20);
      }
    }
}

TEST_CASE("Half and bfloat16 arithmetic, single and packed", "[exec][float]") {
  for (int i = 0; i < 4; ++i) {
    const Operation& op = kOperations[i];
    for (const bool packed : {false, true}) {
      const std::string x2 = packed ? "x2" : "";
      const int elements = packed ? 2 : 1;
      for (const bool ftz : {false, true})
        for (const bool sat : {false, true})
          check({op.name, op.sources, kF16, kModes[0], ftz, sat}, "f16" + x2, elements, 60);
      check({op.name, op.sources, kBf16, kModes[0]}, "bf16" + x2, elements, 60);
      if (op.sources != 3) continue;
      for (const bool ftz : {false, true})
        check({op.name, 3, kF16, kModes[0], ftz, false, true}, "f16" + x2, elements);
      check({op.name, 3, kBf16, kModes[0], false, false, true}, "bf16" + x2, elements);
    }
  }
}

TEST_CASE("A fused product of bfloat16 that ties but for a far addend rounds up", "[exec][float]") {
  // (1 + 2^-4)(1 + 2^-4) = 1 + 2^-3 + 2^-8 is a tie of eight bits; 2^-120 breaks it.
  CHECK(eval("fma.rn.bf16", "r,r,r,r", {0x3f88, 0x3f88, 0x0380}) == 0x3f91);
  CHECK(eval("fma.rn.bf16", "r,r,r,r", {0x3f88, 0x3f88, 0x0000}) == 0x3f90);
}

TEST_CASE("Plain forms round to nearest; the rounding mode does not leak", "[exec][float]") {
  CHECK(eval("add.f32", "r,r,r", {0x3f800000, 0x33800000}) == 0x3f800000);
  CHECK(eval("add.rp.f32", "r,r,r", {0x3f800000, 0x33800000}) == 0x3f800001);
  CHECK(eval("mul.f64", "r,r,r", {0x3ff0000000000001, 0x3ff0000000000001}) == 0x3ff0000000000002);
  volatile double third = 3;
  CHECK(1 / third == 0x1.5555555555555p-2);
  for (const char* form : {"fma.f32", "div.f32", "sqrt.f64", "rcp.f32", "add.rz.f16", "add.rn.rz.f32",
                           "add.sat.f64", "div.rn.f16", "mul.relu.f16", "add.ftz.f64", "fma.rn.sat.bf16"}) {
    INFO(form);
    CHECK_THROWS_AS(exec::select_lane_op(instruction(form, "r,r,r,r")), exec::FormError);
  }
}

}  // namespace lockstep::test
