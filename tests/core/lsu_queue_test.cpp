// The local queues of the memory pipeline, its wheel of results and the table of pending operations, each
// against a plain model.
#include "core/lsu_queue.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/lsu_results.hpp"
#include "core/lsu_wheel.hpp"
#include "tests/persisted.hpp"

namespace lockstep::core {
namespace {

constexpr unsigned kQueues = LsuQueue::kMaxSubcores;

class QueueModel {
 public:
  QueueModel(unsigned capacity, Cycle residence, Cycle interval)
      : capacity_(capacity), residence_(residence), interval_(interval) {}
  [[nodiscard]] bool can_accept(unsigned s) const { return queues_[s].size() < capacity_; }
  void push(Cycle now, unsigned s, std::uint32_t handle, LsuUnit unit) {
    queues_[s].push_back({handle, now + residence_, unit});
  }
  [[nodiscard]] unsigned pick(Cycle now, const LsuUnitTimes& units) const {
    for (unsigned i = 1; i <= kQueues; ++i) {
      const unsigned s = (last_ + i) % kQueues;
      if (!queues_[s].empty() && from(s, units) <= now) return s;
    }
    return LsuQueue::kNone;
  }
  std::uint32_t pop(Cycle now, unsigned s) {
    const std::uint32_t handle = queues_[s].front().handle;
    queues_[s].pop_front();
    free_[s] = now + interval_;
    last_ = s;
    return handle;
  }
  [[nodiscard]] Cycle next_event(const LsuUnitTimes& units) const {
    Cycle next = kNever;
    for (unsigned s = 0; s < kQueues; ++s)
      if (!queues_[s].empty()) next = std::min(next, from(s, units));
    return next;
  }
  [[nodiscard]] std::size_t size(unsigned s) const { return queues_[s].size(); }

 private:
  struct Item {
    std::uint32_t handle;
    Cycle from;
    LsuUnit unit;
  };
  [[nodiscard]] Cycle from(unsigned s, const LsuUnitTimes& units) const {
    const Item& item = queues_[s].front();
    return std::max({item.from, free_[s], units[static_cast<unsigned>(item.unit)]});
  }
  unsigned capacity_;
  Cycle residence_, interval_;
  std::array<std::deque<Item>, kQueues> queues_;
  std::array<Cycle, kQueues> free_{};
  unsigned last_ = kQueues - 1;
};

config::MioGroup mio_group(std::uint32_t entries, std::uint32_t interval) {
  config::MioGroup mio;
  mio.queue_entries = entries;
  mio.dispatch_interval = interval;
  return mio;
}

TEST_CASE("local queues: random operations do what four deques and a turn do") {
  for (const auto& [entries, interval] : {std::pair{1u, 1u}, {4u, 1u}, {3u, 2u}, {8u, 5u}}) {
    std::mt19937 random(entries);
    LsuQueue queue(mio_group(entries, interval), 7);
    QueueModel model(entries + 1, 7, interval);
    LsuUnitTimes units{};
    std::uint32_t handle = 0, picked = 0;
    for (Cycle now = 0; now < 20'000; ++now) {
      for (unsigned s = 0; s < kQueues; ++s) {
        REQUIRE(queue.can_accept(s) == model.can_accept(s));
        if (!queue.can_accept(s) || random() % 4 != 0) continue;
        const auto unit = static_cast<LsuUnit>(random() % kLsuUnits);
        queue.next(s).handle = handle;
        const Cycle from = queue.push(now, s, unit);
        REQUIRE((from == kNever) == (model.size(s) > 0));
        model.push(now, s, handle++, unit);
      }
      for (Cycle& unit : units)
        if (random() % 8 == 0) unit = random() % 5 == 0 ? kNever : now + random() % 10;
      REQUIRE(queue.next_event(units) == model.next_event(units));
      const unsigned s = queue.pick(now, units);
      REQUIRE(s == model.pick(now, units));
      if (s != LsuQueue::kNone) {
        const std::uint32_t expected = model.pop(now, s);
        REQUIRE(queue.front(s).handle == expected);
        queue.pop(now, s);
        ++picked;
      }
      for (unsigned q = 0; q < kQueues; ++q) REQUIRE(queue.size(q) == model.size(q));
    }
    CHECK(picked > 1000);
  }
}

TEST_CASE("local queues: full sub-cores share the units equally, each at its interval") {
  for (const std::uint32_t interval : {1u, 2u, 4u, 6u}) {
    LsuQueue queue(mio_group(4, interval), 7);
    const LsuUnitTimes units{};
    std::array<unsigned, kQueues> taken{};
    constexpr Cycle kEnd = 1200;
    for (Cycle now = 0; now < kEnd; ++now) {
      for (unsigned s = 0; s < kQueues; ++s)
        while (queue.can_accept(s)) (void)queue.push(now, s, LsuUnit::kMemory);
      const unsigned s = queue.pick(now, units);
      if (s == LsuQueue::kNone) continue;
      queue.pop(now, s);
      ++taken[s];
    }
    // One a cycle of all four; five entries that stay seven cycles each are enough for that.
    const Cycle pace = std::max<Cycle>(4, interval);
    for (const unsigned n : taken) CHECK(n == Approx(double(kEnd) / double(pace)).margin(4));
  }
}

/// Wheel and multimap, driven alike.
class WheelPair {
 public:
  explicit WheelPair(Cycle span, std::uint32_t seed) : span_(span), random_(seed), wheel_(span) {}
  void cycle() {
    for (auto n = random_() % 3; n > 0; --n) {
      const Cycle due = now_ + random_() % (random_() % 8 == 0 ? span_ + 1 : 20);
      wheel_.add(now_, due, handle_);
      model_.emplace(due, handle_++);
    }
    REQUIRE(wheel_.size() == model_.size());
    REQUIRE(wheel_.next() == (model_.empty() ? kNever : model_.begin()->first));
    std::vector<std::uint32_t> got, expected;
    wheel_.drain(now_, [&](std::uint32_t handle) { got.push_back(handle); });
    for (; !model_.empty() && model_.begin()->first == now_; model_.erase(model_.begin()))
      expected.push_back(model_.begin()->second);
    REQUIRE(got == expected);
    // On to the next cycle, or where nothing is due far ahead.
    now_ = random_() % 4 == 0 && wheel_.next() != kNever ? std::max(now_ + 1, wheel_.next()) : now_ + 1;
    if (wheel_.next() < now_) now_ = wheel_.next();
  }
  void replace() {
    LsuWheel fresh(span_);
    lockstep::test::restore(wheel_, fresh);
    wheel_ = std::move(fresh);
  }

