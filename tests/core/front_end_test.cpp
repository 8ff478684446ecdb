// Instruction caches and stream buffers of an SM by themselves, with a memory of fixed latency: times of
// arrival against arithmetic on the parameters.
#include "core/front_end.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "tests/persisted.hpp"

namespace lockstep::core {
namespace {

constexpr Cycle kL1i = 31, kMemory = 200;
constexpr std::uint32_t kLine = 128;

/// Neither prefetch nor read-ahead.
config::GpuConfig front_config() {
  config::GpuConfig c;
  c.gpu.sms = 1;
  c.gpu.gpcs = 1;
  c.l2.partitions = 1;
  c.l2.slices_per_partition = 2;
  c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = 1'000'000;
  c.frontend.line_bytes = kLine;
  c.frontend.l0_bytes = 8 * kLine;
  c.frontend.l0_ways = 8;
  c.frontend.l1i_bytes = 64 * kLine;
  c.frontend.l1i_ways = 64;
  c.frontend.l1i_latency = kL1i;
  c.frontend.l1i_mshrs = 4;
  c.frontend.l1i_read_ahead = 0;
  c.frontend.launch_prefetch = 0;
  c.frontend.prefetch_entries = 0;
  return c;
}

/// What the front end asked memory for, and which warps it has woken.
struct FrontLog {
  struct Woken {
    Cycle time;
    unsigned subcore, warp;
    friend bool operator==(const Woken&, const Woken&) = default;
  };
  std::vector<Woken> woken;
  std::vector<std::pair<Cycle, std::uint32_t>> fetched;  // line, at the cycle it was asked for
  friend bool operator==(const FrontLog&, const FrontLog&) = default;
};

class FrontBench {
 public:
  /// `skip`: ticks only when something is due.
  explicit FrontBench(const config::GpuConfig& config, bool skip = false)
      : fabric_(config),
        map_(config),
        port_(config, fabric_, map_, 0),
        lines_(config.frontend, port_),
        front(config),
        counters(config.launch.max_kernels),
        skip_(skip) {
    for (sim::DomainId d = 0; d <= fabric_.numbering().dispatcher(); ++d) domains_.push_back(d);
    due_.resize(domains_.size());
  }

  /// Front ends come before fetches in a cycle, as in an SM.
  FrontEnd::Found fetch(unsigned subcore, unsigned warp, std::uint32_t line, std::uint8_t kernel = 0) {
    const FrontEnd::Found found = front.fetch(subcore, warp, line, kernel, counters[kernel]);
    if (found != FrontEnd::Found::kL0) next_ = std::min(next_, now);
    return found;
  }
  /// The cycle `now`, and on to the next one.
  void cycle() {
    take_answers();
    if (!skip_ || next_ <= now || !lines_.lines().empty()) {
      ++ticks;
      front.tick(now, lines_, counters);
      for (unsigned s = 0; s < 4; ++s)
        for (unsigned w = 0; w < 16; ++w)
          if (front.woken(s) >> w & 1) log.woken.push_back({now, s, w});
      next_ = front.next_event(now);
    }
    port_.tick(now);
    fabric_.request->flip(domains_, now, due_);
    fabric_.request_credit->flip(domains_, now, due_);
    ++now;
  }
  void run_until(Cycle end) {
    while (now < end) cycle();
  }
  /// Runs until the warp is woken; the cycle at which it was.
  Cycle wake_time(unsigned subcore, unsigned warp, Cycle limit = 10'000) {
    for (const Cycle end = now + limit; now < end;) {
      const std::size_t before = log.woken.size();
      cycle();
      for (std::size_t i = before; i < log.woken.size(); ++i)
        if (log.woken[i].subcore == subcore && log.woken[i].warp == warp) return log.woken[i].time;
    }
    return kNever;
  }
  void replace_by(const config::GpuConfig& config) {
    FrontEnd fresh(config);
    lockstep::test::restore(front, fresh);
    front = std::move(fresh);
  }

  Cycle now = 0;
  std::uint64_t ticks = 0;

