// How full queues are: against Little's law, by which depth integrated over time is the sum of all stays.
#include <nlohmann/json.hpp>
#include <random>

#include "net/queue_depth.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

using Depth = stats::NetworkReport::Depth;

struct Stay {
  std::uint64_t from, to;
};

/// Instant by instant.
net::DepthCounters counted(const std::vector<Stay>& stays) {
  net::DepthCounters all;
  all.queues = 1;
  all.entered = stays.size();
  std::uint64_t end = 0;
  for (const Stay& stay : stays) end = std::max(end, stay.to);
  for (std::uint64_t t = 0; t < end; ++t) {
    std::uint64_t depth = 0;
    for (const Stay& stay : stays) depth += stay.from <= t && t < stay.to ? 1 : 0;
    all.most = std::max(all.most, depth);
    all.total_ps += depth;
    std::size_t bucket = 0;
    while (depth >> (bucket + 1) != 0) ++bucket;
    if (depth > 0) ++all.times[bucket];
  }
  return all;
}

void check_same(const net::DepthCounters& a, const net::DepthCounters& b) {
  CHECK(a.queues == b.queues);
  CHECK(a.entered == b.entered);
  CHECK(a.most == b.most);
  CHECK(a.total_ps == b.total_ps);
  CHECK(a.times == b.times);
}

/// Of both devices: blocking operations of every kind by two queues each, several under way at a time.
NetScenario blocking_mixture() {
  NetScenario scenario(2, 4);
  for (std::uint16_t d = 0; d < 2; ++d) {
    for (std::uint32_t q = 0; q < 2; ++q) scenario.queue(d);
    for (unsigned round = 0; round < 3; ++round)
      for (std::uint32_t q = 0; q < 2; ++q) ask_every_kind(scenario, d, q, 700 + 3000 * round, true);
  }
  return scenario;
}

/// Of all operations that are commands of a NIC, in all stages from `first` to `last`.
std::uint64_t stage_sum(const gpu::RunResult& result, std::string_view first, std::string_view last) {
  const std::size_t kinds = network(result).design == "direct" ? 4 : 3;  // there a quiet is a command, too
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < kinds; ++k) {
    const Stages all = network(result).all_of(k);
    const auto& names = stats::kNetworkStages;
    for (auto s = std::ranges::find(names, first); s <= std::ranges::find(names, last); ++s)
      sum += all.sum_ps[static_cast<std::size_t>(s - names.begin())];
  }
  return sum;
}

/// What any depth is consistent with.
void check_bounds(const Depth& depth) {
  std::uint64_t least = 0, most = 0, time = 0;
  for (std::size_t b = 0; b < depth.times_ps.size(); ++b) {
    least += depth.times_ps[b] << b;
    most += depth.times_ps[b] * ((std::uint64_t{2} << b) - 1);
    time += depth.times_ps[b];
  }
  CHECK((least <= depth.total_ps && depth.total_ps <= most));
  CHECK(depth.total_ps <= time * depth.most);
  CHECK((depth.most > 0) == (depth.entered > 0));
}

}  // namespace

TEST_CASE("Depths of queues are those that counting finds instant by instant") {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 20; ++round) {
    std::vector<Stay> stays;
    std::uint64_t from = 0, to = 0;
    for (unsigned i = 0; i < 60; ++i) {  // first in, first out
      from += random() % 6;
      to = std::max(to, from + 1) + random() % 9;
      stays.push_back({from, to});
    }
    net::StayDepth fifo;
    for (const Stay& stay : stays) fifo.stay(stay.from, stay.to);
    check_same(fifo.counters(to), counted(stays));

    for (Stay& stay : stays) stay.to = stay.from + 1 + random() % 40;  // in any order
    net::QueueDepth depth;
    std::uint64_t end = 0;
    for (const Stay& stay : stays) end = std::max(end, stay.to);
    for (std::uint64_t t = 0; t <= end; ++t) {
      for (const Stay& stay : stays)
        if (stay.to == t) depth.leave(t);
      for (const Stay& stay : stays)
        if (stay.from == t) depth.enter(t);
    }
    check_same(depth.counters(end), counted(stays));
  }
}

TEST_CASE("A depth counts what is still there up to the time that is asked for") {
  net::QueueDepth depth;
  depth.enter(100);
  depth.enter(150);
  CHECK(depth.counters(400).total_ps == 300 + 250);
  depth.leave(400);
  CHECK(depth.counters(500).total_ps == 300 + 250 + 100);
}

