// Every error of the reader of PTX, once: its place and its words.
#include <catch2/catch.hpp>
#include <string>

#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

struct Row {
  std::string text;
  unsigned column;  // 0: anywhere
  std::string message;
};

void check(const Row& row, const std::string& found, unsigned line) {
  INFO(row.text.substr(0, 100));
  const std::string place = "bad.ptx:" + std::to_string(line) + ": column ";
  CHECK(found.substr(0, place.size()) == place);
  const std::string rest = found.substr(std::min(place.size(), found.size()));
  if (row.column == 0) {
    CHECK(rest.substr(rest.find(' ') + 1) == row.message);
  } else {
    CHECK(rest == std::to_string(row.column) + ": " + row.message);
  }
}

void check_statements(const std::vector<Row>& rows) {
  for (const Row& row : rows) check(row, parse_message(kernel_text("\n" + row.text)), 8);
}
void check_declarations(const std::vector<Row>& rows) {
  for (const Row& row : rows) check(row, parse_message(module_text(row.text)), 4);
}

std::string repeated(const std::string& text, unsigned times) {
  std::string all;
  for (unsigned i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("ptx error table: declarations in a body") {
  check_statements({
      {".reg .b32 x, x;", 14, "'x' is declared twice in this scope"},
      {".reg .b32 y<3>, y<4>;", 17, "'y' is declared twice in this scope"},
      {".local .b32 v; .local .b32 v;", 28, "'v' is declared twice in this scope"},
      {".bogus;", 1,
       "found '.bogus'; expected a statement: .reg, a variable, .loc, .pragma, a label or an instruction"},
      {"p: .callprototype _ .bogus;", 21, "found '.bogus'; expected .noreturn, .abi_preserve or ';'"},
      {".local .align 3 .b32 v;", 15, "an alignment is a power of two"},
      {".local .align 131072 .b32 v;", 15, "'131072' is above 65536, the limit of an alignment in bytes"},
      {".local .b32 .f32 v;", 13, "found '.f32'; expected a type, .align, .v2, .v4 or a name"},
      {".local .b32 v" + repeated("[1]", 17) + ";", 0, "an array of more than 16 dimensions"},
      {".local .b32 v[2][];", 0, "only the first dimension may be left open"},
      {".local .b32 v[-1];", 15, "an array's dimension is an integer from 0 to 2^40"},
      {".local .b32 v[1.5];", 15, "an array's dimension is an integer from 0 to 2^40"},
      {".local .b32 v = 1;", 15, "only .global and .const variables may have an initialiser"},
      {".local .b32 v[];", 16, "an array without a size needs an initialiser or .extern"},
      {".local .pred v;", 14, "predicates live only in registers"},
      {".local .ptr .b32 v;", 18, ".ptr belongs to kernel parameters"},
      {".local .attribute(.managed) .b32 v;", 34, "only .global variables may be managed"},
      {".local .attribute(.x) .b32 v;", 19, "found '.x'; expected .managed or .unified"},
      {".local .b32 5;", 13, "found '5'; expected a variable's name"},
      {".loc 1 2 3, elsewhere;", 13, "found 'elsewhere'; expected function_name or inlined_at"},
  });
}

TEST_CASE("ptx error table: calls") {
  check_statements({
      {"call 5;", 6, "found '5'; expected a function or a register"},
      {"call %d1, (%r1), %r2;", 18, "expected the name of a .callprototype or .calltargets before the call"},
      {"call arg, (%r1);", 1, "a call's target is a function or a register"},
      {"p: .callprototype _; call f, p;", 22, "a direct call takes no prototype"},
      {"call %d1, (%r1 %r2);", 16, "found '%r2'; expected ',' or ')'"},
      {"call f, (%r1" + repeated(", %r1", 256) + ");", 0, "too many arguments"},
      {"call %d1;", 1, "an indirect call needs a .callprototype or .calltargets"},
  });
}

TEST_CASE("ptx error table: constants") {
  check_statements({
      {"mov.u32 %r1, (.u32)5;", 15, "found '.u32'; expected .s64 or .u64"},
      {"mov.u64 %d1, (.s64)1.5;", 20, "a cast takes an integer"},
      {"mov.u64 %d1, ~1.5;", 14, "'~' takes an integer"},
      {"mov.u64 %d1, 1.5 % 2;", 18, "'%' takes integers"},
      {"mov.u64 %d1, 1 << 2.0;", 16, "'<<' takes integers"},
      {"mov.u64 %d1, 5 % 0;", 16, "division by zero"},
      {"mov.u64 %d1, 1 ? 2;", 19, "found ';'; expected ':'"},
      {"mov.f64 %d1, 1e999;", 14, "'1e999' is out of the range of f64"},
      {"mov.f64 %d1, 1.5x;", 14, "'1.5x' is not a number"},
      {"mov.u32 %r1, 0x;", 14, "'0x' is not a number"},
      {"mov.u32 %r1, 0b12;", 14, "'0b12' is not a number in base 2"},
      {"mov.u32 %r1, 0xfg;", 14, "'0xfg' is not a number in base 16"},
      {"mov.u32 %r1, 1 +;", 17, "found ';'; expected a constant"},
  });
}

TEST_CASE("ptx error table: words and operands of instructions") {
  check_statements({
      {"add" + repeated(".u32", 7) + " %r1, %r2, %r3;", 0, "this instruction has too many dotted words"},
      {"ld.v2.v4.global.b32 {%r1, %r2}, [%d1];", 7, "a second vector width in one instruction"},
      {"mma.m8n8k4.m8n8k4.sync %r1;", 12, "a second matrix shape in one instruction"},
      {"mov.b32 %r1" + repeated(", %r1", 32) + ";", 0, "more than 32 operands"},
      {"mov.b32 %r1, ,;", 14, "found ','; expected an operand"},
      {"mov.b32 %r1, %r2.zz;", 17, "found '.zz'; expected a part of the register (.b0, .h1 ...), ',' or ';'"},
      {".reg .v2 .f32 %w; mov.f32 %f1, %w.z;", 34, "found '.z'; expected a component of this register of 2"},
      {"mov.u32 %r1, %tid.q;", 18, "found '.q'; expected a component (.x, .y, .z, .w)"},
      {"ld.global.b32 %r1, [%d1+1.5];", 25, "an offset is an integer"},
      {"ld.global.b32 %r1, [;", 21, "found ';'; expected an address: a register, a name or a number"},
      {"ld.global.b32 %r1, [1.5];", 21, "an address is an integer"},
      {"ld.global.b32 %r1, [%d1 %d2];", 25, "found '%d2'; expected '+', '-', ',' or ']'"},
      {"ld.global.b32 %r1, [%d1" + repeated(", 1", 256) + "];", 0, "too many operands in these brackets"},
      {"st.global.v2.b32 [%d1], {%r1 %r2};", 30, "found '%r2'; expected ',' or '}'"},
      {"mov.b32 %r1, {%r1" + repeated(", %r1", 256) + "};", 0, "too many elements in this vector"},
      {"vmad.s32.s32.s32 %r1, -arg, %r2, %r3;", 24, "expected a register behind '-'"},
      {"@5 ret;", 2, "found '5'; expected a predicate register"},
      {"createpolicy.b64 %d1;", 1, "createpolicy.b64: a modifier is missing; there is no such instruction"},
      {"wmma.sync.aligned.m16n16k16 %r1;", 1,
       "wmma.sync.aligned.m16n16k16: a modifier is missing; there is no such instruction"},
      {"mul %r1, %r2, %r3 %r4;", 19, "found '%r4'; expected ',' or ';'"},
  });
}

TEST_CASE("ptx error table: the beginning of a module") {
  CHECK(parse_message(".version 0.5") ==
        "bad.ptx:1: column 10: PTX version 0.5 is not known; expected 1.0 to 9.9");
  CHECK(parse_message(".version 8.0 .version") ==
        "bad.ptx:1: column 14: found '.version'; expected .target behind .version");
  CHECK(parse_message(".version 8.0 .target sm_90, 5") ==
        "bad.ptx:1: column 29: found '5'; expected an option of .target");
  CHECK(parse_message(".version 8.0 .target sm_90, fast") ==
        "bad.ptx:1: column 29: unknown option of .target 'fast'");
  CHECK(parse_message(".version 8") == "bad.ptx:1: column 10: found '8'; expected a version such as 9.0");
}

TEST_CASE("ptx error table: directives and variables of modules") {
  check_declarations({
      {"bogus", 1, "found 'bogus'; expected a directive"},
      {".bogus", 1, "found '.bogus'; expected a directive of modules (.entry, .func, .global, .file ...)"},
      {".visible .file", 10, "found '.file'; expected .entry, .func or a state space"},
      {".address_size 48", 15, "an address has 32 or 64 bits"},
      {".param .b32 x;", 13, ".param variables belong to functions"},
      {".reg .b32 x;", 1, "found '.reg'; expected a state space"},
      {".func f(); .global .b32 f;", 25, "'f' is declared already, as a function"},
      {".global .b32 f; .func f();", 23, "'f' is declared already, as a variable"},
      {".extern .global .b32 x; .visible .global .b64 x;", 47, "'x' is declared differently in line 4"},
      {".extern .global .b32 x = 1;", 24, "an .extern variable may not have an initialiser"},
      {".global .f16 x = 1.0;", 0, "variables of type .f16 may not have an initialiser"},
      {".global .b32 x[2] = {1 2};", 24, "found '2'; expected ',' or '}'"},
      {".global .b8 x[2] = {3(y)};", 21,
       "expected a mask of one byte (0xFF, 0xFF00 ...) in an array of bytes"},
      {".global .b32 x = 0xff(y);", 18,
       "expected a mask of one byte (0xFF, 0xFF00 ...) in an array of bytes"},
      {".global .b16 x = y;", 18, "an address needs elements of 4 or 8 bytes, or a mask"},
      {".global .u64 x = y + 1.5;", 22, "an offset is an integer"},
      {".global .f32 x = 1;", 18, "this is no value of type .f32"},
      {".global .u32 x = 1.5;", 18, "this is no value of type .u32"},
      {".global .b32 x[1099511627777];", 16, "an array's dimension is an integer from 0 to 2^40"},
      {".global .u64 x = nowhere;", 18,
       "unknown name 'nowhere'; expected a register, a variable, a function or a parameter"},
      {".section .x { 1 ", 13, "this section does not end"},
      {".alias f, x; .global .b32 x; .func f();", 8, ".alias takes two functions"},
      {".pragma 5;", 9, "found '5'; expected a pragma in quotes"},
  });
}

TEST_CASE("ptx error table: functions") {
  std::string parameters = ".param .b32 p0";
  for (int i = 1; i <= 4096; ++i) parameters += ", .param .b32 p" + std::to_string(i);
  check_declarations({
      {".common .func f();", 1, "a function cannot be .common"},
      {".entry k(.b32 x) { }", 10, "found '.b32'; expected .param or .reg"},
      {".entry k(.reg .b32 x) { ret; }", 0, "a kernel's parameters are .param"},
      {".func f(.reg .b32 x[2]) { ret; }", 0, "a parameter in a register is one value"},
      {".func f(.param .b32 x, .param .b32 x) { ret; }", 0, "parameter 'x' is declared twice"},
      {".entry k(" + parameters + ") { ret; }", 0, "more than 4096 parameters"},
      {".extern .func f() { ret; }", 15, "an .extern function has no body"},
      {".func f() .maxntid 1, 2, 3, 4 { }", 0, "expected at most three extents"},
      {".func f() .maxnreg 4294967296 { }", 20, "'4294967296' is above 4294967295, the limit of a number"},
      {".func f() .bogus { }", 11,
       "found '.bogus'; expected a directive of functions (.maxntid ...), '{' or ';'"},
      {".func f() 5", 11, "found '5'; expected '{' or ';'"},
      {".global .b32 x; .func g() { call x; ret; }", 29, "a call's target is a function or a register"},
      {".func g() { call x; ret; } .global .b32 x;", 13, "a call's target is a function or a register"},
      {".global .b32 x; .func g() { t: .calltargets x; ret; }", 23,
       "the list 't' of this function names what is no function"},
  });
}

TEST_CASE("ptx error table: what cannot be linked") {
  const auto linked = [](const std::string& text) {
    std::vector<Module> modules;
    modules.push_back(parse(text, "a.ptx"));
    try {
      (void)link(std::move(modules));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(linked(".version 8.0 .target sm_90 .address_size 32") ==
        "a.ptx: addresses of 32 bits are not supported; expected '.address_size 64'");
  CHECK(linked(".version 8.0 .target sm_90") ==
        "a.ptx: addresses of 32 bits are not supported; expected '.address_size 64'");
  CHECK(linked(module_text(".func f(); .func g(.param .b32 x) { ret; } .alias f, g;")) ==
        "a.ptx:4: 'f' and its target differ");
}

}  // namespace lockstep::ptx
