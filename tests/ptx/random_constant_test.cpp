// Random constant expressions against a second evaluator, by the rules of "PTX ISA 9.0", section 4.5.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"
#include "tests/random.hpp"

namespace lockstep::ptx {
namespace {

using test::Random32;

struct Whole {
  bool is_unsigned = false;
  std::uint64_t bits = 0;
};
/// Nothing: a division by zero is in it.
using MaybeWhole = std::optional<Whole>;

/// Operators of C by how tightly they bind.
struct BinaryOperator {
  const char* text;
  int precedence;
};
constexpr BinaryOperator kBinary[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
                                      {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
                                      {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
constexpr int kConditional = 0, kUnary = 11, kPrimary = 12;

Whole compared(const std::string& op, Whole a, Whole b) {
  const auto [x, y] = std::pair(static_cast<std::int64_t>(a.bits), static_cast<std::int64_t>(b.bits));
  const bool less = a.is_unsigned || b.is_unsigned ? a.bits < b.bits : x < y, equal = a.bits == b.bits;
  const bool holds = op == "=="   ? equal
                     : op == "!=" ? !equal
                     : op == "<"  ? less
                     : op == "<=" ? less || equal
                     : op == ">"  ? !less && !equal
                                  : !less;
  return {false, holds};
}

MaybeWhole divided(const std::string& op, Whole a, Whole b) {
  if (b.bits == 0) return std::nullopt;
  if (op == "%") return Whole{true, a.bits % b.bits};
  if (a.is_unsigned || b.is_unsigned) return Whole{true, a.bits / b.bits};
  if (b.bits == ~std::uint64_t{0}) return Whole{false, 0 - a.bits};  // where C++ would overflow
  return Whole{false, static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) /
                                                 static_cast<std::int64_t>(b.bits))};
}

MaybeWhole evaluated(const std::string& op, Whole a, Whole b) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (op == "||") return Whole{false, a.bits != 0 || b.bits != 0};
  if (op == "&&") return Whole{false, a.bits != 0 && b.bits != 0};
  if (op == "|") return Whole{is_unsigned, a.bits | b.bits};
  if (op == "^") return Whole{is_unsigned, a.bits ^ b.bits};
  if (op == "&") return Whole{is_unsigned, a.bits & b.bits};
  if (op == "<<") return Whole{a.is_unsigned, a.bits << (b.bits & 63)};
  if (op == ">>" && a.is_unsigned) return Whole{true, a.bits >> (b.bits & 63)};
  if (op == ">>")
    return Whole{false, static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> (b.bits & 63))};
  if (op == "+") return Whole{is_unsigned, a.bits + b.bits};
  if (op == "-") return Whole{is_unsigned, a.bits - b.bits};
  if (op == "*") return Whole{is_unsigned, a.bits * b.bits};
  if (op == "/" || op == "%") return divided(op, a, b);
  return compared(op, a, b);
}

struct Expression {
  std::string text;
  int precedence = kPrimary;  // of its outermost operator
  MaybeWhole value;
};

class ExpressionMaker {
 public:
  explicit ExpressionMaker(std::uint32_t seed) : random_(seed) {}

  Expression make(unsigned depth) {
    if (depth == 0 || below(6) == 0) return literal();
    const std::uint32_t sort = below(10);
    if (sort == 0) return conditional(depth);
    if (sort < 4) return unary(depth);
    return binary(depth);
  }

 private:
  std::uint32_t below(std::uint32_t n) { return random_() % n; }

  /// In parentheses where it binds less tightly than it has to, and sometimes elsewhere.
  std::string as_operand(const Expression& e, int least) {
    return e.precedence < least || below(8) == 0 ? "(" + e.text + ")" : e.text;
  }

  Expression literal() {
    const std::uint64_t value = (std::uint64_t{random_()} << 32 | random_()) >> below(64);
    const bool suffix = below(4) == 0, large = value >> 63 != 0;
    const char* const kForms[] = {"{}", "0x{:x}", "0x{:X}", "0{:o}", "0b{:b}"};
    std::string text = fmt::format(fmt::runtime(kForms[below(5)]), value);
    return {text + (suffix ? "U" : ""), kPrimary, Whole{suffix || large, value}};
  }

  Expression unary(unsigned depth) {
    const Expression a = make(depth - 1);
    const char* const kOperators[] = {"- ", "+ ", "~ ", "! ", "(.u64)", "(.s64)"};
    const std::uint32_t op = below(6);
    Expression e{kOperators[op] + as_operand(a, kUnary), kUnary, a.value};
    if (!a.value) return e;
    if (op == 0) e.value->bits = 0 - a.value->bits;
    if (op == 2) e.value = Whole{true, ~a.value->bits};
    if (op == 3) e.value = Whole{false, a.value->bits == 0};
    if (op >= 4) e.value->is_unsigned = op == 4;
    return e;
  }

