// The rows of the timeline that show the network, against the statistics of the same run.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace lockstep::test {
namespace {

using nlohmann::json;

/// Two queues of each device with operations of every kind, some under way at a time.
NetScenario busy() {
  NetScenario scenario(2, 4);
  for (std::uint16_t d = 0; d < 2; ++d) {
    for (std::uint32_t q = 0; q < 2; ++q) scenario.queue(d);
    for (std::uint32_t q = 0; q < 2; ++q) ask_every_kind(scenario, d, q, 5000, false);
  }
  return scenario;
}

struct Slice {
  std::string name;
  std::uint64_t from, to;  // ps
};
/// By node, then row.
using Rows = std::map<std::string, std::map<std::string, std::vector<Slice>>>;

std::uint64_t ps(const json& microseconds) {
  return static_cast<std::uint64_t>(std::llround(microseconds.get<double>() * 1e6));
}

Rows rows_of(const std::string& timeline) {
  std::map<int, std::string> nodes;
  std::map<std::pair<int, std::uint64_t>, std::string> names;
  Rows rows;
  const json all = json::parse(timeline);
  for (const json& e : all["traceEvents"]) {
    const int pid = e.at("pid");
    if (e.at("name") == "process_name") nodes[pid] = e["args"]["name"];
    if (e.at("name") == "thread_name") names[{pid, e["tid"]}] = e["args"]["name"];
    if (e.at("ph") == "X")
      rows[nodes[pid]][names[{pid, e["tid"]}]].push_back(
          {e["name"], ps(e["ts"]), ps(e["ts"]) + ps(e["dur"])});
  }
  return rows;
}

gpu::RunResult recorded(const NetScenario& scenario, const config::SystemConfig& system,
                        gpu::RunOptions options = {}) {
  options.timeline = true;
  const gpu::RunResult result = scenario.run(system, options);
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  return result;
}

/// Of all slices in rows whose names begin with `row`, by the slices' names.
std::map<std::string, std::uint64_t> times(const Rows& rows, const std::string& row) {
  std::map<std::string, std::uint64_t> sums;
  for (const auto& [node, own] : rows)
    for (const auto& [name, slices] : own)
      if (name.starts_with(row))
        for (const Slice& slice : slices) sums[slice.name] += slice.to - slice.from;
  return sums;
}

}  // namespace

TEST_CASE("The slices of operations add up to their times in the statistics, stage by stage") {
  for (const char* design : kDesigns) {
    INFO(design);
    const gpu::RunResult result = recorded(busy(), nodes(2, design));
    const auto sums = times(rows_of(result.timeline), "network operations");
    std::uint64_t all = 0, commands = 0;
    std::size_t stages = 0;
    for (std::size_t k = 0; k < stats::kNetworkKinds.size(); ++k) {
      const Stages of = network(result).all_of(k);
      CHECK(of.count > 0);
      for (std::size_t s = 0; s < stats::kNetworkStages.size(); ++s) {
        if (of.sum_ps[s] == 0) continue;
        const std::string name =
            std::string(stats::kNetworkKinds[k]) + " " + std::string(stats::kNetworkStages[s]);
        INFO(name);
        REQUIRE(sums.contains(name));
        CHECK(sums.at(name) == of.sum_ps[s]);
        ++stages;
        const std::string_view stage = stats::kNetworkStages[s];
        const bool of_command = stage == "fetched" || stage == "sent" || stage == "complete";
        if (of_command && (k < 3 || std::string(design) == "direct")) commands += of.sum_ps[s];
      }
      all += of.total_ps;
    }
    CHECK(sums.size() == stages);
    std::uint64_t sum = 0, in_nics = 0;
    for (const auto& [name, time] : sums) sum += time;
    CHECK(sum == all);
    for (const auto& [name, time] : times(rows_of(result.timeline), "commands")) in_nics += time;
    CHECK(in_nics == commands);
  }
}

TEST_CASE("Slices of a row do not overlap, and rows are of the nodes that they are about") {
  for (const char* design : kDesigns) {
    INFO(design);
    const Rows rows = rows_of(recorded(busy(), nodes(2, design)).timeline);
    for (const auto& [node, own] : rows)
      for (const auto& [name, slices] : own) {
        INFO(node << ", " << name);
        for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i].from >= slices[i - 1].to);
      }
    CHECK(rows.at("device 0: a100").contains("network operations 1"));  // two are under way
    CHECK(rows.at("nic1").contains("commands 0"));
    CHECK_FALSE(rows.at("nic1").contains("network operations 0"));
  }
}

TEST_CASE("A service thread's calls are its entries, and its completions its records") {
  for (const char* design : {"compnet", "dgpu", "apu"}) {
    INFO(design);
    config::SystemConfig system = nodes(2, design);
    system.network.nic.queue_entries = 1;  // calls are left for completions
    const gpu::RunResult result = recorded(busy(), system);
    std::uint64_t calls = 0, completions = 0, found = 0, records = 0, active = 0, spent = 0;
    for (const auto& [node, own] : rows_of(result.timeline))
      for (const auto& [name, slices] : own) {
        if (!name.starts_with("command processor") && !name.starts_with("service thread")) continue;
        for (const Slice& slice : slices) {
          ++(slice.name == "call" ? calls : completions);
          spent += slice.to - slice.from;
        }
      }
    for (const auto& thread : network(result).threads) {
      found += thread.found;
      records += thread.records;
      active += thread.active_ps;
    }
    CHECK(records > 0);
    CHECK(completions == records);
    CHECK(calls > found);  // in two parts, some
    CHECK(calls <= 2 * found);
    CHECK((spent > 0 && spent <= active));
    system.network.nic.queue_entries = 64;
    CHECK(times(rows_of(recorded(busy(), system).timeline), "command processor").size() ==
          (std::string(design) == "compnet" ? 2 : 0));
  }
}

TEST_CASE("The timeline of a network is the same for any threads, windows and order of domains") {
  for (const char* design : {"compnet", "dgpu", "direct"}) {
    const NetScenario scenario = busy();
    const config::SystemConfig system = nodes(2, design);
    const std::string one = recorded(scenario, system).timeline;
    for (const unsigned way : {0u, 1u, 2u, 3u}) {
      gpu::RunOptions options;
      options.threads = 1 + way;
      options.window = way == 0 ? 0 : 2 * way;
      options.skip = way != 2;
      options.shuffle = way + 1;
      CHECK((recorded(scenario, system, options).timeline == one));
    }
  }
}

}  // namespace lockstep::test
