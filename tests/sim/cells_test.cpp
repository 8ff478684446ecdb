// Cells: how long windows between them are, by hand; and the same history as without them, however they are
// run, with a hub, with cells of a second tier, with a common domain and a network that is used at times.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/persisted.hpp"
#include "tests/random.hpp"
#include "tests/sim/toy_nodes.hpp"

namespace lockstep::sim {
namespace {

using test::Ping;
using test::Recorder;

/// Due in every cycle, or after the first never; sends nothing.
struct Ticker final : Domain {
  Cycle advance(Cycle, Cycle to) override { return sleeps ? kNever : to; }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  bool sleeps = false;
};

/// Notes where windows begin.
struct Boundaries final : Controller {
  Time boundary(Time now) override {
    times.push_back(now);
    return kNever;
  }
  bool stop() const override { return times.size() > 20; }
  void exhausted(Time) override {}
  std::vector<Time> times;
};

struct Latencies {
  Time direct = 60, to_hub = 20, from_hub = 25, at_times = 6;  // 0: no such network
  Time in_use_from = kNever;                                   // the network that is used at times
  bool has_common = false, only_hub_ticks = false;
};

/// The length of every window but the first, of four cells and a hub of one ticking domain each.
Time window_of(const Latencies& l) {
  constexpr std::uint32_t kCells = 4;
  Engine engine({.window = 8, .cell_window = 1000});
  std::vector<Ticker> tickers(kCells + 2);
  std::vector<DomainId> ids;
  std::vector<std::uint32_t> cells;
  for (std::uint32_t d = 0; d <= kCells; ++d) {
    const DomainId id = engine.add(tickers[d], DomainKind::kOther);
    cells.push_back(d < kCells ? d : CellDivision::kHub);
    if (d < kCells) ids.push_back(id);
    tickers[d].sleeps = d < kCells && l.only_hub_ticks;
  }
  if (l.has_common) {
    (void)engine.add(tickers.back(), DomainKind::kOther);
    cells.push_back(CellDivision::kCommon);
  }
  std::vector<std::unique_ptr<Network<Ping>>> networks;
  const auto connect = [&](const std::vector<DomainId>& from, const std::vector<DomainId>& to, Time latency) {
    if (latency == 0) return;
    networks.push_back(std::make_unique<Network<Ping>>("n", from, to, latency));
    engine.add(*networks.back());
  };
  connect(ids, {kCells}, l.to_hub);
  connect({kCells}, ids, l.from_hub);
  connect(ids, ids, l.direct);
  connect(ids, ids, l.at_times);
  CellDivision division{cells};
  division.at_times = {{{networks.back().get()}, [&](Time now) { return add_times(now, l.in_use_from); }}};
  engine.set_cells(division);
  Boundaries all;
  engine.run(all);
  for (std::size_t i = 3; i < all.times.size(); ++i)
    REQUIRE(all.times[i] - all.times[i - 1] == all.times[2] - all.times[1]);
  return all.times[2] - all.times[1];
}

TEST_CASE("cells: a window is as long as the quickest way from one to another, by the hub or directly") {
  CHECK(window_of({}) == 45);
  CHECK(window_of({.direct = 44}) == 44);
  CHECK(window_of({.to_hub = 0, .from_hub = 0}) == 60);
  CHECK(window_of({.in_use_from = 0}) == 6);
  CHECK(window_of({.in_use_from = 30}) == 36);
  CHECK(window_of({.in_use_from = 39}) == 45);
  CHECK(window_of({.has_common = true}) == 8);
  // From the hub to a cell (25), back (20) and to a cell, or from the first directly to another.
  CHECK(window_of({.only_hub_ticks = true}) == 70);
  CHECK(window_of({.direct = 10, .only_hub_ticks = true}) == 35);
}

/// Always due; notes what it is advanced by.
struct Spans final : Domain {
  Cycle advance(Cycle from, Cycle to) override {
    if (to > from) all.emplace_back(from, to);
    return to;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::vector<std::pair<Cycle, Cycle>> all;
};

/// Cells 0 and 1, doors 2 and 3 to them, of two cells of the second tier with a gate each, 4 and 5, and the
/// hub, 6, which joins the gates.
TEST_CASE(
    "cells: those of a second tier are advanced in windows of their own, ahead of the first and after") {
  Engine engine({.window = 100, .cell_window = 1000});
  std::vector<Spans> domains(7);
  for (Spans& domain : domains) (void)engine.add(domain, DomainKind::kOther);
  std::vector<std::unique_ptr<Network<Ping>>> networks;
  const auto connect = [&](const std::vector<DomainId>& from, const std::vector<DomainId>& to, Time latency) {
    networks.push_back(std::make_unique<Network<Ping>>("n", from, to, latency));
    engine.add(*networks.back());
  };
  connect({0, 1}, {2, 3}, 20);
  connect({2, 3}, {0, 1}, 25);
  connect({2}, {4}, 4);
  connect({3}, {5}, 4);
  connect({4}, {2}, 4);
  connect({5}, {3}, 4);
  connect({4, 5}, {6}, 9);
  connect({6}, {4, 5}, 9);
  engine.set_cells({{0, 1, 2, 3, 2, 3, CellDivision::kHub}, {0, 0, 1, 1}});
  Boundaries all;
  engine.run(all);
  using Parts = std::vector<std::pair<Cycle, Cycle>>;
  const auto first = [&](DomainId d, std::size_t parts) {
    return Parts(domains[d].all.begin(), domains[d].all.begin() + static_cast<std::ptrdiff_t>(parts));
  };
  CHECK(first(0, 3) == Parts{{0, 45}, {45, 90}, {90, 135}});
  // Windows of 9 + 9 between gates, up to when the first message from a cell comes (20), and to 45.
  CHECK(first(6, 7) == Parts{{0, 9}, {9, 18}, {18, 20}, {20, 29}, {29, 38}, {38, 45}, {45, 54}});
  CHECK(first(4, 8) == Parts{{0, 4}, {4, 8}, {8, 12}, {12, 16}, {16, 18}, {18, 20}, {20, 24}, {24, 28}});
}

/// Where a domain may send, and from where it has mail.
struct Outgoing {
  Network<Ping>* network;
  std::uint32_t source, destinations;
};
struct Incoming {
  const Network<Ping>* network;
  std::uint32_t destination;
};

/// As test::Node, on any number of networks. A command, which has the lowest bit of its value set, is
/// answered once on `answers`.
class CellTalker : public Domain {
 public:
  explicit CellTalker(std::uint32_t seed) : hash_(seed * 77 + 1), next_(seed % 5) {}
  Cycle advance(Cycle from, Cycle to) override {
    for (const Incoming& in : incoming) inbox_.gather(*in.network, in.destination, from);
    for (Cycle t = std::min(next_, inbox_.next_arrival()); t < to;
         t = std::min(next_, inbox_.next_arrival())) {
      inbox_.drain(t, [&](std::uint32_t source, const Ping& ping) { take(t, source, ping.value); });
      if (next_ == t) act(t);
    }
    return std::min(next_, inbox_.next_arrival());
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] bool awaits_answers() const { return commands_ > 0; }
  template <class A>
  void persist(A& a) {
    a(inbox_, budget_, next_, hash_, commands_);
  }
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::optional<Outgoing> answers, commands;

