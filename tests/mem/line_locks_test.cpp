// Locks of lines: all that two cores and two SMs can do with one line, in every order.
#include "mem/line_locks.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <vector>

#include "tests/random.hpp"

namespace lockstep::mem {
namespace {

using Lock = icnt::LineLock;
using icnt::AccessKind;

constexpr Address kLine = 0x1000;
constexpr std::uint16_t kAgents = 4;  // two SMs, then two cores

icnt::Request request(std::uint16_t from, Lock lock, AccessKind kind = AccessKind::kLoad) {
  icnt::Request r;
  r.line = kLine;
  r.reply_to = from;
  r.kind = kind;
  r.lock = lock;
  return r;
}

/// What each agent does, one after the other. All add one to a counter, cores by a read and a write, SMs by
/// an atomic, and SMs lock the line for the cores before it.
std::vector<icnt::Request> program(std::uint16_t agent) {
  if (agent < 2)
    return {request(agent, Lock::kControl, AccessKind::kStore),
            request(agent, Lock::kNone, AccessKind::kAtomic), request(agent, Lock::kNone)};
  return {request(agent, Lock::kCore), request(agent, Lock::kBegin),
          request(agent, Lock::kEnd, AccessKind::kStore), request(agent, Lock::kBegin),
          request(agent, Lock::kEnd, AccessKind::kStore)};
}

/// The line's slice, and how far everybody is.
struct State {
  LineLocks locks;
  std::vector<std::uint16_t> held;  // agents whose request waits, by their arrival
  std::array<std::uint8_t, kAgents> next{};
  std::array<unsigned, kAgents> read{};  // what a core's read has brought
  unsigned counter = 0;
  // What the specification says, said again: whose update is under way, and whether a store has the line
  // locked.
  std::optional<std::uint16_t> updates;
  bool control = false;

  [[nodiscard]] auto key() const {
    std::vector<unsigned> k{counter, static_cast<unsigned>(control), updates ? 1u + *updates : 0u};
    k.insert(k.end(), next.begin(), next.end());
    k.insert(k.end(), read.begin(), read.end());
    k.push_back(99);
    k.insert(k.end(), held.begin(), held.end());
    return k;
  }
};

class Checker {
 public:
  /// `obeys`: requests wait as the locks say. `exclusive`: locks by stores let only cores pass, which then
  /// poll on for as long as there is one.
  Checker(bool obeys, bool exclusive) : obeys_(obeys), exclusive_(exclusive) {
    for (std::uint16_t a = 0; a < kAgents; ++a) programs_.push_back(program(a));
  }
  void run() { visit({}); }

  std::size_t states = 0, ends = 0, stuck = 0, lost = 0, between = 0, differs = 0, waited = 0, passed = 0;

 private:
  [[nodiscard]] const icnt::Request& next_of(const State& s, std::uint16_t agent) const {
    return programs_[agent][s.next[agent]];
  }
  [[nodiscard]] bool held(const State& s, std::uint16_t agent) const {
    return std::ranges::find(s.held, agent) != s.held.end();
  }

  void visit(const State& s) {
    if (!seen_.insert(s.key()).second) return;
    ++states;
    bool any = false, done = true;
    for (std::uint16_t a = 0; a < kAgents; ++a) {
      if (s.next[a] == programs_[a].size()) continue;
      done = false;
      any |= held(s, a) ? go_on(s, a) : arrive(s, a);
    }
    if (exclusive_ && s.control && !s.updates) any |= poll_more(s);
    if (done) {
      ++ends;
      lost += s.counter != 6;  // two atomics, four updates
    } else {
      stuck += !any;
    }
  }

  /// A held request goes on when its line is free and none is before it.
  bool go_on(State s, std::uint16_t agent) {
    if (s.held.front() != agent || s.locks.blocks(next_of(s, agent), exclusive_)) return false;
    s.held.erase(s.held.begin());
    serve(s, agent);
    return true;
  }

  bool arrive(State s, std::uint16_t agent) {
    const icnt::Request& r = next_of(s, agent);
    if (obeys_ && s.locks.must_wait(r, exclusive_, !s.held.empty())) {
      s.held.push_back(agent);
      ++waited;
      visit(s);
    } else {
      serve(s, agent);
    }
    return true;
  }

