// Policies that a program adds: what they are shown, and which ones are refused.
#include "lockstep/policies.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support.hpp"

namespace lockstep::api_test {
namespace {

/// What the policies below were shown; each is one that does nothing else than a built-in one.
struct Seen {
  std::size_t prefetches = 0, evictions = 0;
  std::vector<std::string> wrong;
  void expect(bool holds, const char* what) {
    if (!holds) wrong.emplace_back(what);
  }
};
Seen& seen() {
  static Seen value;
  return value;
}

void look_at(const PrefetchTree& tree, Pages& along) {
  Seen& s = seen();
  ++s.prefetches;
  s.expect(along.none(), "the pages to add to are empty at first");
  s.expect(tree.faults.any(), "a batch has a fault");
  s.expect((tree.faults & (tree.resident | tree.incoming)).none(), "faults are of pages that are not here");
  s.expect((tree.resident & tree.incoming).none(), "a page is here or on its way");
  s.expect(std::has_single_bit(tree.pages) && tree.pages >= 16 && tree.pages <= 512, "the tree's size");
  s.expect(((tree.faults | tree.resident | tree.incoming) >> tree.pages).none(), "pages are of the tree");
  s.expect(tree.base >= kData && tree.base < kData + 4 * kTree && tree.base % (16 * kPage) == 0, "the base");
}

std::optional<std::uint64_t> first_unit(const EvictionUnits& units) {
  Seen& s = seen();
  ++s.evictions;
  std::vector<std::uint64_t> bases;
  std::optional<std::uint64_t> first;
  units.walk(0, [&](std::uint64_t position, const EvictionUnits::Unit& unit) {
    s.expect(position == bases.size(), "positions count from where the walk begins");
    s.expect((unit.dirty & ~unit.pages).none(), "dirty pages are among those that may be evicted");
    s.expect(unit.pages.count() <= 1, "a unit of 4 KiB is a page");
    bases.push_back(unit.base);
    if (!first && unit.pages.any()) first = position;
    return false;
  });
  s.expect(bases.size() == units.size(), "a whole walk has all units");
  const std::uint64_t middle = units.size() / 2;
  std::size_t visited = 0;
  units.walk(middle, [&](std::uint64_t position, const EvictionUnits::Unit& unit) {
    s.expect(position == middle + visited && unit.base == bases[position], "a walk from the middle");
    return ++visited == 3;
  });
  s.expect(visited == std::min<std::size_t>(3, bases.size() - middle), "a walk ends when it is told to");
  return first;
}

/// Before the first machine is made: what was refused, with what message.
struct Refusals {
  std::string taken_prefetcher, taken_evictor, no_name, no_function;
};

const Refusals kRefusals = [] {
  const auto message = [](auto&& add) -> std::string {
    try {
      add();
    } catch (const Error& error) {
      return error.what();
    }
    return "added";
  };
  const Prefetcher nothing = [](const PrefetchTree&, Pages&) {};
  Refusals r;
  r.taken_prefetcher = message([&] { add_prefetcher("sequential", "", nothing); });
  r.taken_evictor = message([&] { add_evictor("lru_4k", "", EvictionUnit::kPage, first_unit); });
  r.no_name = message([&] { add_prefetcher("", "", nothing); });
  r.no_function = message([&] { add_prefetcher("empty", "", nullptr); });
  add_prefetcher("looks", "none, but looks", look_at);
  add_evictor("looks_first", "the oldest page, but looks", EvictionUnit::kPage, first_unit);
  return r;
}();

}  // namespace

TEST_CASE("Policies without a name or a function, or with a name that is taken, are refused") {
  CHECK(kRefusals.taken_prefetcher == "there is a policy 'sequential' already");
  CHECK(kRefusals.taken_evictor == "there is a policy 'lru_4k' already");
  CHECK(kRefusals.no_name == "a policy needs a name and a function");
  CHECK(kRefusals.no_function == "a policy needs a name and a function");
}

TEST_CASE("A prefetcher sees faults of one tree beside what is there or on its way") {
  const Trace trace = loads_from(round_and_round());
  const auto with = [&](const std::string& name) {
    return results_of(simulate(trace, Machine("v100", {"uvm.prefetcher=" + name}), managed("")));
  };
  CHECK(with("looks") == with("none"));
  CHECK(seen().prefetches >= 4);  // trees
  CHECK(seen().wrong.empty());
}

TEST_CASE("An evictor sees all units, oldest first, from any position on") {
  const Trace trace = loads_from(round_and_round());
  const auto with = [&](const std::string& name) {
    const Machine machine("v100", {"uvm.prefetcher=none", "uvm.evictor=" + name});
    return results_of(simulate(trace, machine, managed("100 KiB")));
  };
  CHECK(with("looks_first") == with("lru_4k"));
  CHECK(seen().evictions > 100);  // 56 pages go round in a memory of 25, three times
  CHECK(seen().wrong.empty());
}

TEST_CASE("Added policies are values of the configuration as built-in ones are") {
  CHECK_THAT(Machine("v100", {"uvm.evictor=looks_first"}).ini(), Catch::Contains("evictor = looks_first"));
  CHECK_THROWS_WITH(Machine("v100", {"uvm.evictor=looks_firs"}), Catch::Contains("looks_first"));
  CHECK_THROWS_WITH(add_evictor("late", "", EvictionUnit::kPage, first_unit), Catch::Contains("too late"));
}

}  // namespace lockstep::api_test
