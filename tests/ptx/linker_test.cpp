// External names across modules.
#include "ptx/linker.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "paths.hpp"
#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

Program link_texts(const std::vector<std::string>& texts) {
  std::vector<Module> modules;
  for (const std::string& text : texts)
    modules.push_back(
        parse(module_text(text), std::string(1, static_cast<char>('a' + modules.size())) + ".ptx"));
  return link(std::move(modules));
}

std::string message(const std::vector<std::string>& texts) {
  try {
    (void)link_texts(texts);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const Operand& operand(const Program& p, std::string_view function, std::size_t instruction,
                       std::size_t index) {
  return p.functions[*p.find_function(function)].instructions[instruction].operands[index];
}

}  // namespace

TEST_CASE("ptx linker: functions and variables of other modules are found") {
  const Program p = link_texts(
      {".func unused() { ret; } .extern .func f(.param .b32 x); .extern .global .b32 v;\n"
       ".visible .entry k() { .reg .b32 r; .param .b32 a; call f, (a); ld.global.b32 r, [v+4]; ret; }",
       ".global .b32 own; .visible .global .b32 v = 5; .visible .func f(.param .b32 x) { ret; }"});
  CHECK(operand(p, "k", 0, 0).symbol.id == *p.find_function("f"));
  CHECK(p.functions[*p.find_function("f")].has_body);
  CHECK(p.functions[*p.find_function("f")].module == 1);
  CHECK(operand(p, "k", 1, 1).symbol.id == *p.find_variable("v"));
  CHECK(operand(p, "k", 1, 1).offset == 4);
  CHECK(p.variables[*p.find_variable("v")].initial == std::vector<std::uint8_t>{5, 0, 0, 0});
  CHECK(p.modules[1].name == "b.ptx");
}

TEST_CASE("ptx linker: names without linkage stay private") {
  const std::string text =
      ".global .b32 v = 1; .func f() { ret; } .visible .entry K() { .reg .b64 d; call f; "
      "mov.u64 d, v; ret; }";
  std::string first = text, second = text;
  first.replace(first.find('K'), 1, "k1");
  second.replace(second.find('K'), 1, "k2");
  const Program p = link_texts({first, second});
  CHECK(operand(p, "k1", 0, 0).symbol.id != operand(p, "k2", 0, 0).symbol.id);
  CHECK(operand(p, "k1", 1, 1).symbol.id != operand(p, "k2", 1, 1).symbol.id);
}

TEST_CASE("ptx linker: initialisers point to the program's objects") {
  const Program p = link_texts(
      {".visible .global .b32 x; .visible .func f() { ret; }",
       ".extern .global .b32 x; .extern .func f(); .visible .global .u64 t[2] = {f, generic(x)};"});
  const Variable& t = p.variables[*p.find_variable("t")];
  CHECK(t.relocations[0].symbol == Symbol{SymbolKind::kFunction, *p.find_function("f")});
  CHECK(t.relocations[1].symbol == Symbol{SymbolKind::kVariable, *p.find_variable("x")});
}

TEST_CASE("ptx linker: weak, strong and common") {
  const auto first = [](const Program& p) { return p.variables[*p.find_variable("v")].initial[0]; };
  CHECK(first(link_texts({".weak .global .b32 v = 1;", ".visible .global .b32 v = 2;"})) == 2);
  CHECK(first(link_texts({".visible .global .b32 v = 2;", ".weak .global .b32 v = 1;"})) == 2);
  CHECK(first(link_texts({".weak .global .b32 v = 1;", ".weak .global .b32 v = 3;"})) == 1);
  const Program common = link_texts({".common .global .b32 v[2];", ".common .global .b32 v[5];"});
  CHECK(common.variables[*common.find_variable("v")].size == 20);
  CHECK(message({".visible .global .b32 v;", ".visible .global .b32 v;"}) ==
        "b.ptx:4: 'v' is defined already in a.ptx:4");
  CHECK(message({".visible .func f() { ret; }", "\n.visible .func f() { ret; }"}) ==
        "b.ptx:5: 'f' is defined already in a.ptx:4");
}

TEST_CASE("ptx linker: of common and other definitions the one that nvlink takes is taken") {
  // Seen with ptxas -c and nvlink of CUDA 13.0: the value that v has, and which pairs are refused.
  struct Row {
    const char *first, *second;
    int value;  // -1: an error
  };
  const Row rows[] = {
      {".common .global .b32 v;", ".common .global .b32 v = 5;", 5},
      {".common .global .b32 v = 5;", ".common .global .b32 v;", 5},
      {".common .global .b32 v;", ".visible .global .b32 v = 5;", 5},
      {".visible .global .b32 v = 5;", ".common .global .b32 v;", 5},
      {".weak .global .b32 v = 5;", ".common .global .b32 v;", 5},
      {".extern .global .b32 v;", ".common .global .b32 v = 5;", 5},
      {".common .global .f32 v;", ".common .global .u32 v = 5;", 5},
      {".common .global .b64 v = 5;", ".common .global .b32 v;", 5},
      {".common .global .b32 v = 5;", ".common .global .b32 v[4];", -1},
      {".common .global .b32 v[4];", ".common .global .b32 v = 5;", -1},
      {".visible .global .b32 v = 5;", ".common .global .b32 v[4];", -1},
      {".common .global .b32 v = 5;", ".common .global .b32 v = 6;", -1},
      {".common .global .b32 v = 5;", ".visible .global .b32 v = 6;", -1},
      {".weak .global .b32 v = 1;", ".weak .global .b32 v[2] = {7, 8};", -1},
  };
  for (const Row& row : rows) {
    INFO(row.first << " " << row.second);
    if (row.value < 0) {
      CHECK(message({row.first, row.second}) != "no error");
      continue;
    }
    const Program p = link_texts({row.first, row.second});
    const Variable& v = p.variables[*p.find_variable("v")];
    REQUIRE(v.initial.size() >= 4);
    CHECK(v.initial[0] == row.value);
  }
  CHECK(message({".common .global .b32 v = 5;", ".common .global .b32 v[4];"}) ==
        "b.ptx:4: 'v' has 16 bytes and 4 in a.ptx:4; expected a definition as large as its largest .common "
        "declaration");
}

TEST_CASE("ptx linker: dynamic shared memory needs no definition and is one array") {
  const Program p =
      link_texts({".extern .shared .align 4 .b8 s[]; .entry a() { .reg .b32 r; mov.u32 r, s; }",
                  ".extern .shared .align 16 .f32 s[]; .entry b() { .reg .b32 r; mov.u32 r, s; }"});
  CHECK(operand(p, "a", 0, 1).symbol == operand(p, "b", 0, 1).symbol);
  CHECK(p.variables[*p.find_variable("s")].align == 16);
}

TEST_CASE("ptx linker: aliases") {
  const Program p = link_texts({".visible .func g() { ret; } .visible .func f(); .alias f, g;",
                                ".extern .func f(); .visible .entry k() { call f; ret; }"});
  CHECK(operand(p, "k", 0, 0).symbol.id == *p.find_function("g"));
  CHECK(p.find_function("f") == p.find_function("g"));
  CHECK(message({".func f(); .func g(); .alias f, g; .alias g, f; .entry k() { call f; ret; }"})
            .find("this alias names itself") != std::string::npos);
}

TEST_CASE("ptx linker: what the runtime provides needs no body, all else does where it is used") {
  CHECK(
      message(
          {".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a); .entry k() { .param .b64 f; "
           ".param .b64 a; .param .b32 r; call (r), vprintf, (f, a); ret; }"}) == "no error");
  CHECK(message({".extern .func nobody(); .extern .global .b32 nothing; .entry k() { ret; }"}) == "no error");
  CHECK(message({".extern .func nobody();\n.entry k() { call nobody; ret; }"}) ==
        "a.ptx:5: column 14: function 'nobody' is used here and defined in no module");
  CHECK(
      message(
          {".extern .global .b32 nothing;\n.entry k() { .reg .b32 r; ld.global.b32 r, [nothing]; ret; }"}) ==
      "a.ptx:5: column 27: variable 'nothing' is used here and defined in no module");
}

TEST_CASE("ptx linker: declarations must agree with the definition") {
  CHECK(message({".extern .func f(.param .b32 x);", ".visible .func f(.param .b64 x) { ret; }"}) ==
        "b.ptx:4: 'f' is declared differently in a.ptx:4");
  CHECK(message({".extern .global .b32 v;", ".visible .const .b32 v;"}) ==
        "b.ptx:4: 'v' is declared differently in a.ptx:4");
  CHECK(message({".extern .global .b32 v[3];", ".visible .global .b32 v[4];"}) ==
        "b.ptx:4: 'v' is declared differently in a.ptx:4");
  CHECK(message({".extern .global .b32 v[];", ".visible .global .b32 v[4];"}) == "no error");
  CHECK(message({".extern .global .b64 v[];", ".visible .global .b32 v[4];"}) ==
        "b.ptx:4: 'v' is declared differently in a.ptx:4");
  // An array of a class whose definition has pointers: what nvcc 13.0 writes for NCCL's table of functions.
  CHECK(message({".extern .global .align 8 .b8 v[];", ".visible .global .align 8 .u64 v[2] = {1, 2};"}) ==
        "no error");
  CHECK(message({".extern .global .align 8 .b8 v[16];", ".visible .global .align 8 .u64 v[3];"}) ==
        "b.ptx:4: 'v' is declared differently in a.ptx:4");
}

TEST_CASE("ptx linker: modules of nvcc's separate compilation") {
  const auto module = [](const std::string& name) {
    return parse_file(LOCKSTEP_SOURCE_DIR "/tests/ptx/data/rdc/" + name + ".ptx");
  };
  std::vector<Module> modules{module("uses"), module("defines"), module("statics")};
  const Program p = link(std::move(modules));
  const std::uint32_t helper = *p.find_function("_Z6helperfi");
  CHECK(p.functions[helper].module == 1);
  CHECK(p.variables[*p.find_variable("chosen")].relocations.at(0).symbol ==
        Symbol{SymbolKind::kFunction, helper});
  CHECK(p.variables[*p.find_variable("counter")].initial == std::vector<std::uint8_t>{3, 0, 0, 0});
  std::size_t twice = 0, secrets = 0, bodies = 0;
  for (const Function& f : p.functions) {
    twice += f.name.find("twice") != std::string::npos;
    bodies += f.has_body;
  }
  for (const Variable& v : p.variables) secrets += v.name.find("secret") != std::string::npos;
  CHECK(twice == 1);  // weak in two modules
  CHECK(secrets == 2);
  CHECK(bodies == 5);
  CHECK_THROWS_WITH(link({module("uses")}),
                    Catch::Contains("'_Z6helperfi' is used here and defined in no module"));
}

}  // namespace lockstep::ptx
