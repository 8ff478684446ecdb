// Nodes with NICs over ranks: every design, and processes of hosts.
#include <fstream>
#include <sstream>

#include "support.hpp"
#include "tests/gpu/listed_trace.hpp"
#include "tests/net/scenario.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

constexpr std::uint16_t kNodes = 4;

gpu::RunOptions nodes(const std::string& design, std::uint32_t devices = kNodes) {
  gpu::RunOptions options = options_of(design == "apu" ? "compnet_apu_8" : "compnet_8", devices);
  options.system->network.node.design = config::net_design(design);
  return options;
}

/// Each of four devices puts to, gets from and adds at the next one, by two queues.
NetScenario ring() {
  NetScenario scenario(kNodes);
  for (std::uint16_t d = 0; d < kNodes; ++d) {
    const auto next = static_cast<std::uint16_t>((d + 1) % kNodes);
    for (std::uint32_t q = 0; q < 2; ++q)
      ask_every_kind(scenario, d, next, scenario.queue(d), 20'000u + d, q == 0);
  }
  return scenario;
}

/// Processes that compute, send to the next one and receive from the one before, beside a kernel each.
std::string exchange(int processes) {
  std::ostringstream text;
  const auto task = [&](int kind, int peer, int instructions, int bytes) {
    text << "HostTask," << kind << ',' << peer << ',' << instructions << ',' << bytes
         << ",0x14000000000,0x24000000000,0\n";
  };
  for (int p = 0; p < processes; ++p) {
    text << "Device," << p << "\nkernel-1.traceg\n";
    task(0, 0, 1000 * (p + 1), 64);
    task(1, (p + 1) % processes, 0, 30'000);
    task(2, (p + processes - 1) % processes, 0, 0);
    task(3, 0, 0, 0);
  }
  return text.str();
}

}  // namespace

TEST_CASE("Ranks change no byte of a system with NICs, in any design") {
  const NetScenario scenario = ring();
  for (const char* design : {"compnet", "dgpu", "dgpu_host", "apu", "direct"}) {
    INFO(design);
    gpu::RunOptions options = nodes(design);
    options.timeline = true;
    options.interval = 2000;
    scenario.with_trace([&](const trace::TraceSet& trace) {
      check_identity(trace, options, {2, 4});
      return 0;
    });
  }
}

TEST_CASE("Nor of processes of hosts, whichever rank has which node, nor at a limit") {
  const ListedTrace trace(exchange(kNodes));
  gpu::RunOptions options = nodes("inter_kernel");
  options.timeline = true;
  const gpu::RunResult whole = gpu::simulate(*trace, options);
  REQUIRE(whole.outcome == gpu::Outcome::kDone);
  check_identity(*trace, options, {2, 3});
  options.rank_map = gpu::spread(*options.system, 2);
  for (sim::Rank& rank : options.rank_map) rank = 1 - rank;
  check_identity(*trace, options, {2});
  options.rank_map.clear();
  options.interval = 500;
  check_identity(*trace, options, {2});
  options.max_cycles = whole.report.total_cycles / 2;
  REQUIRE(gpu::simulate(*trace, options).outcome == gpu::Outcome::kMaxCycles);
  check_identity(*trace, options, {2});
}

TEST_CASE("A wait for what never comes is found, and said by the rank that has it") {
  NetScenario scenario(2);
  scenario.await(1, NetScenario::word(1, 1), 1);
  const gpu::RunOptions options = nodes("compnet", 2);
  scenario.with_trace([&](const trace::TraceSet& trace) {
    const gpu::RunResult one = gpu::simulate(trace, options);
    REQUIRE(one.outcome == gpu::Outcome::kDeadlock);
    const gpu::RunResult two = simulate_on(2, trace, options);
    CHECK((bytes_of(two) == bytes_of(one)));
    CHECK_THAT(two.dump, Contains("rank 1:\n"));
    return 0;
  });
}

TEST_CASE("A node is never divided: its NIC and host are with its devices") {
  config::SystemConfig system = config::resolve_system("compnet_8", 4);
  CHECK((gpu::spread(system, 2)[system.nic_of(1)] == 0 && gpu::spread(system, 2)[system.nic_of(2)] == 1));
  CHECK((gpu::spread(system, 2)[system.host_of(1)] == 0 && gpu::spread(system, 2)[system.host_of(2)] == 1));
  system.hosts = system.nics = 2;
  CHECK_THROWS_WITH(gpu::spread(system, 3), Contains("3 processes for the 2 nodes"));
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "map").string();
  std::ofstream(file) << "gpu0 0\ngpu1 1\ngpu2 1\ngpu3 1\n";
  CHECK_THROWS_WITH(gpu::read_rank_map(file, system, 2), Contains("gpu0 and gpu1 share a NIC or a host"));
  std::ofstream(file) << "nic0 0\n";
  CHECK_THROWS_WITH(gpu::read_rank_map(file, system, 2), Contains("map:1: found 'nic0', which has the rank"));
}

}  // namespace lockstep::test