  void serve(State& s, std::uint16_t agent) {
    const icnt::Request& r = next_of(s, agent);
    between += s.updates && *s.updates != agent;
    passed += exclusive_ && s.control && r.lock == Lock::kNone;
    const LineLocks::Change change = s.locks.serve(r, 0, true);
    const bool before = s.updates || s.control;
    if (r.lock == Lock::kControl && !before) s.control = true;
    if (agent >= 2) s.control = false;
    if (r.lock == Lock::kBegin) {
      s.updates = agent;
      s.read[agent] = s.counter;
    }
    if (r.lock == Lock::kEnd) {
      s.updates.reset();
      s.counter = s.read[agent] + 1;
    }
    if (r.kind == AccessKind::kAtomic) ++s.counter;
    const bool after = s.updates || s.control;
    differs += s.locks.locked(kLine) != after;
    differs += (change == LineLocks::Change::kLocked) != (!before && after);
    differs += (change == LineLocks::Change::kUnlocked) != (before && !after);
    ++s.next[agent];
    visit(s);
  }

  /// A core's poll that is in no program, as it comes round to the queue once more.
  bool poll_more(State s) {
    if (s.locks.must_wait(request(2, Lock::kCore), true, !s.held.empty())) return false;
    const LineLocks::Change change = s.locks.serve(request(2, Lock::kCore), 0, true);
    differs += change != LineLocks::Change::kUnlocked;
    s.control = false;
    visit(s);
    return true;
  }

  bool obeys_, exclusive_;
  std::vector<std::vector<icnt::Request>> programs_;
  std::set<std::vector<unsigned>> seen_;
};

}  // namespace

TEST_CASE("Two cores and two SMs with one line: no order of their accesses loses an update or stops") {
  for (const bool exclusive : {false, true}) {
    INFO(exclusive);
    Checker checker(true, exclusive);
    checker.run();
    CHECK(checker.states > 1000);
    CHECK(checker.ends > 0);
    CHECK(checker.waited > 100);
    CHECK(checker.stuck == 0);
    CHECK(checker.lost == 0);
    CHECK(checker.between == 0);  // an update's read and its write
    CHECK(checker.differs == 0);  // from the specification
    CHECK(checker.passed == 0);   // a line that is a core's alone
  }
}

TEST_CASE("Without waiting for locks updates are lost: the check would notice") {
  Checker checker(false, true);
  checker.run();
  CHECK(checker.lost > 0);
  CHECK(checker.between > 0);
  CHECK(checker.passed > 0);
}

TEST_CASE("Lines locked by stores: as many as may be, the time until a core comes") {
  LineLocks locks;
  icnt::Request store = request(0, Lock::kControl, AccessKind::kStore);
  CHECK(locks.serve(store, 100, true) == LineLocks::Change::kLocked);
  CHECK(locks.serve(store, 150, true) == LineLocks::Change::kNone);  // it is already
  store.line = 0x2000;
  CHECK(locks.serve(store, 150, false) == LineLocks::Change::kNone);
  CHECK(locks.counters().degraded == 1);
  CHECK(locks.oldest() == 100);
  CHECK(locks.serve(request(1, Lock::kNone), 200, true) == LineLocks::Change::kNone);  // an SM's load
  CHECK(locks.locked(kLine));
  CHECK(locks.serve(request(3, Lock::kCore, AccessKind::kAwait), 1300, true) == LineLocks::Change::kUnlocked);
  CHECK(
      (locks.counters().unlocked == 1 && locks.counters().time == 1200 && locks.counters().longest == 1200));
  CHECK(locks.counters().times[10] == 1);  // 1024 to 2047
  CHECK((locks.counters().most == 1 && locks.counters().control == 1 && !locks.any()));
  CHECK(locks.oldest() == kNever);
  REQUIRE(locks.changes().size() == 2);
  CHECK((locks.changes()[0].at == 100 && locks.changes()[0].by == 1));
  CHECK((locks.changes()[1].at == 1300 && locks.changes()[1].by == -1));
}

TEST_CASE("The most locked lines of several slices together are those of a count edge by edge") {
  test::Random32 random(7);
  for (int round = 0; round < 200; ++round) {
    constexpr std::size_t kEdges = 30;
    std::array<int, kEdges> locked{};
    std::vector<LockChange> changes;
    for (int slice = 0; slice < 3; ++slice)
      for (int lines = static_cast<int>(random() % 4); lines > 0; --lines) {
        const Cycle from = random() % kEdges, to = from + 1 + random() % kEdges;
        changes.push_back({from, 1});
        changes.push_back({to, -1});
        for (Cycle edge = from; edge < std::min<Cycle>(to, kEdges); ++edge) ++locked[edge];
      }
    CHECK(most_locked(changes) == static_cast<std::uint64_t>(*std::ranges::max_element(locked)));
  }
  CHECK(most_locked({}) == 0);
}

}  // namespace lockstep::mem