 private:
  void take_answers() {
    port_.gather(now);
    for (std::uint32_t s = 0; s < fabric_.numbering().slices(); ++s)
      fabric_.request->collect(s, [&](std::uint32_t, Cycle, const icnt::Request& r) {
        CHECK(r.kind == icnt::AccessKind::kInstruction);
        log.fetched.emplace_back(now - 1, static_cast<std::uint32_t>(r.line / kLine));
        answers_.emplace(now - 1 + kMemory, icnt::Reply{r.line, r.tag, r.kind, r.sectors, r.kernel});
        fabric_.request_credit->send(s, 0, now + 1, {});
      });
    for (; !answers_.empty() && answers_.begin()->first <= now; answers_.erase(answers_.begin()))
      lines_.receive(answers_.begin()->second);
  }

  icnt::Fabric fabric_;
  mem::AddressMap map_;
  LsuPort port_;
  InstructionPort lines_;
  std::multimap<Cycle, icnt::Reply> answers_;
  std::vector<sim::DomainId> domains_;
  std::vector<Time> due_;

 public:
  FrontEnd front;
  std::vector<stats::SmCounters> counters;
  FrontLog log;

 private:
  bool skip_;
  Cycle next_ = 0;
};

using Found = FrontEnd::Found;

TEST_CASE("front end: a line in the L1I comes its latency after the request, and is in the L0 from then on") {
  auto config = front_config();
  config.frontend.launch_prefetch = 4 * kLine;
  FrontBench bench(config);
  bench.front.preload(Address{100} * kLine);
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(bench.fetch(0, 3, 100 + i) == Found::kNot);
    const Cycle at = bench.now;  // its lookup in the L1I is in this cycle's tick
    CHECK(bench.wake_time(0, 3) == at + kL1i);
    CHECK(bench.fetch(0, 3, 100 + i) == Found::kL0);
  }
  CHECK(bench.fetch(1, 3, 100) == Found::kNot);  // an L0 is its sub-core's own
  CHECK(bench.log.fetched.empty());
  CHECK(bench.counters[0].l0i_accesses == 9);
  CHECK(bench.counters[0].l0i_misses == 5);
  CHECK(bench.counters[0].l1i_misses == 0);
}

TEST_CASE("front end: a launch brings launch_prefetch bytes of the kernel and no more") {
  auto config = front_config();
  config.frontend.launch_prefetch = 3 * kLine + kLine / 2;  // whole lines
  FrontBench bench(config);
  bench.front.preload(Address{20} * kLine + 64);
  for (const auto& [line, inside] : {std::pair{19u, false}, {20u, true}, {22u, true}, {23u, false}}) {
    CAPTURE(line);
    const std::size_t before = bench.log.fetched.size();
    CHECK(bench.fetch(2, 0, line) == Found::kNot);
    CHECK(bench.wake_time(2, 0) != kNever);
    CHECK((bench.log.fetched.size() == before) == inside);
  }
}

TEST_CASE("front end: a miss of the L1I takes memory's latency and half of the L1I's, rounded up") {
  for (const std::uint32_t latency : {1u, 2u, 31u, 40u}) {
    auto config = front_config();
    config.frontend.l1i_latency = latency;
    FrontBench bench(config);
    bench.run_until(7);
    CHECK(bench.fetch(0, 0, 50) == Found::kNot);
    CHECK(bench.wake_time(0, 0) == 7 + kMemory + (latency + 1) / 2);
    CHECK(bench.log.fetched == std::vector<std::pair<Cycle, std::uint32_t>>{{7, 50}});
    // Now it is in the L1I for the other sub-cores.
    const Cycle at = bench.now;
    CHECK(bench.fetch(1, 0, 50) == Found::kNot);
    CHECK(bench.wake_time(1, 0) == at + latency);
    CHECK(bench.counters[0].l1i_misses == 1);
    CHECK(bench.counters[0].l1i_accesses == 2);
  }
}

TEST_CASE("front end: the L1I looks up one line per cycle, in the order of the requests") {
  auto config = front_config();
  config.frontend.launch_prefetch = 16 * kLine;
  FrontBench bench(config);
  bench.front.preload(0);
  for (unsigned i = 0; i < 16; ++i) CHECK(bench.fetch(i % 4, i, i) == Found::kNot);
  bench.run_until(100);
  REQUIRE(bench.log.woken.size() == 16);
  for (unsigned i = 0; i < 16; ++i) CHECK(bench.log.woken[i] == FrontLog::Woken{i + kL1i, i % 4, i});
}

TEST_CASE("front end: warps of a sub-core that want one line share a request, sub-cores one fetch") {
  FrontBench bench(front_config());
  for (unsigned warp = 0; warp < 16; ++warp) CHECK(bench.fetch(0, warp, 9) == Found::kNot);
  for (unsigned subcore = 1; subcore < 4; ++subcore) CHECK(bench.fetch(subcore, 5, 9) == Found::kNot);
  bench.run_until(1000);
  CHECK(bench.log.fetched.size() == 1);
  CHECK(bench.counters[0].l1i_accesses == 4);
  CHECK(bench.counters[0].l1i_misses == 1);
  CHECK(bench.counters[0].l0i_misses == 19);
  CHECK(bench.log.woken.size() == 19);
  for (const FrontLog::Woken& w : bench.log.woken) CHECK(w.time == kMemory + (kL1i + 1) / 2);
  CHECK(bench.front.quiescent());
}

TEST_CASE("front end: misses beyond the L1I's registers wait for one, and all behind them") {
  FrontBench bench(front_config());  // 4 registers
  for (unsigned i = 0; i < 10; ++i) CHECK(bench.fetch(0, i, 2 * i) == Found::kNot);
  bench.run_until(4 * kMemory);
  REQUIRE(bench.log.fetched.size() == 10);
  for (unsigned i = 0; i < 10; ++i) {
    // Four a round trip: the place of a line that comes is taken in the same cycle.
    const Cycle expected = (i / 4) * kMemory + i % 4;
    CHECK(bench.log.fetched[i] == std::pair<Cycle, std::uint32_t>{expected, 2 * i});
  }
}

TEST_CASE("front end: after a miss the L1I asks for the lines that follow, one a cycle") {
  auto config = front_config();
  config.frontend.l1i_read_ahead = 6;
  config.frontend.l1i_mshrs = 16;
  FrontBench bench(config);
  CHECK(bench.fetch(3, 0, 40) == Found::kNot);
  bench.run_until(2 * kMemory);
  REQUIRE(bench.log.fetched.size() == 7);
  CHECK(bench.log.fetched[0] == std::pair<Cycle, std::uint32_t>{0, 40});
  for (unsigned i = 1; i < 7; ++i) {
    CHECK(bench.log.fetched[i].second == 40 + i);
    CHECK(bench.log.fetched[i].first == bench.log.fetched[1].first + i - 1);
  }
  // The sub-core has not asked for them: they are in the L1I, not in its L0.
  CHECK(bench.log.woken.size() == 1);
  const Cycle at = bench.now;
  CHECK(bench.fetch(3, 0, 46) == Found::kNot);
  CHECK(bench.wake_time(3, 0) == at + kL1i);
  CHECK(bench.fetch(3, 0, 47) == Found::kNot);
  bench.run_until(bench.now + 2 * kMemory);
  CHECK(bench.log.fetched.size() == 14);
  CHECK(bench.counters[0].l1i_misses == 2);
}

TEST_CASE("front end: a stream buffer runs its size ahead of the warp, and gives way to another stream") {
  auto config = front_config();
  config.frontend.prefetch_entries = 3;
  config.frontend.launch_prefetch = 60 * kLine;
  FrontBench bench(config);
  bench.front.preload(0);
  CHECK(bench.fetch(0, 0, 10) == Found::kNot);
  CHECK(bench.wake_time(0, 0) == kL1i);
  bench.run_until(100);
  CHECK(bench.counters[0].ifetch_prefetches == 3);  // 11, 12, 13
  for (std::uint32_t line = 11; line < 15; ++line) {
    CHECK(bench.fetch(0, 0, line) == Found::kStream);
    CHECK(bench.fetch(0, 1, line) == Found::kL0);
    bench.run_until(bench.now + 100);
    CHECK(bench.counters[0].ifetch_prefetches == 3 + line - 10);
  }
  CHECK(bench.fetch(0, 0, 16) == Found::kStream);  // skips 15
  bench.run_until(bench.now + 100);
  CHECK(bench.counters[0].ifetch_prefetches == 9);  // up to 19
  CHECK(bench.fetch(0, 0, 30) == Found::kNot);
  bench.run_until(bench.now + 100);
  CHECK(bench.fetch(0, 0, 17) == Found::kNot);  // given up
  CHECK(bench.log.fetched.empty());
}

TEST_CASE("front end: a warp that overtakes the stream buffer waits for the line under way") {
  auto config = front_config();
  config.frontend.prefetch_entries = 2;
  config.frontend.l1i_mshrs = 16;
  FrontBench bench(config);
  CHECK(bench.fetch(0, 0, 10) == Found::kNot);
  bench.run_until(5);  // 10, 11 and 12 are under way
  CHECK(bench.log.fetched.size() == 3);
  CHECK(bench.fetch(0, 7, 12) == Found::kNot);
  bench.run_until(2 * kMemory);
  const Cycle asked = bench.log.fetched[2].first;
  REQUIRE(bench.log.woken.size() == 2);
  CHECK(bench.log.woken[1] == FrontLog::Woken{asked + kMemory + (kL1i + 1) / 2, 0, 7});
  std::set<std::uint32_t> lines;
  for (const auto& fetch : bench.log.fetched) CHECK(lines.insert(fetch.second).second);  // each once
}

/// Warps that walk through code, jumping now and then; the results of all their fetches as text.
class Walkers {
 public:
  Walkers(const config::GpuConfig& config, std::uint32_t seed, bool skip)
      : bench(config, skip), random_(seed), lines_(8) {}
  void cycle() {
    const std::size_t before = bench.log.woken.size();
    bench.cycle();
    for (std::size_t i = before; i < bench.log.woken.size(); ++i) {
      const FrontLog::Woken& w = bench.log.woken[i];
      REQUIRE(waiting_.erase({w.subcore, w.warp}) == 1);  // once, and only who waits
    }
    for (unsigned i = 0; i < lines_.size(); ++i) {
      const unsigned subcore = i % 4, warp = i;
      const auto draw = static_cast<std::uint32_t>(random_());
      if (draw % 256 != 0 || waiting_.count({subcore, warp}) != 0) continue;
      lines_[i] = draw >> 8 & 7 ? lines_[i] + 1 : draw >> 11 & 0x3f;
      const Found found = bench.fetch(subcore, warp, lines_[i], static_cast<std::uint8_t>(draw >> 20 & 1));
      if (found == Found::kNot) waiting_.insert({subcore, warp});
      results += "LSN"[static_cast<unsigned>(found)];
    }
  }
  FrontBench bench;
  std::string results;

