// Static instructions by their text, and the functions that warps are in: against a map and stacks.
#include "trace/intern_table.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/call_tracker.hpp"

namespace lockstep::trace {
namespace {

/// Function, PC, text, and the immediate where it matters.
using InternKey = std::tuple<std::uint64_t, std::uint32_t, std::string, std::int64_t>;

InstructionKey key_of(const InternKey& key) {
  const auto& [function, pc, text, immediate] = key;
  return {key_hash(function, pc, text), function, pc, text, immediate};
}

TEST_CASE("intern table: random instructions get the numbers of a map, in the order of their coming") {
  std::mt19937 random(6);
  InternTable table;
  for (int round = 0; round < 3; ++round) {
    std::map<InternKey, std::uint32_t> model;
    std::vector<InternKey> order;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t function = random() % 4;
      const auto pc = static_cast<std::uint32_t>(16 * (random() % 300));
      // Half of the texts use their immediate, as the text says.
      const bool uses = random() % 2 == 0;
      const std::string text = (uses ? "1 R4 IMM " : "1 R4 ") + std::to_string(random() % 4);
      const auto immediate = static_cast<std::int64_t>(random() % 3) - 1;
      const InternKey key{function, pc, text, uses ? immediate : 0};
      InstructionKey asked = key_of(key);
      asked.immediate = immediate;  // where it is not used, any will do
      const std::uint32_t found = table.find(asked);
      const auto known = model.find(key);
      REQUIRE(found == (known == model.end() ? InternTable::kNone : known->second));
      if (found != InternTable::kNone) continue;
      InternedInstruction entry;
      entry.uses_immediate = uses;
      entry.source_line = pc;
      const std::uint32_t index = table.add(asked, entry);
      REQUIRE(index == order.size());
      model[key] = index;
      order.push_back(key);
    }
    CHECK(table.size() == order.size());
    CHECK(order.size() > 5000);
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const auto& [function, pc, text, immediate] = order[i];
      const InternedInstruction& entry = table[i];
      REQUIRE(entry.function == function);
      REQUIRE(entry.pc == pc);
      REQUIRE(entry.source_line == pc);
      REQUIRE(std::string(table.text(entry), entry.text_length) == text);
      REQUIRE(table.find(table.key(i)) == i);
      if (entry.uses_immediate) REQUIRE(entry.immediate == immediate);
    }
    table.clear();
    CHECK(table.size() == 0);
    CHECK(table.find(key_of(order[0])) == InternTable::kNone);
  }
}

constexpr LaneMask kAllLanes = ~LaneMask{0};

TEST_CASE("calls: nested functions are distinguished by their call sites and left in reverse order") {
  CallTracker tracker;
  CHECK(tracker.function(0x10, kAllLanes) == 0);
  std::vector<std::uint64_t> stack{0};
  std::set<std::uint64_t> seen{0};
  for (std::uint32_t depth = 0; depth < CallTracker::kDepth; ++depth) {
    tracker.call(0x100 + 16 * depth, 16, kAllLanes);
    const std::uint64_t inside = tracker.function(0, kAllLanes);
    CHECK(seen.insert(inside).second);
    CHECK(tracker.function(16, kAllLanes) == inside);
    stack.push_back(inside);
  }
  while (stack.size() > 1) {
    CHECK(tracker.function(0x80, kAllLanes) == stack.back());
    tracker.ret(kAllLanes);
    stack.pop_back();
  }
  CHECK(tracker.function(0x110, kAllLanes) == 0);
  tracker.ret(kAllLanes);  // more returns than calls
  CHECK(tracker.function(0x120, kAllLanes) == 0);
}

TEST_CASE("calls: the same chain of call sites is the same function, in another warp too") {
  const auto chain = [](CallTracker& tracker, const std::vector<std::uint32_t>& sites) {
    tracker.start_warp();
    std::uint64_t key = 0;
    for (const std::uint32_t site : sites) {
      tracker.call(site, 16, kAllLanes);
      key = tracker.function(0, kAllLanes);
    }
    return key;
  };
  CallTracker one, two;
  CHECK(chain(one, {16, 32}) == chain(two, {16, 32}));
  CHECK(chain(one, {16, 32}) == chain(one, {16, 32}));
  CHECK(chain(one, {16, 32}) != chain(one, {32, 16}));
  CHECK(chain(one, {16}) != chain(one, {16, 16}));
}

TEST_CASE("calls: a callee that was not traced, and a call within the function, change no key") {
  CallTracker tracker;
  tracker.call(0x40, 16, kAllLanes);
  CHECK(tracker.function(0x50, kAllLanes) == 0);  // what follows the call
  tracker.ret(kAllLanes);
  tracker.call(0x60, 16, kAllLanes);
  CHECK(tracker.function(0x200, kAllLanes) == 0);  // neither the start of a function nor what follows
  tracker.call(0x210, 16, kAllLanes);
  const std::uint64_t inside = tracker.function(0, kAllLanes);
  CHECK(inside != 0);
  tracker.ret(kAllLanes);
  CHECK(tracker.function(0x220, kAllLanes) == 0);
}

TEST_CASE("calls: lanes that diverge are each in the function that they called") {
  CallTracker tracker;
  constexpr LaneMask kLow = 0xffff, kHigh = 0xffff0000;
  tracker.call(0x40, 16, kLow);
  const std::uint64_t low = tracker.function(0, kLow);
  CHECK(low != 0);
  CHECK(tracker.function(0x80, kHigh) == 0);
  tracker.call(0x90, 16, kHigh);
  const std::uint64_t high = tracker.function(0, kHigh);
  CHECK(high != 0);
  CHECK(high != low);
  CHECK(tracker.function(0x10, kLow) == low);
  tracker.ret(kLow);
  CHECK(tracker.function(0x50, kLow) == 0);
  CHECK(tracker.function(0x10, kHigh) == high);
  CHECK(tracker.function(0x10, 0) == high);  // without a mask: where it was last
}

TEST_CASE("calls: deeper than what is distinguished, returns still lead back") {
  CallTracker tracker;
  std::vector<std::uint64_t> keys{0};
  for (std::uint32_t depth = 0; depth < 3 * CallTracker::kDepth; ++depth) {
    tracker.call(16 * depth, 16, kAllLanes);
    keys.push_back(tracker.function(0, kAllLanes));
  }
  for (std::size_t i = CallTracker::kDepth; i < keys.size(); ++i) CHECK(keys[i] == keys[CallTracker::kDepth]);
  while (!keys.empty()) {
    CHECK(tracker.function(0x400, kAllLanes) == keys.back());
    keys.pop_back();
    tracker.ret(kAllLanes);
  }
}

}  // namespace
}  // namespace lockstep::trace