 private:
  void mix(Cycle t, std::uint64_t value) {
    hash_ = (hash_ ^ (t * 0x9e3779b97f4a7c15 + value)) * 0xbf58476d1ce4e5b9;
    hash_ ^= hash_ >> 29;
  }
  void take(Cycle t, std::uint32_t source, std::uint64_t value) {
    mix(t, source * 31 + value);
    if (value % 2 == 0) return;
    if (commands) --commands_;
    if (answers) send(*answers, t, hash_ | 1);
  }
  void act(Cycle t) {
    mix(t, 1);
    next_ = budget_-- == 0 ? kNever : t + 1 + (hash_ >> 8) % (hash_ % 5 == 0 ? 300 : 11);
    if (commands && hash_ % 4 == 0) {
      ++commands_;
      return send(*commands, t, hash_ | 1);
    }
    send(outgoing[(hash_ >> 20) % outgoing.size()], t, hash_ & ~std::uint64_t{1});
  }
  static void send(const Outgoing& out, Cycle t, std::uint64_t value) {
    out.network->send(out.source, static_cast<std::uint32_t>((value >> 3) % out.destinations),
                      t + out.network->latency(), {value});
  }

  Inbox<Ping> inbox_{2000};
  std::uint64_t hash_, budget_ = 300;
  Cycle next_;
  std::uint64_t commands_ = 0;
};

/// Five cells of three domains, a hub of two cells of two domains and one of none, and a common domain that
/// sends commands. `tiers` false: the hub is not divided.
class CellMachine {
 public:
  explicit CellMachine(const EngineOptions& options, bool tiers = true) : engine(options) {
    CellDivision division;
    for (std::uint32_t d = 0; d < kDomains; ++d) {
      talkers.push_back(std::make_unique<CellTalker>(d));
      engine.add(*talkers.back(), DomainKind::kOther);
      division.cell_of.push_back(d < kInCells ? d / 3 : CellDivision::kHub);
      if (tiers && d >= kInCells && d < kInCells + 4) division.cell_of.back() = 5 + (d - kInCells) / 2;
    }
    division.cell_of.back() = CellDivision::kCommon;
    if (tiers) division.tiers = {0, 0, 0, 0, 0, 1, 1};
    const std::vector<DomainId> hub{kInCells, kInCells + 1, kInCells + 2, kInCells + 3}, last{kInCells + 4},
        common{kInCells + 5};
    std::vector<DomainId> doors, all;
    for (DomainId d = 0; d < kInCells; d += 3) {
      doors.push_back(d);
      connect({d, d + 1, d + 2}, {d, d + 1, d + 2}, 5);
      all.insert(all.end(), {d, d + 1, d + 2});
    }
    connect(doors, hub, 20);
    connect(hub, doors, 25);
    for (const DomainId d : {hub[0], hub[2]}) connect({d, d + 1}, {d, d + 1}, 3);
    connect({hub[1], hub[2]}, {hub[0], hub[3]}, 13);
    connect(hub, last, 8);
    connect(last, hub, 6);
    connect(last, common, 31);
    connect(all, all, 60);
    connect(all, common, 40);
    Network<Ping>& commands = connect(common, all, 30);
    talkers.back()->commands = talkers.back()->outgoing.back();
    Network<Ping>& answers = connect(all, common, 3);
    for (const DomainId d : all) {
      talkers[d]->answers = talkers[d]->outgoing.back();
      talkers[d]->outgoing.pop_back();
    }
    (void)commands;
    division.at_times = {
        {{&answers}, [this](Time now) { return talkers.back()->awaits_answers() ? now : kNever; }}};
    engine.set_cells(division);
  }
  CellMachine(const CellMachine&) = delete;
  CellMachine& operator=(const CellMachine&) = delete;
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> all;
    for (const auto& talker : talkers) all.push_back(talker->hash());
    return all;
  }
  template <class A>
  void persist(A& a) {
    for (const auto& talker : talkers) a(*talker);
    a(engine);
    for (const auto& network : networks) a(*network);
  }
  static constexpr std::uint32_t kInCells = 15, kDomains = kInCells + 6;
  Engine engine;
  std::vector<std::unique_ptr<CellTalker>> talkers;
  std::vector<std::unique_ptr<Network<Ping>>> networks;