  Expression binary(unsigned depth) {
    const BinaryOperator& op = kBinary[below(std::size(kBinary))];
    const Expression a = make(depth - 1), b = make(depth - 1);
    return {fmt::format("{} {} {}", as_operand(a, op.precedence), op.text, as_operand(b, op.precedence + 1)),
            op.precedence, a.value && b.value ? evaluated(op.text, *a.value, *b.value) : std::nullopt};
  }

  Expression conditional(unsigned depth) {
    const Expression condition = make(depth - 1), yes = make(depth - 1), no = make(depth - 1);
    Expression e{
        fmt::format("{} ? {} : {}", as_operand(condition, 1), yes.text, as_operand(no, kConditional)),
        kConditional, std::nullopt};
    if (condition.value && yes.value && no.value) e.value = condition.value->bits != 0 ? yes.value : no.value;
    return e;
  }

  Random32 random_;
};

}  // namespace

TEST_CASE("ptx constants: random integer expressions have the value and the sign of a second evaluator's") {
  unsigned divisions = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const Expression e = ExpressionMaker(seed).make(1 + seed % 5);
    INFO(e.text);
    const std::string statement = "mov.b64 %d1, (" + e.text + ");";
    if (!e.value) {
      ++divisions;
      REQUIRE_THAT(parse_message(kernel_text(statement)), Catch::EndsWith("division by zero"));
      continue;
    }
    const Operand read = parse_one(statement).operands.at(1);
    REQUIRE(read.bits == e.value->bits);
    REQUIRE((read.literal == Literal::kUnsigned) == e.value->is_unsigned);
    // The same where the assembler folds it: in an initialiser and an array's size.
    const Module m = parse(module_text(fmt::format(".global .u64 x = {};", e.text)), "x.ptx");
    std::uint64_t stored = 0;
    for (std::size_t i = 0; i < m.variables[0].initial.size(); ++i)
      stored |= std::uint64_t{m.variables[0].initial[i]} << (8 * i);
    REQUIRE(stored == e.value->bits);
  }
  CHECK(divisions > 10);
}

TEST_CASE("ptx constants: floating-point expressions are those of doubles, left to right") {
  Random32 random(8);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    double sum = 0;
    for (int term = 0; term < 4; ++term) {
      const double a = random() % 1000 / 8.0, b = 1 + random() % 100;
      const bool minus = term > 0 && random() % 2 == 0, quotient = random() % 2 == 0;
      text += fmt::format("{} {:.3f} {} {}.0",
                          term == 0 ? ""
                          : minus   ? " -"
                                    : " +",
                          a, quotient ? "/" : "*", b);
      const double product = quotient ? a / b : a * b;
      sum = term == 0 ? product : minus ? sum - product : sum + product;
    }
    INFO(text);
    const Operand read = parse_one("mov.f64 %d1, " + text + ";").operands.at(1);
    REQUIRE(read.literal == Literal::kFloat64);
    REQUIRE(read.bits == std::bit_cast<std::uint64_t>(sum));
    REQUIRE(parse_one("mov.b64 %d1, " + text + fmt::format(" >= {:.3f};", 10.0)).operands.at(1).bits ==
            (sum >= 10));
  }
}

TEST_CASE("ptx constants: 64 levels of nesting are read, and more are refused, however they are made") {
  const auto nested = [](const std::string& open, const std::string& close, unsigned levels) {
    std::string text, end;
    for (unsigned i = 0; i < levels; ++i) {
      text += open;
      end += close;
    }
    text += "1" + end;
    return parse_message(kernel_text("mov.b64 %d1, " + text + ";"));
  };
  const std::pair<const char*, const char*> rows[] = {
      {"(", ")"}, {"- ", ""}, {"(.s64)", ""}, {"1 ? ", " : 2"}};
  for (const auto& [open, close] : rows) {
    CAPTURE(open);
    CHECK(nested(open, close, 60) == "no error");
    CHECK_THAT(nested(open, close, 66),
               Catch::Contains("this constant expression is nested too deeply (64 levels)"));
    CHECK_THAT(nested(open, close, 100'000), Catch::Contains("nested too deeply"));
  }
  std::string chain = "1";
  for (int i = 0; i < 10'000; ++i) chain += " + 1";  // from left to right there is no nesting
  CHECK(immediate("(" + chain + ")").bits == 10'001);
}

}  // namespace lockstep::ptx
