// Random modules that share names: what each name of each module stands for after linking, against a search
// through the modules.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

constexpr unsigned kNames = 4;

enum class Role { kAbsent, kExtern, kInternal, kVisible, kWeak };

/// roles[module][name]; functions and variables have names of their own.
using Roles = std::vector<std::vector<Role>>;

Roles random_roles(std::mt19937& random, unsigned modules) {
  Roles roles(modules, std::vector<Role>(kNames));
  for (auto& of_module : roles)
    for (Role& role : of_module) {
      const auto roll = static_cast<unsigned>(random() % 10);
      role = roll < 4   ? Role::kAbsent
             : roll < 5 ? Role::kExtern
             : roll < 7 ? Role::kInternal
             : roll < 8 ? Role::kVisible
                        : Role::kWeak;
    }
  return roles;
}

/// The module whose definition module `user` sees under a name. Nothing: there is none. `twice`: two modules
/// have a strong one.
std::optional<unsigned> defining_module(const Roles& roles, unsigned user, unsigned name, bool& twice) {
  if (roles[user][name] == Role::kInternal) return user;
  std::optional<unsigned> strong, weak;
  for (unsigned m = 0; m < roles.size(); ++m) {
    if (roles[m][name] == Role::kVisible) twice |= strong.has_value(), strong = m;
    if (roles[m][name] == Role::kWeak && !weak) weak = m;
  }
  return strong ? strong : weak;
}

/// Functions and variables know their module by a number.
std::string text_of_module(const Roles& functions, const Roles& variables, unsigned m) {
  static const char* const kWords[] = {"", ".extern ", "", ".visible ", ".weak "};
  std::string text;
  std::string uses;
  for (unsigned n = 0; n < kNames; ++n) {
    if (const Role role = variables[m][n]; role != Role::kAbsent) {
      text += fmt::format("{}.global .b32 v{}{};\n", kWords[static_cast<int>(role)], n,
                          role == Role::kExtern ? "" : fmt::format(" = {}", 100 + m));
      uses += fmt::format("ld.global.b32 r, [v{}];\n", n);
    }
    if (const Role role = functions[m][n]; role != Role::kAbsent) {
      const std::string body =
          role == Role::kExtern ? ";" : fmt::format(" {{ .reg .b32 r; mov.b32 r, {}; ret; }}", 100 + m);
      text += fmt::format("{}.func f{}(){}\n", kWords[static_cast<int>(role)], n, body);
      uses += fmt::format("call f{};\n", n);
    }
  }
  return module_text(text + fmt::format(".visible .entry k{}() {{\n.reg .b32 r;\n{}ret;\n}}\n", m, uses));
}

/// The names that module m uses, in the order of its kernel's statements.
struct NamedUse {
  bool function = false;
  unsigned name = 0;
};
std::vector<NamedUse> uses_of(const Roles& functions, const Roles& variables, unsigned m) {
  std::vector<NamedUse> all;
  for (unsigned n = 0; n < kNames; ++n) {
    if (variables[m][n] != Role::kAbsent) all.push_back({false, n});
    if (functions[m][n] != Role::kAbsent) all.push_back({true, n});
  }
  return all;
}

}  // namespace

TEST_CASE(
    "ptx linker: names of random modules stand for the strong definition, the first weak one, or their own") {
  std::size_t linked = 0, twice_defined = 0, undefined = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    const auto count = static_cast<unsigned>(1 + random() % 4);
    const Roles functions = random_roles(random, count), variables = random_roles(random, count);
    bool twice = false, missing = false;
    for (unsigned m = 0; m < count; ++m)
      for (const NamedUse& use : uses_of(functions, variables, m))
        missing |= !defining_module(use.function ? functions : variables, m, use.name, twice);
    for (unsigned n = 0; n < kNames; ++n)  // also names that no kernel uses but by their own definitions
      for (const Roles* roles : {&functions, &variables}) {
        unsigned strong = 0;
        for (unsigned m = 0; m < count; ++m) strong += (*roles)[m][n] == Role::kVisible;
        twice |= strong > 1;
      }
    std::vector<Module> modules;
    for (unsigned m = 0; m < count; ++m)
      modules.push_back(parse(text_of_module(functions, variables, m), fmt::format("m{}.ptx", m)));
    CAPTURE(seed, count, twice, missing);
    std::string error;
    Program p;
    try {
      p = link(std::move(modules));
    } catch (const InputError& e) {
      error = e.what();
    }
    if (twice) {
      REQUIRE(error.find("is defined already in") != std::string::npos);
      ++twice_defined;
      continue;
    }
    if (missing) {
      REQUIRE(error.find("is used here and defined in no module") != std::string::npos);
      ++undefined;
      continue;
    }
    REQUIRE(error.empty());
    for (unsigned m = 0; m < count; ++m) {
      const Function& k = p.functions[p.find_function(fmt::format("k{}", m)).value()];
      const auto uses = uses_of(functions, variables, m);
      REQUIRE(k.instructions.size() == uses.size() + 1);
      for (std::size_t n = 0; n < uses.size(); ++n) {
        const Roles& roles = uses[n].function ? functions : variables;
        const unsigned expected = 100 + defining_module(roles, m, uses[n].name, twice).value();
        if (uses[n].function) {
          const Function& f = p.functions[k.instructions[n].operands[0].symbol.id];
          CHECK(f.name == fmt::format("f{}", uses[n].name));
          CHECK(f.instructions.at(0).operands.at(1).bits == expected);
          CHECK(f.module == expected - 100);
        } else {
          const Variable& v = p.variables[k.instructions[n].operands[1].symbol.id];
          CHECK(v.name == fmt::format("v{}", uses[n].name));
          CHECK(v.initial.at(0) == expected);
        }
      }
    }
    ++linked;
  }
  CHECK(linked > 100);
  CHECK(twice_defined > 50);
  CHECK(undefined > 100);
}

}  // namespace lockstep::ptx