 private:
  /// Sources have numbers of their own in each network.
  Network<Ping>& connect(const std::vector<DomainId>& from, const std::vector<DomainId>& to, Time latency) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t s = 0; s < from.size(); ++s) numbers.push_back(sources_++);
    networks.push_back(std::make_unique<Network<Ping>>("n", from, to, latency, numbers));
    Network<Ping>& network = *networks.back();
    for (std::uint32_t s = 0; s < from.size(); ++s)
      talkers[from[s]]->outgoing.push_back({&network, s, static_cast<std::uint32_t>(to.size())});
    for (std::uint32_t d = 0; d < to.size(); ++d) talkers[to[d]]->incoming.push_back({&network, d});
    engine.add(network);
    return network;
  }
  std::uint32_t sources_ = 0;
};

constexpr Time kCellsEnd = 3000;

std::vector<std::uint64_t> cells_run(const EngineOptions& options, bool tiers, std::uint64_t& windows) {
  CellMachine machine(options, tiers);
  Recorder recorder;
  recorder.stop_at = kCellsEnd;
  recorder.cut_every = 730;
  machine.engine.run(recorder);
  windows = machine.engine.profile().windows;
  return machine.hashes();
}

TEST_CASE("cells: the history is that of single domains, for all windows, threads, orders and schedules") {
  std::uint64_t windows = 0, cycles = 0;
  const auto expected = cells_run({.window = 1, .skip = false}, true, cycles);
  CHECK(cycles == kCellsEnd);
  for (const unsigned threads : {1u, 2u, 4u})  // four are too many for five cells
    for (const Time cell_window : {2u, 33u, 1000u})
      for (const bool skip : {true, false})
        for (const int shuffle : {-1, 3, 4, 5}) {
          EngineOptions options{.threads = threads,
                                .dynamic = shuffle != 3,
                                .window = cell_window == 33 ? Time{2} : Time{30},
                                .skip = skip,
                                .cell_window = cell_window};
          if (shuffle >= 0) options.shuffle = static_cast<std::uint64_t>(shuffle);
          CAPTURE(threads, cell_window, skip, shuffle);
          CHECK(cells_run(options, shuffle != 5, windows) == expected);
          if (threads < 3 && cell_window == 1000) CHECK(windows < cycles / 8);
        }
}

TEST_CASE("cells: a state kept between windows goes on with cells or without, as without a break") {
  std::uint64_t windows = 0;
  const auto expected = cells_run({.window = 1}, true, windows);
  lockstep::test::Random32 random(5);
  auto machine = std::make_unique<CellMachine>(EngineOptions{.window = 30, .cell_window = 1000});
  Recorder recorder;
  for (Time now = 0; now < kCellsEnd;) {
    now = std::min<Time>(kCellsEnd, now + 1 + random() % 200);
    machine->engine.advance_to(now, recorder);
    auto next = std::make_unique<CellMachine>(EngineOptions{.threads = 1 + random() % 3,
                                                            .window = 1 + random() % 30,
                                                            .shuffle = now,
                                                            .cell_window = random() % 2 * 1000},
                                              random() % 2 == 0);
    lockstep::test::restore(*machine, *next);
    machine = std::move(next);
  }
  CHECK(machine->hashes() == expected);
}

}  // namespace
}  // namespace lockstep::sim
