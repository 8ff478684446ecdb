// Random modules in random layout: each statement is printed as it was meant, and what is printed is the same
// module again.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "ptx/barrier.hpp"
#include "ptx/parser.hpp"
#include "ptx/pragmas.hpp"
#include "ptx/print_statement.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

constexpr FormSample kForms[] = {
#define FORM(form, operands) {form, operands},
#include "tests/ptx/forms.inc"
#undef FORM
};

const std::string kCallee = ".func callee() { ret; }\n";  // which calls of the table name, as branches name L

class ModuleMaker {
 public:
  explicit ModuleMaker(unsigned seed) : random_(seed) {}
  unsigned below(std::size_t bound) { return static_cast<unsigned>(random_() % bound); }

  /// A statement of the table, as written there, perhaps guarded.
  std::string statement() {
    const FormSample& sample = kForms[below(std::size(kForms))];
    const std::string operands = sample.operands.empty() ? "" : " " + std::string(sample.operands);
    static const char* const kGuards[] = {"", "", "@%p3 ", "@!%p4 "};
    return kGuards[below(4)] + std::string(sample.form) + operands + ";";
  }
  /// The same with white space and comments where there may be some.
  std::string laid_out(const std::string& statement) {
    std::string all;
    for (const char c : statement) {
      const bool around = c == ',' || c == ';' || c == '[' || c == ']' || c == '{' || c == '}' || c == '|';
      if (around && below(3) == 0) all += space();
      all += c;
      if ((around || c == ' ') && below(3) == 0) all += space();
    }
    return all + space();
  }
  std::string space() {
    static const char* const kSpaces[] = {" ", "\n", "\t\t", "// a; b {\n", "/* @%p1 ret; */", "\r\n"};
    return kSpaces[below(6)];
  }
  std::string variable(unsigned number) {
    static const char* const kLinkage[] = {"", ".visible ", ".weak "};
    static const char* const kSpace[] = {".global", ".const"};
    static const char* const kTypes[] = {"u8", "s8", "b16", "u32", "s32", "b64", "u64", "s64"};
    std::string text = fmt::format("{}{} ", kLinkage[below(3)], kSpace[below(2)]);
    if (below(3) == 0) text += fmt::format(".align {} ", 1u << below(8));
    if (below(5) == 0) text += fmt::format(".v{} ", 2u << below(2));
    const bool vector = text.find(" .v2 ") != text.npos || text.find(" .v4 ") != text.npos;
    text += fmt::format(".{} v{}", kTypes[below(8)], number);
    const unsigned values = below(5);
    if (vector || below(2) == 0) return text + fmt::format("[{}];\n", values + 1);
    std::string list;
    for (unsigned n = 0; n <= values; ++n)
      list += fmt::format("{}{}", n == 0 ? "" : ", ", static_cast<int>(below(256)) - 128);
    return text + fmt::format("[{}] = {{{}}};\n", values + 1 + below(3), list);
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("ptx random modules: statements are printed as they were meant, whatever their layout") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    ModuleMaker make(seed);
    std::vector<std::string> statements;
    std::string body;
    for (unsigned n = 1 + make.below(40); n > 0; --n) {
      statements.push_back(make.statement());
      body += make.laid_out(statements.back());
    }
    const std::string kernel = kernel_text("L:\n" + body).substr(module_text("").size());
    const Module m = parse(module_text(kCallee + kernel), "random.ptx");
    const Function& f = m.functions.at(1);
    REQUIRE(f.instructions.size() >= statements.size());
    for (std::size_t n = 0; n < statements.size(); ++n)
      REQUIRE(print(f.instructions[n], f, m) == statements[n]);
  }
}

TEST_CASE("ptx random modules: printed and read again they are the same, and printed the same") {
  for (unsigned seed = 1000; seed < 1100; ++seed) {
    CAPTURE(seed);
    ModuleMaker make(seed);
    std::string text = kCallee;
    for (unsigned n = make.below(8); n > 0; --n) text += make.variable(n);
    for (unsigned k = 1 + make.below(3); k > 0; --k) {
      text += fmt::format(
          ".entry k{}(.param .u64 arg, .param .align 8 .b8 b[{}]) .maxntid {} {{\n.reg .b32 %r<100>; .reg "
          ".b64 %d<100>;\n"
          ".reg .f32 %f<100>; .reg .b16 %h<100>; .reg .b128 %q<10>; .reg .pred %p<100>;\nL:\n",
          k, 1 + make.below(64), 1 + make.below(1024));
      const unsigned length = 1 + make.below(20);
      for (unsigned n = 0; n < length; ++n) {
        text += fmt::format("L{}:", n);
        if (make.below(6) == 0) text += fmt::format("@%p{} bra L{};", make.below(9), make.below(length));
        if (make.below(8) == 0) text += "{ .reg .b32 %r<3>; mov.b32 %r1, %r2; }";
        text += make.laid_out(make.statement());
      }
      text += "ret; }\n";
    }
    const Module m = parse(module_text(text), "random.ptx");
    const std::string printed = print(m);
    const Module again = parse(printed, "printed.ptx");
    CHECK(difference(m, again) == "");
    CHECK(print(again) == printed);
  }
}

