// The engine with toy domains: whatever the windows, threads, schedule, order and skipping, the same history.
#include "sim/engine.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/sim/toy_nodes.hpp"

namespace lockstep::sim {
namespace {

using namespace test;

std::vector<std::uint64_t> run(EngineOptions options, Recorder& recorder, Cycle latency = kLatency,
                               bool late = false, int thrower = -1) {
  std::vector<DomainId> ids(kNodes);
  for (std::uint32_t i = 0; i < kNodes; ++i) ids[i] = i;
  Network<Ping> network("ping", ids, ids);
  std::vector<std::unique_ptr<Node>> nodes;
  Engine engine(options);
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    nodes.push_back(std::make_unique<Node>(i, network, latency, 400));
    if (late) nodes.back()->allow_late();
    nodes.back()->throws = static_cast<int>(i) == thrower;
    engine.add(*nodes.back(), DomainKind::kOther);
  }
  engine.add(network);
  engine.run(recorder);
  std::vector<std::uint64_t> hashes;
  for (const auto& n : nodes) hashes.push_back(n->hash());
  return hashes;
}

TEST_CASE("the history is the same for every window, thread count, schedule, order and skipping") {
  Recorder reference;
  const auto expected = run({.threads = 1, .window = 1, .skip = false}, [&]() -> Recorder& {
    reference.stop_at = 5000;
    return reference;
  }());
  for (const unsigned threads : {1u, 2u, 3u, 4u})
    for (const Cycle window : {1u, 2u, 7u, 16u})
      for (const bool skip : {true, false})
        for (const int shuffle : {-1, 5}) {
          EngineOptions o{
              .threads = threads, .dynamic = (threads + window) % 2 == 0, .window = window, .skip = skip};
          if (shuffle >= 0) o.shuffle = static_cast<std::uint64_t>(shuffle);
          Recorder r;
          r.stop_at = 5000;
          CAPTURE(threads, window, skip, shuffle);
          CHECK(run(o, r) == expected);
          CHECK(r.ended == 5000);
        }
}

TEST_CASE("a channel shorter than the window is caught") {
  Recorder r;
  CHECK_THROWS_WITH(run({.window = 16}, r, 0), Catch::Contains("shorter than the window"));
}

/// Ten nodes send to each other on a slow network, two to all on a quick one and soon no more. Both tell
/// their latency, the quick one its `told`.
std::vector<std::uint64_t> run_quick_and_slow(const EngineOptions& options, Cycle told,
                                              EngineProfile& profile) {
  constexpr Cycle kQuick = 4, kSlow = 64;
  constexpr std::uint32_t kSlowNodes = 10;
  std::vector<DomainId> ids(kNodes), slow_ids(kNodes),
      quick_ids(kNodes);  // a node sends as source of its own index
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    ids[i] = i;
    slow_ids[i] = std::min(i, kSlowNodes - 1);
    quick_ids[i] = std::max(i, kSlowNodes);
  }
  Network<Ping> quick("quick", quick_ids, ids, told), slow("slow", slow_ids, ids, kSlow);
  std::vector<std::unique_ptr<Node>> nodes;
  Engine engine(options);
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    nodes.push_back(i < kSlowNodes ? std::make_unique<Node>(i, slow, kSlow, 400, kSlowNodes, &quick)
                                   : std::make_unique<Node>(i, quick, kQuick, 20, kNodes, &slow));
    engine.add(*nodes.back(), DomainKind::kOther);
  }
  engine.add(quick);
  engine.add(slow);
  Recorder recorder;
  recorder.stop_at = 5000;
  engine.run(recorder);
  profile = engine.profile();
  std::vector<std::uint64_t> hashes;
  for (const auto& n : nodes) hashes.push_back(n->hash());
  return hashes;
}

TEST_CASE("windows are as long as what is due allows, with the same history") {
  EngineProfile cycles, shortest, longest;
  const auto expected = run_quick_and_slow({.window = 1}, 4, cycles);
  CHECK(run_quick_and_slow({.window = 4}, 4, shortest) == expected);
  for (const unsigned threads : {1u, 3u})
    for (const bool skip : {true, false})
      CHECK(run_quick_and_slow({.threads = threads, .window = 1000, .skip = skip}, 4, longest) == expected);
  CHECK(longest.windows < shortest.windows / 2);
  CHECK(longest.window_cycles / longest.windows <= 64);
}

TEST_CASE("a network that declares more than its latency is caught") {
  EngineProfile profile;
  CHECK_THROWS_WITH(run_quick_and_slow({.window = 1000}, 32, profile), Catch::Contains("'quick' is shorter"));
}

TEST_CASE("with late mail accepted the history does depend on the window: the identity test can fail") {
  Recorder a, b;
  a.stop_at = b.stop_at = 5000;
  CHECK(run({.window = 1}, a, 0, true) != run({.window = 16}, b, 0, true));
}