 private:
  std::mt19937 random_;
  std::vector<std::uint32_t> lines_;
  std::set<std::pair<unsigned, unsigned>> waiting_;
};

config::GpuConfig walking_config() {
  auto config = front_config();
  config.frontend.prefetch_entries = 4;
  config.frontend.l1i_read_ahead = 3;
  config.frontend.l1i_mshrs = 6;
  return config;
}

TEST_CASE("front end: every warp that waits is woken once, and visits to due cycles alone change nothing") {
  for (std::uint32_t seed = 1; seed < 5; ++seed) {
    Walkers all(walking_config(), seed, false), due(walking_config(), seed, true);
    for (int i = 0; i < 10'000; ++i) {
      all.cycle();
      due.cycle();
    }
    CHECK(due.results == all.results);
    CHECK(due.bench.log == all.bench.log);
    CHECK(due.bench.ticks < all.bench.ticks / 2);
    for (const char found : {'L', 'S', 'N'}) CHECK(std::ranges::count(all.results, found) > 10);
    // Without further fetches everything comes.
    all.bench.run_until(all.bench.now + 40 * kMemory);
    CHECK(all.bench.front.quiescent());
    CHECK(std::ranges::count(all.results, 'N') == std::ssize(all.bench.log.woken));
  }
}

TEST_CASE("front end: a state restored at any time goes on as the one that was kept") {
  Walkers straight(walking_config(), 9, true), restored(walking_config(), 9, true);
  for (int i = 0; i < 10'000; ++i) {
    straight.cycle();
    restored.cycle();
    if (i % 37 == 0) restored.bench.replace_by(walking_config());
  }
  CHECK(restored.results == straight.results);
  CHECK(restored.bench.log == straight.bench.log);
}

}  // namespace
}  // namespace lockstep::core