TEST_CASE("Each queue's depth integrated over time is the sum of its operations' times, in every design") {
  for (const char* design : kDesigns) {
    INFO(design);
    const gpu::RunResult result = blocking_mixture().run(nodes(2, design));
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    std::uint64_t in_queues = 0, commands = 0, waiting = 0, records = 0, operations = 0;
    for (const auto& thread : network(result).threads) {
      std::uint64_t own = 0;
      for (const Stages& of : thread.operations)  // from when it has seen the entry
        own += of.total_ps - of.sum_ps[0] - of.sum_ps[1] - of.sum_ps[2] - of.sum_ps.back();
      CHECK(thread.queues.total_ps == own);
      check_bounds(thread.queues);
      in_queues += thread.queues.entered;
      operations += own;
      if (!thread.completion_queues) continue;
      records += thread.completion_queues->total_ps;
      CHECK(thread.completion_queues->entered == thread.records);
      check_bounds(*thread.completion_queues);
    }
    for (const auto& nic : network(result).nics) {
      CHECK(nic.commands_open.entered == nic.doorbells);
      CHECK(nic.commands_waiting.entered == nic.doorbells);
      check_bounds(nic.commands_open);
      check_bounds(nic.commands_waiting);
      commands += nic.commands_open.total_ps;
      waiting += nic.commands_waiting.total_ps;
    }
    CHECK(in_queues == 2 * 2 * 3 * 4);
    CHECK(operations > 0);
    CHECK(commands == stage_sum(result, "fetched", "complete"));
    CHECK((waiting > stage_sum(result, "fetched", "fetched") && waiting < commands));
    CHECK(records == (std::string(design) == "direct" ? 0 : stage_sum(result, "noticed", "noticed")));
  }
}

TEST_CASE("A command alone waits until it has been fetched and processed") {
  for (const std::uint32_t process : {50'000u, 350'000u}) {
    config::SystemConfig system = nodes();
    system.network.nic.process_ps = process;  // whole cycles
    NetScenario scenario;
    scenario.queue(0);
    scenario.wait(0, 0, scenario.request(0, some_put(64)));
    const gpu::RunResult result = scenario.run(system);
    const Depth& waiting = network(result).nics[0].commands_waiting;
    CHECK(static_cast<double>(waiting.total_ps) ==
          Approx(1000 * stage(of_kind(result, "put"), "fetched") + static_cast<double>(process)).margin(1));
    CHECK(waiting.times_ps == std::vector{waiting.total_ps});
  }
}

TEST_CASE("Commands that wait for a busy NIC leave one every nic.op_occupancy_ps") {
  config::SystemConfig system = quick_agents();
  const std::uint64_t occupancy = 100'000'000, ramp = 10'000'000;  // in ps; until all doorbells are rung
  system.network.nic.op_occupancy_ps = occupancy;
  NetScenario scenario;
  scenario.queue(0);
  for (unsigned i = 0; i < 8; ++i) scenario.request(0, some_put(8, false));
  scenario.wait(0, 0, scenario.request(0, quiet()));
  const gpu::RunResult result = scenario.run(system);
  CHECK(of_kind(result, "put").count == 8);
  const Depth& waiting = network(result).nics[0].commands_waiting;
  CHECK(waiting.most == 7);
  REQUIRE(waiting.times_ps.size() == 3);
  CHECK((waiting.times_ps[0] >= occupancy && waiting.times_ps[0] < occupancy + ramp));          // 1
  CHECK((waiting.times_ps[1] >= 2 * occupancy && waiting.times_ps[1] < 2 * occupancy + ramp));  // 2, 3
  CHECK((waiting.times_ps[2] > 4 * occupancy - ramp && waiting.times_ps[2] <= 4 * occupancy));  // 4 to 7
}

TEST_CASE("A link is utilised for the time that its bytes take, of all the run's") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.wait(0, 0, scenario.request(0, some_put(1 << 20)));
  const gpu::RunResult result = scenario.run(nodes());
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  const nlohmann::json all = nlohmann::json::parse(stats::to_json(result.report));
  const double seconds = all["total_cycles"].get<double>() / 1.5e9;
  unsigned wires = 0;
  for (const auto& link : all["system"]["links"]) {
    const double own = link["utilisation"], bytes = link["bytes"], rate = link["bytes_per_second"];
    CHECK(own == Approx(bytes / rate / seconds).margin(1e-6));
    CHECK(own <= 1);
    if (link["from"] != "nic0" || link["to"] != "net") continue;
    ++wires;
    CHECK(link["kind"] == "wire");
    CHECK(link["busy_ps"].get<double>() >= (1 << 20) / 12.5e9 * 1e12);  // 100 Gb/s
    CHECK(own > 0.8);                                                   // nothing else happens for long
  }
  CHECK(wires == 1);
  CHECK_THAT(stats::to_text(result.report, {}, {}),
             Catch::Contains("utilisation by kind of link, mean (busiest): pcie_gpu"));
}

}  // namespace lockstep::test
