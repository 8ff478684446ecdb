// Small parts of a run's report alone: texts of timelines, times of a program's clock, clusters that fit.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "config/config.hpp"
#include "gpu/cluster_plan.hpp"
#include "gpu/timeline_writer.hpp"
#include "gpu/timestamps.hpp"
#include "tests/random.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using TracedCommand = trace::Command;

/// Microseconds with six decimals, rounded down, by division on paper.
std::string microseconds_on_paper(std::uint64_t cycles, std::uint64_t khz) {
  std::uint64_t rest = cycles % khz;  // of less than a millisecond
  std::uint64_t whole = cycles / khz * 1000;
  std::string decimals;
  whole += rest * 1000 / khz;
  rest = rest * 1000 % khz;
  for (int i = 0; i < 6; ++i) {
    decimals += static_cast<char>('0' + rest * 10 / khz);
    rest = rest * 10 % khz;
  }
  return std::to_string(whole) + "." + decimals;
}

TEST_CASE("timeline text: times are exact, rounded down to a picosecond, over hours and for any clock") {
  Random32 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t khz = 1 + random() % 3'000'000;
    const std::uint64_t cycles = (std::uint64_t{random()} << 16) >> random() % 40;
    gpu::TimelineWriter out(khz);
    out.instant(1, "x", cycles, "");
    const std::string text = out.take(), key = "\"ts\":";
    const std::size_t at = text.find(key) + key.size();
    REQUIRE(text.substr(at, text.find(',', at) - at) == microseconds_on_paper(cycles, khz));
  }
}

TEST_CASE("timeline text: any names and arguments are JSON, each event with its process, row and clock") {
  gpu::TimelineWriter out(1'000'000);
  out.row(4, "a \"row\"\n");
  out.span(4, "kernel\\", 1000, 500, "\"n\":1");
  out.device(2, 2'000'000);
  out.span(5, "twice as fast", 1000, 500, "");
  out.node(7);
  out.name_node("nic0");
  out.span_ps(6, "op", 1'500'000, 4'000'001, "");
  const nlohmann::json all = nlohmann::json::parse(out.take());
  CHECK(all.at("displayTimeUnit") == "ns");
  const nlohmann::json& events = all.at("traceEvents");
  REQUIRE(events.size() == 5);
  CHECK((events[0].at("ph") == "M" && events[0].at("args").at("name") == "a \"row\"\n"));
  CHECK((events[1].at("pid") == 1 && events[1].at("tid") == 4 && events[1].at("args").at("n") == 1));
  CHECK((events[1].at("ts") == 1.0 && events[1].at("dur") == 0.5));  // us
  CHECK((events[2].at("pid") == 3 && events[2].at("ts") == 0.5 && events[2].at("dur") == 0.25));
  CHECK((events[3].at("name") == "process_name" && events[3].at("pid") == 8));
  CHECK((events[4].at("ts") == 1.5 && events[4].at("dur") == 2.500001));
}

TracedCommand record_on(std::uint16_t device, TracedCommand::Timestamp whose) {
  TracedCommand c;
  c.kind = TracedCommand::Kind::kEventRecord;
  c.device = device;
  c.timestamp = whose;
  return c;
}

TEST_CASE("timestamps: records are numbered over all devices, and each process has its own in order") {
  using Whose = TracedCommand::Timestamp;
  TracedCommand kernel;
  kernel.device = 3;
  CHECK(gpu::timestamps_of({kernel, record_on(1, Whose::kNone)}).empty());
  const auto all = gpu::timestamps_of({record_on(1, Whose::kClock), kernel, record_on(0, Whose::kNone),
                                       record_on(1, Whose::kEvent), record_on(2, Whose::kEvent),
                                       record_on(1, Whose::kClock)});
  REQUIRE(all.size() == 4);
  CHECK((all[0].clocks.empty() && all[0].events.empty() && all[3].clocks.empty()));
  CHECK(all[1].clocks == std::vector<std::uint32_t>{0, 4});
  CHECK(all[1].events == std::vector<std::uint32_t>{2});
  CHECK(all[2].events == std::vector<std::uint32_t>{3});
}

TEST_CASE("timestamps: times in picoseconds, up to the first record that is not complete") {
  using HostKind = host::HostCommand::Kind;
  std::vector<host::HostCommand> commands(6);
  for (const std::size_t i : {0u, 2u, 4u}) commands[i].kind = HostKind::kKernel;
  for (const std::size_t i : {1u, 3u, 5u}) commands[i].kind = HostKind::kEventRecord;
  commands[4].stream = commands[5].stream = 1;
  host::HostQueue queue(commands, 2, config::CopyMode::kBlocking);
  queue.proceed([](std::uint32_t) {});
  queue.kernel_done(0, 7, 9);
  queue.kernel_done(4, 20, 21);
  stats::NetworkReport network;
  network.processes.resize(3);
  for (std::uint16_t p = 0; p < 3; ++p) network.processes[p].device = p;
  // Records 0 and 2 are complete; 1 is behind a kernel that runs.
  gpu::add_times({{{0, 2}, {}}, {{0, 1, 2}, {2}}}, queue, 3'000'000, network);
  CHECK(network.processes[0].clock_ps == std::vector<std::uint64_t>{2333, 6666});  // 7 and 20 at 3 GHz
  CHECK(network.processes[0].event_ps->empty());
  CHECK(network.processes[1].clock_ps == std::vector<std::uint64_t>{2333});
  CHECK(network.processes[1].event_ps == std::vector<std::uint64_t>{6666});
  CHECK_FALSE(network.processes[2].clock_ps.has_value());  // it has no timestamps
}

TEST_CASE(
    "clusters: thread blocks are placed together where the GPU has clusters, else one by one or refused") {
  const config::GpuConfig h100 = config::resolve("h100_sxm"), v100 = config::resolve("v100");
  trace::KernelHeader kernel;
  kernel.name = "k";
  kernel.id = 3;
  kernel.grid = {64, 1, 1};
  kernel.block = {128, 1, 1};
  config::Occupancy occupancy;
  occupancy.ctas_per_sm = 1;
  std::set<std::string> remarks;
  CHECK(gpu::cluster_ctas(kernel, occupancy, v100, remarks) == 1);
  CHECK(remarks.empty());
  kernel.cluster = {2, 4, 1};
  CHECK(gpu::cluster_ctas(kernel, occupancy, h100, remarks) == 8);
  CHECK(remarks.empty());
  for (int i = 0; i < 2; ++i) CHECK(gpu::cluster_ctas(kernel, occupancy, v100, remarks) == 1);
  REQUIRE(remarks.size() == 1);
  CHECK_THAT(*remarks.begin(), Catch::Contains("v100 has no clusters (cluster.latency = 0)"));
  kernel.shared_ranks = true;
  CHECK_THROWS_WITH(gpu::cluster_ctas(kernel, occupancy, v100, remarks),
                    Catch::StartsWith("kernel 3 (k) has clusters of 8 thread blocks, and v100 has none"));
}

}  // namespace
}  // namespace lockstep::test