 private:
  Cycle span_;
  std::mt19937 random_;
  LsuWheel wheel_;
  std::multimap<Cycle, std::uint32_t> model_;
  Cycle now_ = 0;
  std::uint32_t handle_ = 0;
};

TEST_CASE("wheel of results: what a multimap by cycle gives, also of states restored in between") {
  for (const Cycle span : {20u, 63u, 64u, 300u, 1000u})
    for (const bool restores : {false, true}) {
      WheelPair pair(span, static_cast<std::uint32_t>(span));
      for (int i = 0; i < 5000; ++i) {
        pair.cycle();
        if (restores && i % 29 == 0) pair.replace();
      }
    }
}

/// An access of 'handle' whose array gives the data `transfer` cycles late.
LsuAccess access_of(std::uint32_t handle, LineKind kind, Cycle transfer) {
  LsuAccess access;
  access.handle = handle;
  access.kind = kind;
  access.transfer = static_cast<std::uint16_t>(transfer);
  return access;
}

std::vector<std::pair<Cycle, std::uint32_t>> results_until(LsuResults& results, Cycle from, Cycle to) {
  std::vector<std::pair<Cycle, std::uint32_t>> got;
  for (Cycle now = from; now < to; ++now) {
    results.begin_cycle();
    results.deliver(now);
    for (const MioEvent& e : results.events()) got.emplace_back(now, e.handle);
  }
  return got;
}

TEST_CASE("pending operations: a result comes with the last sector, not before the L1 itself allows") {
  const LsuLatencies latencies(config::GpuConfig{});
  const Cycle miss_rest = LsuLatencies::kMissPath + latencies.hit_rest;
  for (const Cycle last : {0u, 10u, 500u})
    for (const Cycle transfer : {0u, 4u}) {
      LsuResults results(4, latencies);
      LsuAccess access = access_of(9, LineKind::kCachedLoad, transfer);
      REQUIRE(results.has_room(access));
      results.take_entry(access);
      const std::uint16_t entry = access.entry;
      results.take_entry(access);  // it has one
      CHECK(access.entry == entry);
      CHECK(results.pending() == 1);
      results.await(access.entry, 3);
      results.await(access.entry, 2);
      results.all_issued(0, access, 60);
      results.sectors_back(0, access.entry, 4);
      CHECK(results.pending() == 1);
      results.sectors_back(last, access.entry, 1);
      CHECK(results.pending() == 0);
      const Cycle expected = std::max<Cycle>(60, last + miss_rest + transfer);
      CHECK(results_until(results, last, last + 400) ==
            std::vector<std::pair<Cycle, std::uint32_t>>{{expected, 9}});
      CHECK(results.idle());
    }
}

TEST_CASE("pending operations: sectors that are back before the last line is looked up end nothing") {
  const LsuLatencies latencies(config::GpuConfig{});
  LsuResults results(1, latencies);
  LsuAccess access = access_of(5, LineKind::kCachedLoad, 0), other = access_of(6, LineKind::kCachedLoad, 0);
  results.take_entry(access);
  CHECK_FALSE(results.has_room(other));
  CHECK(results.has_room(access));
  results.await(access.entry, 1);
  results.sectors_back(100, access.entry, 1);
  CHECK(results.pending() == 1);
  results.all_issued(300, access, 310);
  CHECK(results.has_room(other));
  CHECK(results_until(results, 300, 400) == std::vector<std::pair<Cycle, std::uint32_t>>{{310, 5}});
}

}  // namespace
}  // namespace lockstep::core
