// Names in nested scopes, against tables that are kept scope by scope.
#include "ptx/scopes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep::ptx {
namespace {

/// A register or a range of them as the reference keeps it.
struct Range {
  std::string name;
  std::uint64_t count = 0;  // 0: the one register `name`
  int number = 0;           // of the declaration
  Type type{};
};

/// The declaration that holds a name and the name's number in it: scope by scope from the innermost,
/// registers of their own name before ranges. Nothing where two ranges of one scope hold it.
struct Found {
  int declaration = -1;
  std::uint64_t number = 0;
  Type type{};
  bool ambiguous = false;
};

std::optional<std::uint64_t> number_in(const Range& range, const std::string& name) {
  if (range.count == 0 || !name.starts_with(range.name) || name.size() == range.name.size())
    return std::nullopt;
  const std::string digits = name.substr(range.name.size());
  const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!all || (digits.size() > 1 && digits[0] == '0') || digits.size() > 9) return std::nullopt;
  const std::uint64_t number = std::stoull(digits);
  return number < range.count ? std::optional(number) : std::nullopt;
}

Found found_in(const std::vector<std::vector<Range>>& scopes, const std::string& name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    Found found;
    for (const Range& r : *scope)
      if (r.count == 0 && r.name == name) return {r.number, 0, r.type, false};
    for (const Range& r : *scope)
      if (const auto number = number_in(r, name)) found = {r.number, *number, r.type, found.declaration >= 0};
    if (found.declaration >= 0) return found;
  }
  return {};
}

bool is_declared(const std::vector<Range>& scope, const std::string& name, bool range) {
  return std::ranges::any_of(scope, [&](const Range& r) { return r.name == name && (r.count > 0) == range; });
}

}  // namespace

TEST_CASE("ptx scopes: a map of names has the innermost scope's values, and those before when it ends") {
  std::mt19937 random(1);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  static const std::string kNames[] = {"a", "b", "c", "d", "e"};
  ScopedMap<int> map;
  std::vector<std::map<std::string, int>> reference;
  for (int round = 0; round < 5000; ++round) {
    const unsigned what = below(8);
    if (reference.empty() || what == 0) {
      map.open();
      reference.emplace_back();
    } else if (what == 1) {
      map.close();
      reference.pop_back();
    } else {
      const std::string& name = kNames[below(5)];
      REQUIRE(map.declare(name, round) == reference.back().try_emplace(name, round).second);
    }
    REQUIRE(map.depth() == reference.size());
    bool any = false;
    for (const std::string& name : kNames) {
      const int* value = nullptr;
      std::uint32_t depth = 0;
      for (std::uint32_t d = 0; d < reference.size(); ++d)
        if (const auto at = reference[d].find(name); at != reference[d].end())
          value = &at->second, depth = d + 1;
      const auto* const entry = map.find(name);
      REQUIRE((entry != nullptr) == (value != nullptr));
      if (entry == nullptr) continue;
      any = true;
      REQUIRE(entry->value == *value);
      REQUIRE(entry->depth == depth);
    }
    REQUIRE(map.empty() == !any);
  }
}

