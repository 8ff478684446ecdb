// MPI programs: as many latencies, bytes and messages as in the simulation.
#include <map>

#include "export/draft.hpp"
#include "replayer.hpp"
#include "support.hpp"
#include "tests/messages/support.hpp"

namespace lockstep::test {
namespace {

using messages::Protocol;

constexpr std::uint64_t kSmall = 8, kLarge = 20000;  // eager, and by rendezvous: 12288 is the limit

config::SystemConfig system_of(const Calls& calls) { return nodes(calls.processes(), "inter_kernel"); }

/// How many latencies stand in the makespan of what is exported.
double replayed_ways(const Calls& calls, const Protocol& protocol = {}) {
  const messages::JoinedTrace trace = calls.join(protocol);
  const Goal goal(Simulated(trace, system_of(calls)).goal());
  constexpr double kMore = 1e9;
  return (goal.makespan({.latency = kMore}) - goal.makespan()) / kMore;
}

Calls ping_pong(std::uint64_t bytes, unsigned rounds) {
  Calls calls(2);
  for (unsigned i = 0; i < rounds; ++i) calls.send(0, 1, bytes).receive(1, 0).send(1, 0, bytes).receive(0, 1);
  return calls;
}

Calls mixture() {
  Calls calls(4);
  calls.collective("MPI_Allreduce", 0, {1 << 16}).collective("MPI_Alltoall", 0, {9, 99, 20000, 7});
  return calls.send(0, 3, kLarge).receive(3, 0).collective("MPI_Barrier", 0, {});
}

}  // namespace

TEST_CASE("The exported messages wait for each other as in the simulation") {
  const Calls all[] = {ping_pong(kSmall, 3),
                       ping_pong(kLarge, 3),
                       window_of(kSmall),
                       exchange_of(kLarge),
                       Calls(5).collective("MPI_Bcast", 0, {kSmall}),
                       Calls(4).collective("MPI_Allreduce", 0, {2056})};
  const double expected[] = {6, 18 + 1, 1, 4, 2, 6};  // tests/messages/timing_test.cpp: ways() has the same
  for (std::size_t i = 0; i < std::size(all); ++i) {
    CAPTURE(i);
    CHECK(replayed_ways(all[i]) == Approx(expected[i]).margin(1e-3));
  }
  CHECK(ways(all[1]) == Approx(replayed_ways(all[1])).margin(0.05));
}

TEST_CASE("Latencies from one program predict others") {
  const auto both = [](const Calls& calls, const Network& network) {
    const messages::JoinedTrace trace = calls.join();
    const Simulated run(trace, system_of(calls));
    return std::pair(run.ns(), Goal(run.goal()).makespan(network));
  };
  // Of 8 further messages, the replay lacks the network's part.
  const auto one_way = [&](std::uint64_t bytes) {
    const auto [few, few_here] = both(ping_pong(bytes, 2), {});
    const auto [many, many_here] = both(ping_pong(bytes, 6), {});
    return ((many - few) - (many_here - few_here)) / 8;
  };
  Network network{.latency = one_way(0), .per_byte = 1 / 12.36};  // GB/s, tests/messages/timing_test.cpp
  network.fetch = one_way(kSmall) - network.latency;
  CHECK((network.latency > 500 && network.fetch > 500));
  const auto check = [&](const Calls& calls, double error = 0.05) {
    const auto [simulated, replayed] = both(calls, network);
    CHECK(replayed == Approx(simulated).epsilon(error));
  };
  check(Calls(4).collective("MPI_Allreduce", 0, {1 << 20}));
  check(Calls(5).collective("MPI_Barrier", 0, {}));
  check(Calls(8).collective("MPI_Bcast", 0, {kSmall}));
  check(ping_pong(kLarge, 3));
  check(mixture(), 0.1);  // NICs fetch several messages' data at once
}

TEST_CASE("Sends and receives are pairs, and as many bytes as the statistics have") {
  const messages::JoinedTrace trace = mixture().join();
  const Simulated run(trace, nodes(4, "inter_kernel"));
  const exporter::Graph graph = run.graph();
  std::map<std::tuple<unsigned, unsigned, unsigned, std::uint64_t>, int> open;
  std::map<unsigned, std::uint64_t> sent;
  for (const exporter::Node& node : graph.nodes) {
    if (node.kind == exporter::Node::Kind::kSend) {
      ++open[{node.rank, node.peer, node.tag, node.bytes}];
      sent[node.rank] += node.bytes;
    }
    if (node.kind == exporter::Node::Kind::kReceive) --open[{node.peer, node.rank, node.tag, node.bytes}];
  }
  CHECK(open.size() == count(graph, exporter::Node::Kind::kSend));
  for (const auto& [message, left] : open) CHECK(left == 0);
  for (const auto& process : network(run.result).processes) CHECK(sent[process.device] == process.bytes_sent);
}

TEST_CASE("Programs of hosts: tasks, kernels between them, and messages that no task waits for") {
  // HostTask,TASK,OTHER,INSTRUCTIONS,BYTES,LOCAL,REMOTE,STREAM: 0 computes, 1 sends, 2 receives, 3 flushes.
  const ListedTrace trace(
      "Device,0\nPlace,0x30000000000,4294967296\nHostTask,0,0,72000,0,0,0,0\nkernel-1.traceg\n"
      "HostTask,1,1,0,4096,0x30000000000,0x10000000000,0\nHostTask,1,1,0,64,0x30000000000,0x10000000000,0\n"
      "HostTask,3,0,0,0,0,0,0\nDevice,1\nPlace,0x10000000000,4294967296\nHostTask,2,0,0,0,0,0,0\n"
      "kernel-1.traceg\nHostTask,0,0,720,0,0,0,0\n");
  const config::SystemConfig system = nodes(2, "inter_kernel");
  const Simulated run(*trace, system);
  const exporter::Graph graph = run.graph();
  REQUIRE(graph.ranks == 2);
  CHECK(count(graph, exporter::Node::Kind::kSend) == 2);
  CHECK(count(graph, exporter::Node::Kind::kReceive) == 2);
  double kernels = 0;
  for (const stats::KernelResult& kernel : run.result.report.kernels)
    kernels += static_cast<double>(kernel.launch_cycles + kernel.cycles) / 1.5;
  CHECK(computed(graph, (*trace).kernels()[0].name) == Approx(kernels).margin(0.01));
  // What the process spends before and behind a kernel, one of each for device 0, and for device 1.
  const config::LaunchGroup launch = system.devices[0].launch;
  CHECK(computed(graph, "call of the CUDA runtime") == 2.0 * (launch.call_ns + launch.wait_ns));
  // 16 threads of 4 GHz that complete 1.8 instructions in a cycle.
  CHECK(computed(graph, "compute") == Approx(72720 / (16 * 4 * 1.8)).margin(0.002));
  const double without = Goal(run.goal()).makespan();
  CHECK(without < run.ns());
  CHECK(run.ns() - without < 4000);  // one message
}

TEST_CASE("One-sided operations come back, once each") {
  // Tasks 22, 24, 26, 28: put, get, atomic, wait for one; their numbers stand in the third field.
  const auto list = [](const char* tasks) {
    return std::string(
               "Device,0\nPlace,0x30000000000,4294967296\nDevice,1\nPlace,0x10000000000,4294967296\n") +
           "kernel-1.traceg\nDevice,0\n" + tasks;
  };
  const auto check = [&](const char* tasks, double expected, std::uint64_t bytes) {
    CAPTURE(tasks);
    const ListedTrace trace(list(tasks));
    config::SystemConfig system = nodes(2, "inter_kernel");
    const Simulated run(*trace, system);
    constexpr std::uint64_t kMore = 50'000'000;  // ps; more than everything else takes
    kind(system, "wire").latency_ps += kMore;
    const Simulated later(*trace, system);
    CHECK((later.ns() - run.ns()) / (2 * kMore / 1000.0) == Approx(expected).margin(0.05));
    const Goal goal(run.goal());
    CHECK((goal.makespan({.latency = 1e9}) - goal.makespan()) / 1e9 == Approx(expected).margin(1e-3));
    std::uint64_t sent = 0;
    for (const exporter::Node& node : run.graph().nodes)
      if (node.kind == exporter::Node::Kind::kSend) sent += node.bytes;
    CHECK(sent == bytes);
  };
  check("HostTask,22,1,0,4096,0x30000000000,0x10000000000,0\nHostTask,28,1,0,0,0,0,0\n", 2, 4096);
  check("HostTask,24,1,0,4096,0x30000000000,0x10000000000,0\nHostTask,28,1,0,0,0,0,0\n", 2, 4096);
  check("HostTask,26,1,0,8,0x30000000000,0x10000000000,0\nHostTask,28,1,0,0,0,0,0\n", 2, 16);
  check(
      "HostTask,22,1,0,64,0x30000000000,0x10000000000,0\nHostTask,24,1,1,64,0x30000000000,0x10000000000,0\n"
      "HostTask,28,1,0,0,0,0,0\nHostTask,28,1,1,0,0,0,0\nHostTask,22,1,2,64,0x30000000000,0x10000000000,0\n"
      "HostTask,28,1,2,0,0,0,0\n",
      4, 192);
}

TEST_CASE("A receive without a send is an error, and so are two of one message") {
  using exporter::MessageKey;
  const auto draft = [](bool send, int receives) {
    exporter::Draft made(2);
    const MessageKey key{0, 1, MessageKey::Space::kProgram, 7};
    if (send) (void)made.send(key, 1, false, {}, {});
    for (int i = 0; i < receives; ++i) (void)made.receive(key, {}, {});
    return made.finish();
  };
  CHECK(draft(true, 0).nodes.size() == 2);
  CHECK(draft(true, 1).nodes.size() == 2);
  CHECK_THROWS_WITH(draft(false, 1), "process 1 waits for message 7 of process 0, which does not send it");
  CHECK_THROWS_WITH(draft(true, 2), "process 1 waits for message 7 of process 0 twice");
}

TEST_CASE("What hosts compute takes the simulated time") {
  const messages::JoinedTrace trace = Calls(2).collective("MPI_Allreduce", 0, {1 << 20}).join();
  const Simulated run(trace, nodes(2, "inter_kernel"));
  const double each = static_cast<double>(network(run.result).processes[0].tasks[0].total_ps) / 1000;
  CHECK(computed(run.graph(), "compute") == Approx(2 * each).epsilon(0.001));
}

}  // namespace lockstep::test
