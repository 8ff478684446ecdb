// Where a word is missing: its place, what stands there, and what was expected.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

struct Missing {
  const char* text;
  unsigned column;
  const char* message;
};

void check_missing(const std::vector<Missing>& rows, unsigned line, bool in_kernel) {
  for (const Missing& row : rows) {
    INFO(row.text);
    const std::string message =
        parse_message(in_kernel ? kernel_text("\n" + std::string(row.text)) : module_text(row.text));
    CHECK(message ==
          "bad.ptx:" + std::to_string(line) + ": column " + std::to_string(row.column) + ": " + row.message);
  }
}

}  // namespace

TEST_CASE("ptx expected: words of statements") {
  check_missing(
      {
          {"bra 5;", 5, "found '5'; expected a label"},
          {"T: .branchtargets 5;", 19, "found '5'; expected a label"},
          {"C: .calltargets 5;", 17, "found '5'; expected a function"},
          {"P: .callprototype 5;", 19, "found '5'; expected '_'"},
          {"P: .callprototype _ .abi_preserve x;", 35, "found 'x'; expected a number of registers"},
          {"P: .callprototype _ .abi_preserve 256;", 35,
           "'256' is above 255, the limit of a number of registers"},
          {".reg .b32 5;", 11, "found '5'; expected a register's name"},
          {".reg .b32 x<y>;", 13, "found 'y'; expected a number of registers"},
          {".reg .b32 x<4;", 14, "found ';'; expected '>'"},
          {".reg .b32 x y;", 13, "found 'y'; expected ';'"},
          {".reg x;", 6, "a type is missing in this declaration"},
          {".loc x 1 1", 6, "found 'x'; expected a file's number"},
          {".loc 1 x 1", 8, "found 'x'; expected a line"},
          {".loc 1 1 x", 10, "found 'x'; expected a column"},
          {".loc 1 4294967296 1", 8, "'4294967296' is above 4294967295, the limit of a line"},
          {".loc 1 1 1, 5", 13, "found '5'; expected function_name or inlined_at"},
          {".loc 1 1 1, function_name 5", 27, "found '5'; expected a label"},
          {".loc 1 1 1, function_name L+x", 29, "found 'x'; expected an offset"},
          {".local .align x .b32 v;", 15, "found 'x'; expected an alignment in bytes"},
          {".local .attribute .b32 v;", 19, "found '.b32'; expected '('"},
          {"@!5 ret;", 3, "found '5'; expected a predicate register"},
          {"@%p1 5;", 6, "found '5'; expected a statement"},
          {"5;", 1, "found '5'; expected a statement"},
          {"call (%r1) f;", 12, "found 'f'; expected ','"},
          {"mov.u32 %r1, (5;", 16, "found ';'; expected ')'"},
          {"mov.u32 %r1, (.s64 5;", 20, "found '5'; expected ')'"},
      },
      8, true);
}

TEST_CASE("ptx expected: words of directives of modules") {
  check_missing(
      {
          {".file x \"a\"", 7, "found 'x'; expected a file's number"},
          {".file \"x\"", 7, "found the string 'x'; expected a file's number"},
          {".file 1 x", 9, "found 'x'; expected a file's name in quotes"},
          {".file 1 \"a\", x", 14, "found 'x'; expected a time"},
          {".file 1 \"a\", 1 2", 16, "found '2'; expected ','"},
          {".file 1 \"a\", 1, x", 17, "found 'x'; expected a size"},
          {".alias", 7, "found the end of the text; expected the alias"},
          {".alias 5, f;", 8, "found '5'; expected the alias"},
          {".alias f 5;", 10, "found '5'; expected ','"},
          {".alias f, 5;", 11, "found '5'; expected the function that it names"},
          {".section x { }", 10, "found 'x'; expected a section's name"},
          {".section .x 5", 13, "found '5'; expected '{'"},
          {".address_size x", 15, "found 'x'; expected 32 or 64"},
          {".address_size 65", 15, "an address has 32 or 64 bits"},
          {".version 8.0", 1,
           "found '.version'; expected a directive of modules (.entry, .func, .global, .file ...)"},
          {".visible 5", 10, "found '5'; expected .entry, .func or a state space"},
      },
      4, false);
}

TEST_CASE("ptx expected: words of functions and variables") {
  check_missing(
      {
          {".func 5;", 7, "found '5'; expected a function's name"},
          {".func f(.param .b32 5);", 21, "found '5'; expected a parameter's name"},
          {".func f(.param .b32 x .param .b32 y);", 23, "found '.param'; expected ')'"},
          {".func f() .maxntid x;", 20, "found 'x'; expected an extent"},
          {".func f() .maxnreg x;", 20, "found 'x'; expected a number"},
          {".global .attribute(.unified(x, 2)) .b32 v;", 29,
           "found 'x'; expected the first half of a 128-bit identifier"},
          {".global .attribute(.unified(1, x)) .b32 v;", 32,
           "found 'x'; expected the second half of a 128-bit identifier"},
          {".global .u64 x = generic(5);", 26, "found '5'; expected a variable's name"},
          {".global .b8 x[1] = {0xFF(5)};", 26, "found '5'; expected a variable's or function's name"},
          {".global .b32 x[2][2] = {{1, 2, 3}};", 32, "more than 2 values for this dimension"},
          {".global .b32 x[2] = 5;", 21, "found '5'; expected '{'"},
          {".global .b32 x = {1, 2};", 20, "found ','; expected '}'"},
          {".global .b32 x y;", 16, "found 'y'; expected ';'"},
          {".global .b32 x[2;", 17, "found ';'; expected ']'"},
      },
      4, false);
}

TEST_CASE("ptx expected: what is found is shown up to 40 characters, without control characters") {
  const std::string forty(40, 'a');
  CHECK(parse_message(module_text(forty)) ==
        "bad.ptx:4: column 1: found '" + forty + "'; expected a directive");
  CHECK(parse_message(module_text(forty + "b")) ==
        "bad.ptx:4: column 1: found '" + forty + "...'; expected a directive");
  CHECK(parse_message(module_text(".file 1 \"a\" \"tab\there\"")) ==
        "bad.ptx:4: column 13: found the string 'tab?here'; expected a directive");
}

TEST_CASE("ptx expected: lines are counted through comments and all sorts of line ends, columns from 1") {
  CHECK(parse_message(module_text("\n\n  bogus")).starts_with("bad.ptx:6: column 3: "));
  CHECK(parse_message(module_text("// one\r\nbogus")).starts_with("bad.ptx:5: column 1: "));
  CHECK(parse_message(module_text("/* one\n two\n */ bogus")).starts_with("bad.ptx:6: column 5: "));
  CHECK(parse_message(module_text("/**/ /***/\t/*/ */bogus")).starts_with("bad.ptx:4: column 18: "));
  CHECK(parse_message(module_text("// no end: bogus")) == "no error");
}

TEST_CASE("ptx expected: a file that cannot be read is named") {
  CHECK_THROWS_WITH(parse_file("/nonexistent/x.ptx"), "/nonexistent/x.ptx: cannot be read as PTX text");
}

}  // namespace lockstep::ptx