TEST_CASE("windows end exactly at cuts, idle or not") {
  Recorder r;
  r.cut_every = 37;
  r.stop_at = 37 * 40;
  (void)run({.threads = 2, .window = 16}, r);
  REQUIRE(r.cuts.size() == 41);
  for (std::size_t i = 0; i < r.cuts.size(); ++i) CHECK(r.cuts[i] == 37 * i);
}

TEST_CASE("when nothing is due any more the run ends as exhausted") {
  Recorder r;
  (void)run({.window = 16}, r);
  CHECK(r.exhausted_called);
}

/// Sends its step's number once on each of the networks, one at a step.
struct Sprinkler final : Domain {
  explicit Sprinkler(std::vector<std::unique_ptr<Network<Ping>>>& all) : networks(all) {}
  std::vector<std::unique_ptr<Network<Ping>>>& networks;
  Cycle step = 0;
  Cycle advance(Cycle, Cycle to) override {
    for (; step < networks.size() && step < to; ++step) networks[step]->send(0, 0, step + kLatency, {step});
    return step < networks.size() ? step : kNever;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
};
/// What came, by network.
struct Basin final : Domain {
  explicit Basin(std::vector<std::unique_ptr<Network<Ping>>>& all) : networks(all), got(all.size()) {}
  std::vector<std::unique_ptr<Network<Ping>>>& networks;
  std::vector<std::vector<std::uint64_t>> got;
  Cycle advance(Cycle, Cycle) override {
    for (std::size_t i = 0; i < networks.size(); ++i)
      networks[i]->collect(0, [&](std::uint32_t, Cycle, const Ping& ping) { got[i].push_back(ping.value); });
    return kNever;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
};

TEST_CASE("a domain may send on any number of networks") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{150}})
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(count, threads);
      std::vector<std::unique_ptr<Network<Ping>>> networks;
      for (std::size_t i = 0; i < count; ++i)
        networks.push_back(
            std::make_unique<Network<Ping>>("n", std::vector<DomainId>{0}, std::vector<DomainId>{1}));
      Sprinkler source(networks);
      Basin destination(networks);
      Engine engine({.threads = threads, .window = kLatency});
      engine.add(source, DomainKind::kOther);
      engine.add(destination, DomainKind::kOther);
      for (const auto& network : networks) engine.add(*network);
      Recorder r;
      engine.run(r);
      for (std::size_t i = 0; i < count; ++i) CHECK(destination.got[i] == std::vector<std::uint64_t>{i});
    }
}

TEST_CASE("the error of a failing domain comes out, on any number of threads") {
  for (const unsigned threads : {1u, 3u}) {
    Recorder r;
    CHECK_THROWS_WITH(run({.threads = threads, .window = 16}, r, kLatency, false, 4), "node 4");
  }
}

TEST_CASE("a work log has every window and item, and changes nothing") {
  WorkLog log;
  Recorder r;
  r.stop_at = 5000;
  const auto logged = run({.threads = 1, .window = 16, .work_log = &log}, r);
  Recorder plain;
  plain.stop_at = 5000;
  CHECK(logged == run({.threads = 1, .window = 16}, plain));
  const std::string text = log.text();
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == log.windows());
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) == log.items());
  CHECK(log.windows() > 200);
  CHECK(log.items() > log.windows());
  CHECK_THROWS_AS(Engine({.threads = 2, .work_log = &log}), std::logic_error);
}

class CountingTasks final : public TaskSource {
 public:
  std::size_t plan() override { return remaining_ > 0 ? 3 : 0; }
  void run(std::size_t task) noexcept override { done_[task].fetch_add(1); }
  void settle() override {
    if (remaining_ > 0) --remaining_;
  }
  std::atomic<int> done_[3] = {};

 private:
  int remaining_ = 50;
};

TEST_CASE("every planned task runs exactly once a window") {
  for (const unsigned threads : {1u, 4u}) {
    CountingTasks tasks;
    Engine engine({.threads = threads, .window = 16});
    Recorder r;
    std::vector<DomainId> id{0};
    Network<Ping> network("ping", id, id);
    Node node(0, network, kLatency, 0);
    engine.add(node, DomainKind::kOther);
    engine.add(network);
    engine.set_tasks(tasks);
    engine.run(r);
    for (const auto& n : tasks.done_) CHECK(n == 50);
    const EngineProfile& profile = engine.profile();
#ifdef _OPENMP
    CHECK(profile.busy_seconds.size() == threads);
#else
    CHECK(profile.busy_seconds.size() == 1);
#endif
    CHECK(profile.serial_seconds > 0);
    CHECK(profile.alone_seconds + profile.mean_share > 0);
    CHECK(profile.largest_share >= profile.mean_share);
  }
}

}  // namespace
}  // namespace lockstep::sim
