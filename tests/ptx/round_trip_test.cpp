// Modules with every directive: printed and read again they are the same; and what linking makes of them.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

constexpr const char* kDirectives = R"(.version 8.5
.target sm_90a, texmode_independent, debug
.address_size 64
.pragma "one", "two";
.file 3 "dir/a.cu"
.visible .global .align 256 .b8 big[3];
.weak .const .v4 .f32 vectors[2] = {{1.0, 2.0, 3.0, 4.0}, {5.0}};
.common .global .s64 minimum = -9223372036854775807 - 1;
.extern .shared .align 32 .b64 dynamic[];
.global .attribute(.managed) .u32 managed;
.global .attribute(.unified(17, 19)) .u32 unified;
.global .u16 cube[2][1][3] = {{{1, 2, 3}}, {{4}}};
.global .f64 real = 0d400921FB54442D18;
.global .u64 pointers[5] = {managed, generic(cube)+6, cube-2, f, 7};
.global .b8 bytes[3] = {0xFF(cube), 1, 0xFF00(generic(managed)+4)};
.func (.param .align 16 .b8 r[32], .reg .f32 s) f(.reg .b32 x, .param .v2 .f32 y) .noreturn .abi_preserve 3
{ ret; }
.extern .func (.param .b32 r) g(.param .b64 _) .attribute(.unified(1, 2));
.func h(); .alias h, quiet;
.weak .func quiet() .abi_preserve_control 4 { exit; }
.visible .entry k(.param .u64 .ptr .shared .align 8 p, .param .u64 .ptr q, .param .align 8 .b8 s[20])
.maxntid 32, 4 .reqntid 8, 8, 2 .reqnctapercluster 2 .minnctapersm 5 .maxnctapersm 6 .maxnreg 77
.maxclusterrank 8 .explicitcluster .blocksareclusters .pragma "nounroll";
{
  .reg .pred %p; .reg .b64 %d<3>; .reg .b32 %r<4>; .reg .v2 .f32 %v;
  .shared .align 16 .b8 tile[2][8]; .local .f64 spill; .global .u32 counter = 5; .param .b32 result;
  P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]) .noreturn;
  T: .branchtargets A, B, A;
  C: .calltargets g, later;
  A: mov.u64 %d1, tile; mov.b64 %d2, counter+4;
  @!%p bra B;
  { .reg .b32 %r1; .local .b32 spill; mov.b32 %r1, -1; mov.b32 %r1, %reserved_smem_offset_1; }
  call (result), %d1, (%d2), C;
  brx.idx %r1, T;
  B: mov.f32 %v.y, 0fFF800000; ld.param.b32 %r1, [s+16]; ld.global.b32 %r2, [18446744073709551608U];
}
.func (.param .b32 r) later(.param .b64 x) { ret; }
)";

const Function& function_of(const Module& m, std::string_view name) {
  for (const Function& f : m.functions)
    if (f.name == name) return f;
  throw std::runtime_error("no such function");
}

Module module_of(const std::string& text, const std::string& name) { return parse(module_text(text), name); }

Program linked_program(std::vector<std::string> texts, const LinkOptions& options = {}) {
  std::vector<Module> modules;
  for (const std::string& text : texts)
    modules.push_back(module_of(text, std::string(1, static_cast<char>('a' + modules.size()))));
  return link(std::move(modules), options);
}

