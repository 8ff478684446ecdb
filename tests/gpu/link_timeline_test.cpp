// What the timeline says of links.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/system_config.hpp"
#include "listed_trace.hpp"
#include "resume_support.hpp"

namespace lockstep::test {
namespace {

using nlohmann::json;

constexpr const char* kTwoDevices =
    "Device,0\nPlace,0x10000000000,4294967296\nDevice,1\nPlace,0x20000000000,4294967296\n";

std::string copy(int from, std::uint64_t bytes) {
  const std::string ends = from == 0 ? "0x20000000000,0x10000000000" : "0x10000000000,0x20000000000";
  return "Device," + std::to_string(from) + "\nMemcpyPeer," + ends + "," + std::to_string(bytes) + "," +
         std::to_string(100 + from) + "\n";
}

/// Copies both ways, and a kernel of device 0 that stores to device 1.
std::string mixed() {
  return kTwoDevices + ("Device,1\nPlace," + std::string(kOutput) + ",16777216\n") + copy(0, 300'001) +
         copy(1, 70'000) + "Device,0\nkernel-1.traceg\n";
}

gpu::RunResult simulate(const std::string& commands, gpu::RunOptions options = {}) {
  const ListedTrace trace(commands);
  options.system = config::resolve_system("dgx_a100", 2);
  options.config = options.system->devices.front();
  options.timeline = true;
  return gpu::simulate(*trace, options);
}

/// By sender and the row's name: its events, in the file's order.
std::map<std::pair<std::string, std::string>, std::vector<json>> link_rows(const std::string& timeline) {
  std::map<std::uint64_t, std::string> nodes;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names;
  std::map<std::pair<std::string, std::string>, std::vector<json>> rows;
  const json parsed = json::parse(timeline);
  for (const json& event : parsed["traceEvents"]) {
    const std::string name = event["name"];
    if (name == "process_name") nodes[event["pid"]] = event["args"]["name"];
    if (name == "thread_name") names[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    const std::string row = names.at({event["pid"], event["tid"]});
    if (row.starts_with("link to")) rows[{nodes.at(event["pid"]), row}].push_back(event);
  }
  return rows;
}

TEST_CASE("What the timeline shows of a link sums to the link's statistics, in spans one after another") {
  const gpu::RunResult result = simulate(mixed());
  const auto rows = link_rows(result.timeline);
  std::size_t used = 0;
  for (const stats::LinkResult& link : result.report.system->links) {
    const std::string node =
        link.from.starts_with("gpu") ? "device " + link.from.substr(3) + ": a100" : link.from;
    const auto row = rows.find({node, "link to " + link.to + " (12 nvlink3)"});
    INFO(link.from << " to " << link.to);
    REQUIRE((row != rows.end()) == (link.bytes > 0));
    if (row == rows.end()) continue;
    ++used;
    std::uint64_t bytes = 0, messages = 0;
    double end = 0;
    for (const json& span : row->second) {
      bytes += span["args"]["bytes"].get<std::uint64_t>();
      messages += span["args"]["messages"].get<std::uint64_t>();
      CHECK(span["ts"].get<double>() >= end - 1e-6);
      end = span["ts"].get<double>() + span["dur"].get<double>();
      CHECK(span["dur"].get<double>() > 0);
      CHECK(span["args"]["utilisation"].get<double>() <= 1);
    }
    CHECK(bytes == link.bytes);
    CHECK(messages == link.messages);
  }
  CHECK(used == 4);
  CHECK(rows.size() == used);
}

TEST_CASE("A long copy fills its link, and copies far apart are spans of their own") {
  constexpr std::uint64_t kBytes = 8 << 20;
  const gpu::RunResult one = simulate(kTwoDevices + copy(0, kBytes) + "kernel-1.traceg\n");
  const auto spans = link_rows(one.timeline).at({"device 0: a100", "link to nvswitch (12 nvlink3)"});
  // 136 bytes per line, 300 GB/s, 1410 MHz: some 41900 cycles, of which spans cover 8192.
  CHECK(spans.size() == kBytes / 128 * 136 * 141 / 30000 / 8192 + 1);
  CHECK(spans[2]["args"]["utilisation"].get<double>() == Approx(1).epsilon(0.01));
  CHECK(spans[2]["dur"].get<double>() == Approx(8192 / 1410.).epsilon(0.01));
  // Each begins 1.84 us after its turn.
  const gpu::RunResult three =
      simulate(kTwoDevices + copy(0, 4096) + copy(0, 4096) + copy(0, 4096) + "kernel-1.traceg\n");
  CHECK(link_rows(three.timeline).at({"device 0: a100", "link to nvswitch (12 nvlink3)"}).size() == 3);
}

TEST_CASE("Rows of links are the same for all threads, windows and orders of domains", "[matrix]") {
  const std::string one = simulate(mixed()).timeline;
  for (const unsigned threads : {2u, 4u}) {
    gpu::RunOptions options;
    options.threads = threads;
    options.window = threads == 2 ? 1 : 7;
    options.shuffle = threads;
    options.skip = threads == 2;
    CHECK((simulate(mixed(), options).timeline == one));
  }
}

TEST_CASE("Rows of links go on from a state") {
  const ListedTrace trace(mixed() + mixed());
  gpu::RunOptions options;
  options.timeline = true;
  options.system = config::resolve_system("dgx_a100", 2);
  options.config = options.system->devices.front();
  check_resume(*trace, options, 1, 2);
}

}  // namespace
}  // namespace lockstep::test