TEST_CASE("ptx scopes: registers and ranges of them shadow each other scope by scope") {
  static const std::string kNames[] = {"%r", "%r1", "%f", "%r2", "x", "x0"};
  static const std::string kWanted[] = {"%r",    "%r0",  "%r1",  "%r2", "%r9",  "%r10", "%r11", "%r12",
                                        "%r120", "%r01", "%r00", "%f3", "x",    "x0",   "x00",  "x5",
                                        "%q1",   "%",    "%r21", "%r3", "%r99", "%f",   "%f10", "%f0"};
  static const Type kTypes[] = {Type::kB32, Type::kB64, Type::kF32};
  std::size_t looked_up = 0, nothing = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    Function f;
    FunctionNames names(f);
    std::vector<std::vector<Range>> scopes(1);
    std::map<std::tuple<int, std::uint64_t>, RegisterId> ids;
    int declarations = 0;
    for (int round = 0; round < 60; ++round) {
      const unsigned what = below(6);
      if (what == 0) {
        names.open();
        scopes.emplace_back();
      } else if (what == 1 && scopes.size() > 1) {
        names.close();
        scopes.pop_back();
      } else {
        const std::string& name = kNames[below(6)];
        const Type type = kTypes[below(3)];
        const std::uint64_t count = below(2) == 0 ? 0 : 1 + below(130);
        const bool is_new = !is_declared(scopes.back(), name, count > 0);
        const bool declared = count == 0 ? names.declare_register(name, type, 1)
                                         : names.declare_registers(name, count, type, 1);
        REQUIRE(declared == is_new);
        if (is_new) scopes.back().push_back({name, count, declarations++, type});
      }
      REQUIRE(names.depth() == scopes.size());
      for (const std::string& name : kWanted) {
        CAPTURE(seed, round, name);
        const Found expected = found_in(scopes, name);
        if (expected.ambiguous) continue;
        const auto binding = names.find(name);
        REQUIRE(binding.has_value() == (expected.declaration >= 0));
        if (!binding) {
          ++nothing;
          continue;
        }
        REQUIRE(binding->kind == Binding::Kind::kRegister);
        const auto [at, is_new] = ids.try_emplace({expected.declaration, expected.number}, binding->id);
        REQUIRE(at->second == binding->id);
        if (is_new) REQUIRE(binding->id + 1 == f.registers.size());  // dense, in order of first use
        REQUIRE(names.type(binding->id) == expected.type);
        ++looked_up;
      }
    }
    REQUIRE(f.registers.size() == ids.size());
  }
  CHECK(looked_up > 10'000);
  CHECK(nothing > 5'000);
}

TEST_CASE("ptx scopes: a declared range costs nothing until its registers are named") {
  Function f;
  FunctionNames names(f);
  CHECK(names.declare_registers("%r", std::uint64_t{1} << 32, Type::kB32, 1));
  CHECK(f.registers.empty());
  CHECK(names.find("%r4294967295"));
  CHECK_FALSE(names.find("%r4294967296"));
  CHECK_FALSE(names.find("%r007"));
  CHECK(f.registers.size() == 1);
  CHECK(f.registers[0].name == "%r4294967295");
}

TEST_CASE("ptx scopes: components of vector registers are registers of their own") {
  Function f;
  FunctionNames names(f);
  CHECK(names.declare_register("%v", Type::kF32, 4));
  CHECK(names.declare_registers("%w", 3, Type::kB64, 2));
  const auto v = names.find("%v"), w1 = names.find("%w1"), w2 = names.find("%w2");
  REQUIRE((v && w1 && w2));
  CHECK(v->vector == 4);
  CHECK(w1->vector == 2);
  CHECK(f.registers.empty());
  std::set<RegisterId> ids;
  for (unsigned i = 0; i < 4; ++i) ids.insert(names.component("%v", *v, i));
  for (unsigned i = 0; i < 2; ++i)
    ids.insert(names.component("%w1", *w1, i)), ids.insert(names.component("%w2", *w2, i));
  CHECK(ids.size() == 8);
  CHECK(names.component("%v", *v, 3) == 3);
  CHECK(f.registers[3].name == "%v$w");
  CHECK(f.registers[4].name == "%w1$x");
  CHECK(f.registers[4].type == Type::kB64);
}

TEST_CASE("ptx scopes: other names are found as they were declared") {
  Function f;
  FunctionNames names(f);
  Binding table;
  table.kind = Binding::Kind::kBranchTable;
  table.id = 7;
  CHECK(names.declare("T", table));
  CHECK_FALSE(names.declare("T", Binding{}));
  names.open();
  Binding symbol;
  symbol.kind = Binding::Kind::kSymbol;
  symbol.symbol = SymbolKind::kParameter;
  CHECK(names.declare("T", symbol));
  CHECK(names.find("T")->kind == Binding::Kind::kSymbol);
  names.close();
  CHECK(names.find("T")->kind == Binding::Kind::kBranchTable);
  CHECK(names.find("T")->id == 7);
  CHECK_FALSE(names.find("U"));
}

TEST_CASE("ptx scopes: names that are there twice get the first free suffix; none is a name of the module") {
  std::mt19937 random(9);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  static const std::string kNames[] = {"a", "b", "a$1", "b$2", "c", "a$1$1", "taken"};
  const std::unordered_map<std::string_view, Symbol> taken{{"taken", {}}, {"a$2", {}}};
  for (int round = 0; round < 500; ++round) {
    Function f;
    std::vector<std::string> before;
    const auto name = [&] {
      before.push_back(kNames[below(7)]);
      return before.back();
    };
    for (unsigned n = below(3); n > 0; --n) f.parameters.emplace_back().name = name();
    for (unsigned n = below(4); n > 0; --n) f.registers.push_back({name(), Type::kB32});
    for (unsigned n = below(4); n > 0; --n) f.labels.push_back({name(), 0});
    for (unsigned n = below(2); n > 0; --n) f.branch_tables.push_back({name(), {}});
    make_names_unique(f, taken);
    std::vector<std::string> after;
    for (const Parameter& p : f.parameters) after.push_back(p.name);
    for (const Register& r : f.registers) after.push_back(r.name);
    for (const Label& l : f.labels) after.push_back(l.name);
    for (const BranchTable& t : f.branch_tables) after.push_back(t.name);
    std::set<std::string> used;
    for (std::size_t n = 0; n < before.size(); ++n) {
      const auto is_free = [&](const std::string& x) { return !used.contains(x) && !taken.contains(x); };
      std::string expected = before[n];
      for (unsigned suffix = 1; !is_free(expected); ++suffix)
        expected = before[n] + "$" + std::to_string(suffix);
      REQUIRE(after[n] == expected);
      used.insert(expected);
    }
  }
}

TEST_CASE("ptx scopes: parameters without a name and pragmas keep theirs") {
  Function f;
  f.parameters.resize(3);
  for (Parameter& p : f.parameters) p.name = "_";
  f.labels = {{".pragma nounroll", 0}, {".pragma nounroll", 2}};
  make_names_unique(f, {});
  for (const Parameter& p : f.parameters) CHECK(p.name == "_");
  for (const Label& l : f.labels) CHECK(l.name == ".pragma nounroll");
}

}  // namespace lockstep::ptx
