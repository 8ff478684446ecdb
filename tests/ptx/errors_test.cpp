// Bad PTX: one message with file, line, column, what was found and what was expected; never a crash.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "ptx/control_flow.hpp"
#include "ptx/linker.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

std::string in_kernel(const std::string& statements) { return parse_message(kernel_text("\n" + statements)); }
std::string in_module(const std::string& text) { return parse_message(module_text(text)); }

/// Everything that reads bytes, on these bytes; only UserError may come out.
void use_all(const std::string& text) {
  try {
    Module m = parse(text, "bytes");
    (void)print(m);
    for (const Function& f : m.functions) (void)Liveness(f, ControlFlow(f)).max_pressure();
    std::vector<Module> modules;
    modules.push_back(std::move(m));
    (void)link(std::move(modules));
  } catch (const UserError&) {
  }
}

std::string mutated(std::string text, std::mt19937_64& random) {
  for (auto changes = 1 + random() % 4; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random() % text.size(), from = random() % text.size();
    const std::size_t length = 1 + random() % std::min<std::size_t>(40, text.size() - from);
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 20);
        break;
      case 2:
        text.insert(at, text.substr(from, length));
        break;
      case 3:
        text.insert(at, 1, "{}[]()<>,;:@!|.\"%-_0"[random() % 20]);
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("ptx errors: place, token and what was expected") {
  CHECK(in_kernel("ad.s32 %r1, %r2, %r3;") ==
        "bad.ptx:8: column 1: unknown instruction 'ad'; did you mean 'add'?");
  CHECK(in_kernel("  ld.golbal.u32 %r1, [%d1];") ==
        "bad.ptx:8: column 6: unknown modifier '.golbal'; did you mean 'global'?");
  CHECK(in_kernel("quux %r1;") == "bad.ptx:8: column 1: unknown instruction 'quux'");
  CHECK(in_kernel("add.s32 %r1, %r2 %r3;") == "bad.ptx:8: column 18: found '%r3'; expected ',' or ';'");
  CHECK(in_kernel("add.s32 %r1, %zz, 1;") ==
        "bad.ptx:8: column 14: unknown register '%zz'; expected one that is declared");
  CHECK(in_kernel("add.s32 %r1, %r100, 1;") ==
        "bad.ptx:8: column 14: unknown register '%r100'; expected one that is declared");
  CHECK(in_kernel("mov.u64 %d1, nothing;") ==
        "bad.ptx:8: column 14: unknown name 'nothing'; expected a register, a variable, a function or a "
        "parameter");
  CHECK(in_kernel("bra NOWHERE;") ==
        "bad.ptx:8: column 5: unknown label 'NOWHERE'; expected one of this function");
  CHECK(in_kernel("L: L: ret;") == "bad.ptx:8: column 4: label 'L' is defined twice in this scope");
  CHECK(in_kernel("@%r1 ret;") == "bad.ptx:8: column 2: found '%r1'; expected a predicate register");
  CHECK(in_kernel("mov.u32 %r1, 08;") == "bad.ptx:8: column 14: '08' is not a number in base 8");
  CHECK(in_kernel("mov.u32 %r1, 12ab;") == "bad.ptx:8: column 14: '12ab' is not a number in base 10");
  CHECK(in_kernel("mov.f32 %f1, 0f3F8;") ==
        "bad.ptx:8: column 14: '0f3F8' has 3 hexadecimal digits; expected 8 after 0f, 16 after 0d");
  CHECK(in_kernel("mov.u64 %d1, 0x10000000000000000;") ==
        "bad.ptx:8: column 14: '0x10000000000000000' needs more than 64 bits");
  CHECK(in_kernel("mov.u64 %d1, 1/0;") == "bad.ptx:8: column 15: division by zero");
  CHECK(in_kernel("ld.global.u32 %r1, [%tid.x];").find("cannot be an address") != std::string::npos);
  CHECK(in_kernel("call %d1, (%r1);").find("needs a .callprototype") != std::string::npos);
  CHECK(in_kernel("brx.idx %r1, %r2;").find(".branchtargets") != std::string::npos);
  CHECK(in_kernel("add.s32;") ==
        "bad.ptx:8: column 1: add.s32 has 0 operands; expected register, value, value");
  CHECK(
      in_kernel("@%p2 wgmma.sync.aligned ;") ==
      "bad.ptx:8: column 1: wgmma.sync.aligned has 0 operands; expected registers, values, value, predicate, "
      "constant, constant");
  CHECK(in_kernel("st.global.v2.u32 [%d1], %r1;") ==
        "bad.ptx:8: column 1: operand 2 of st.global.v2.u32 is a register; expected {2 values}");
  CHECK(in_kernel("st.global.v2.u32 [%d1], {%r1, _};") ==
        "bad.ptx:8: column 1: operand 2 of st.global.v2.u32 is a vector of 2 with '_'; expected {2 values}");
  CHECK(in_kernel("add.s32 5, %r1, %r2;") ==
        "bad.ptx:8: column 1: operand 1 of add.s32 is a constant; expected register");
  CHECK(in_kernel("bar.sync 0, 32, 5;") ==
        "bad.ptx:8: column 1: bar.sync has 3 operands; expected value, value (may be left out)");
  CHECK(in_kernel("/* no end") == "bad.ptx:8: column 1: this comment does not end");
  CHECK(in_kernel(".pragma \"no end\n;") == "bad.ptx:8: column 9: this string does not end on its line");
  CHECK(in_kernel("mov.u32 %r1, \x01;") == "bad.ptx:8: column 14: '?' begins no PTX token");
  CHECK(in_kernel("{ ret;").find("found the end of the text; expected a statement") != std::string::npos);
}

TEST_CASE("ptx errors: modules") {
  CHECK(parse_message("") ==
        "bad.ptx:1: column 1: found the end of the text; expected .version as the first directive");
  CHECK(parse_message(".version 12.0") == "bad.ptx:1: column 10: expected a version such as 9.0");
  CHECK(parse_message(".version 8.0 .target compute_75") ==
        "bad.ptx:1: column 22: expected a target such as sm_75");
  CHECK(in_module(".global .b32 x; .global .b32 x;") ==
        "bad.ptx:4: column 30: 'x' is declared already in line 4");
  CHECK(in_module(".func f() { ret; } .func f() { ret; }") ==
        "bad.ptx:4: column 26: 'f' is defined already in line 4");
  CHECK(in_module(".func f(.param .b32 a); .func f(.param .b64 a) { ret; }") ==
        "bad.ptx:4: column 31: 'f' is declared differently in line 4");
  CHECK(in_module(".shared .b32 x = 4;").find("only .global and .const") != std::string::npos);
  CHECK(in_module(".global .b32 x[2] = {1, 2, 3};").find("more than 2 values") != std::string::npos);
  CHECK(in_module(".global .f32 x = 1;").find("no value of type .f32") != std::string::npos);
  CHECK(in_module(".global .b16 x = y;").find("4 or 8 bytes") != std::string::npos);
  CHECK(in_module(".global .b32 x[4294967296][4294967296];").find("2^40") != std::string::npos);
  CHECK(in_module(".global .align 3 .b32 x;").find("power of two") != std::string::npos);
  CHECK(in_module(".global x;").find("a type is missing") != std::string::npos);
  CHECK(in_module(".global .b8 x[1000000000][1] = {{1},{1}};").find("no error") != std::string::npos);
  CHECK(in_module(".global .b8 x[2][1000000000] = {{1},{1}};").find("256 MiB") != std::string::npos);
  CHECK(in_module(".alias f, g; .func f() { ret; } .func g() { ret; }").find("has a body") !=
        std::string::npos);
}

TEST_CASE("ptx errors: nesting is limited, and deep text takes no stack") {
  const std::string open(300, '{');
  CHECK(in_kernel(open).find("nested more than 256 deep") != std::string::npos);
  CHECK(in_kernel("mov.u32 %r1, " + std::string(100'000, '(')).find("too deeply") != std::string::npos);
  CHECK(in_kernel("mov.u32 %r1, " + std::string(100'000, '-')).find("too deeply") != std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  CHECK(in_kernel("mov.u32 %r1, " + sum + ";") == "no error");
  CHECK(in_module(".global .b32 x" + std::string(100, '[')).find("found") != std::string::npos);
}

TEST_CASE("ptx errors: a huge declared range costs nothing") {
  CHECK(in_kernel(".reg .b32 %big<4294967296>; mov.u32 %big4294967295, 1;") == "no error");
  CHECK(in_kernel(".reg .b32 %big<4294967297>;").find("above 4294967296") != std::string::npos);
}

TEST_CASE("ptx errors: damaged files end in an error or in a module, never otherwise") {
  std::mt19937_64 random(4);
  for (const auto& path : sample_files()) {
    const std::string text = read_text(path);
    for (int round = 0; round < 30; ++round) use_all(mutated(text, random));
  }
}

}  // namespace lockstep::ptx