TEST_CASE("ptx print: offsets and literals are those that are read as the same number") {
  CHECK(offset_text(0).empty());
  CHECK(offset_text(8) == "+8");
  CHECK(offset_text(-8) == "+-8");
  CHECK(literal_text(Literal::kSigned, ~std::uint64_t{0}) == "-1");
  CHECK(literal_text(Literal::kUnsigned, ~std::uint64_t{0}) == "18446744073709551615U");
  CHECK(literal_text(Literal::kFloat32, 0x3f800000) == "0f3F800000");
  CHECK(literal_text(Literal::kFloat64, 0x3ff0000000000000) == "0d3FF0000000000000");
  std::mt19937_64 random(3);
  for (int n = 0; n < 300; ++n) {
    const std::uint64_t bits = n == 0 ? std::uint64_t{1} << 63 : random() >> random() % 64;
    const std::uint64_t sign = n % 2 == 0 ? bits : 0 - bits;
    for (const Literal literal : {Literal::kSigned, Literal::kUnsigned, Literal::kFloat64}) {
      const Operand read = immediate(literal_text(literal, sign));
      CAPTURE(literal_text(literal, sign));
      CHECK(read.bits == sign);
      CHECK((read.literal == Literal::kFloat64) == (literal == Literal::kFloat64));
    }
  }
}

TEST_CASE("ptx barriers: counted where the number alone does not say who meets") {
  const auto counted = [](const std::string& text) { return is_counted_barrier(parse_one(text)); };
  CHECK_FALSE(counted("bar.sync 0;"));
  CHECK_FALSE(counted("barrier.sync.aligned 3;"));
  CHECK(counted("bar.sync 0, 64;"));
  CHECK(counted("bar.sync %r1;"));
  CHECK(counted("bar.arrive 1, 128;"));
  CHECK_FALSE(counted("bar.red.popc.u32 %r1, 0, %p1;"));
  CHECK(counted("bar.red.popc.u32 %r1, 0, 64, %p1;"));
  CHECK(counted("bar.red.and.pred %p2, %r1, %p1;"));
}

TEST_CASE("ptx pragmas: those of a body belong to the instruction behind them") {
  const Function f = parse_kernel(
      ".pragma \"nounroll\";\nL: mov.b32 %r1, 1;\nmov.b32 %r2, 2;\n.pragma \"used_bytes_mask 0xff\";\n"
      "ld.global.b32 %r3, [%d1];");
  CHECK(has_pragma(f, 0, "nounroll"));
  CHECK_FALSE(has_pragma(f, 1, "nounroll"));
  CHECK_FALSE(has_pragma(f, 0, "nounrol"));
  CHECK(has_pragma(f, 2, "used_bytes_mask 0xff"));
  CHECK_FALSE(has_pragma(f, 2, "nounroll"));
  std::size_t pragmas = 0;
  for (const Label& l : f.labels) pragmas += is_pragma(l);
  CHECK(pragmas == 2);
  CHECK(is_pragma({pragma_label("x"), 0}));
  CHECK_FALSE(is_pragma({"x", 0}));
}

TEST_CASE("ptx lists: a list holds as many as it is said to, in order") {
  ShortList<int, 3> list;
  CHECK(list.empty());
  for (int n = 1; n <= 3; ++n) {
    CHECK_FALSE(list.full());
    list.push_back(n * n);
  }
  CHECK(list.full());
  CHECK(std::vector<int>(list.begin(), list.end()) == std::vector<int>{1, 4, 9});
  ShortList<int, 3> other;
  other.push_back(1);
  CHECK_FALSE(list == other);
  other.push_back(4);
  other.push_back(9);
  CHECK(list == other);
}

}  // namespace lockstep::ptx