std::string link_error(std::vector<std::string> texts, const LinkOptions& options = {}) {
  try {
    (void)linked_program(std::move(texts), options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const Symbol& called(const Program& p, std::string_view function) {
  return p.functions[p.find_function(function).value()].instructions[0].operands[0].symbol;
}

}  // namespace

TEST_CASE("ptx round trip: a module with every directive is the same when printed and read again") {
  const Module m = parse(kDirectives, "all");
  const std::string printed = print(m);
  const Module again = parse(printed, "printed");
  CHECK(difference(m, again) == "");
  CHECK(print(again) == printed);
}

TEST_CASE("ptx round trip: every directive is where the text says") {
  const Module m = parse(kDirectives, "all");
  CHECK(m.options == std::vector<std::string>{"texmode_independent", "debug"});
  CHECK(m.pragmas == std::vector<std::string>{"one", "two"});
  const Directives& k = function_of(m, "k").directives;
  using Triple = std::array<std::uint32_t, 3>;
  CHECK(k.maxntid == Triple{32, 4, 1});
  CHECK(k.reqntid == Triple{8, 8, 2});
  CHECK(k.reqnctapercluster == Triple{2, 1, 1});
  CHECK(k.minnctapersm == 5);
  CHECK(k.maxnctapersm == 6);
  CHECK(k.maxnreg == 77);
  CHECK(k.maxclusterrank == 8);
  CHECK((k.explicitcluster && k.blocksareclusters && !k.noreturn));
  CHECK(function_of(m, "f").directives.noreturn);
  CHECK(function_of(m, "f").directives.abi_preserve == 3);
  CHECK(function_of(m, "quiet").directives.abi_preserve_control == 4);
  CHECK(function_of(m, "g").unified);
  CHECK_FALSE(function_of(m, "f").unified);
  const auto& p = function_of(m, "k").parameters;
  CHECK(p[0].pointer_space == Space::kShared);
  CHECK(p[0].pointer_align == 8);
  CHECK((p[1].pointer && p[1].pointer_space == Space::kGeneric));
  CHECK_FALSE(p[2].pointer);
  CHECK(p[2].offset == 16);
}

TEST_CASE("ptx round trip: sizes, alignments and bytes of variables are those that the types give") {
  struct Row {
    std::string_view name;
    std::uint64_t size;
    std::uint32_t align;
    std::vector<std::uint8_t> initial;
  };
  const Row rows[] = {
      {"big", 3, 256, {}},
      {"vectors", 32, 16, {0,    0,    0x80, 0x3f, 0,    0,    0, 0x40, 0,    0,
                           0x40, 0x40, 0,    0,    0x80, 0x40, 0, 0,    0xa0, 0x40}},
      {"minimum", 8, 8, {0, 0, 0, 0, 0, 0, 0, 0x80}},
      {"dynamic", 0, 32, {}},
      {"cube", 12, 2, {1, 0, 2, 0, 3, 0, 4, 0}},
      {"real", 8, 8, {0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40}},  // pi
      {"k$counter$10", 4, 4, {5, 0, 0, 0}},  // in the body of k: the eleventh of the module
  };
  const Module m = parse(kDirectives, "all");
  for (const Row& row : rows) {
    INFO(row.name);
    const auto found = std::find_if(m.variables.begin(), m.variables.end(),
                                    [&](const Variable& v) { return v.name == row.name; });
    REQUIRE(found != m.variables.end());
    CHECK(found->size == row.size);
    CHECK(found->align == row.align);
    CHECK(found->initial == row.initial);
  }
}

TEST_CASE("ptx linker: an alias of an alias, in another module, is the function that both name") {
  const Program p = linked_program({".visible .entry k() { call f; ret; } .extern .func f();",
                                    ".visible .func f(); .visible .func g(); .visible .func body() { ret; }\n"
                                    ".alias f, g; .alias g, body;"});
  CHECK(called(p, "k").id == p.find_function("body"));
  CHECK(p.find_function("f") == p.find_function("body"));
  CHECK(p.find_function("g") == p.find_function("body"));
}

TEST_CASE("ptx linker: lists of call targets name functions of the program") {
  const std::string kernel =
      ".extern .func f(); .func g() { ret; } .visible .entry k() { .reg .b64 d; C: .calltargets g, f;\n"
      "call d, C; ret; }";
  const Program p =
      linked_program({".func g() { ret; } .func unused() { ret; }", kernel, ".visible .func f() { ret; }"});
  const Function& k = p.functions[p.find_function("k").value()];
  REQUIRE(k.call_tables[0].functions.size() == 2);
  CHECK(p.functions[k.call_tables[0].functions[0].id].module == 1);  // its own g
  CHECK(k.call_tables[0].functions[1].id == p.find_function("f"));
  CHECK(link_error({kernel}) == "a:4: column 55: function 'f' is used here and defined in no module");
}

TEST_CASE("ptx linker: what has no linkage is not found by other modules") {
  CHECK(link_error({".extern .func f();\n.visible .entry k() { call f; ret; }", ".func f() { ret; }"}) ==
        "a:5: column 23: function 'f' is used here and defined in no module");
  CHECK(link_error({".extern .global .b32 v; .visible .global .u64 p = v;", ".global .b32 v;"}) ==
        "a:4: column 47: variable 'v' is used here and defined in no module");
}

TEST_CASE("ptx linker: only what the caller names is provided by the runtime") {
  const std::string text = ".extern .func own();\n.visible .entry k() { call own; ret; }";
  constexpr std::string_view kOwn[] = {"own"};
  CHECK(link_error({text}, {.provided = kOwn}) == "no error");
  CHECK(link_error({text}, {.provided = {}}) ==
        "a:5: column 23: function 'own' is used here and defined in no module");
}

TEST_CASE("ptx linker: a weak function gives way to a strong one, of several the first remains") {
  const std::string weak = ".weak .func f() { ret; }", strong = ".visible .func f() { exit; }",
                    call = ".extern .func f(); .visible .entry k() { call f; ret; }";
  const auto module_of_f = [&](std::vector<std::string> texts) {
    const Program p = linked_program(std::move(texts));
    CHECK(called(p, "k").id == p.find_function("f"));
    return p.functions[p.find_function("f").value()].module;
  };
  CHECK(module_of_f({call, weak, strong}) == 2);
  CHECK(module_of_f({call, strong, weak}) == 1);
  CHECK(module_of_f({weak, call, weak}) == 0);
  CHECK(link_error({".visible .entry f() { ret; }", ".visible .func f() { ret; }"}) ==
        "b:4: 'f' is declared differently in a:4");
}

}  // namespace lockstep::ptx
