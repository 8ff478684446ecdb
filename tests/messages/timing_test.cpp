// What messages and collective calls take, against closed forms of the network.
#include "support.hpp"

namespace lockstep::test {
namespace {

using messages::AllReduce;
using messages::Protocol;

constexpr std::uint64_t kSmall = 8, kLarge = 20000;  // eager, and by rendezvous: 12288 is the limit

Calls ping_pong(std::uint64_t bytes, unsigned rounds, Address a = 0, Address b = 0) {
  Calls calls(2);
  for (unsigned i = 0; i < rounds; ++i) {
    calls.send(0, 1, bytes, 0, a).receive(1, 0, 0, b);
    calls.send(1, 0, bytes, 0, b).receive(0, 1, 0, a);
  }
  return calls;
}

/// One way, in ns.
double half_round(std::uint64_t bytes, Address a = 0, Address b = 0, const Protocol& protocol = {}) {
  const config::SystemConfig system = nodes(2, "inter_kernel");
  const double few = time_of(ping_pong(bytes, 2, a, b).run(system, protocol));
  const double many = time_of(ping_pong(bytes, 6, a, b).run(system, protocol));
  return (many - few) / 8;
}

}  // namespace

TEST_CASE("An eager message crosses the network once, one by rendezvous three times") {
  CHECK(ways(ping_pong(kSmall, 3)) == Approx(6).margin(0.05));
  CHECK(ways(ping_pong(12288, 3)) == Approx(6).margin(0.05));
  CHECK(ways(ping_pong(12289, 3)) == Approx(18 + 1).margin(0.05));  // the last acknowledgement
  CHECK(ways(ping_pong(kSmall, 3), {.eager_bytes = 0}) == Approx(18 + 1).margin(0.05));
  CHECK(ways(ping_pong(kLarge, 3), {.eager_bytes = 1 << 20}) == Approx(6).margin(0.05));
}

TEST_CASE("A long message moves at the slowest link's rate, from GPU to GPU and from host to host") {
  const Address gpu0 = Address{1} << 45;
  for (const Address buffer : {Address{0}, gpu0}) {
    INFO(buffer);
    const double more = half_round(2 << 20, buffer, buffer) - half_round(1 << 20, buffer, buffer);
    // A wire of 12.5 GB/s whose packets of 4096 bytes have headers of 30 and 16.
    CHECK((1 << 20) / more == Approx(12.5 * 4096 / (4096 + 46)).epsilon(0.03));
  }
}

TEST_CASE("Overlapping messages share the latency, and each other's wait") {
  CHECK(ways(window_of(kSmall)) == Approx(1).margin(0.05));
}

TEST_CASE("Both processes may send by rendezvous before they receive, if they do not wait for it") {
  CHECK(ways(exchange_of(kLarge)) == Approx(4).margin(0.05));
  Calls blocking(2);
  for (const unsigned p : {0u, 1u}) blocking.send(p, 1 - p, kLarge).receive(p, 1 - p);
  CHECK(blocking.run(nodes(2, "inter_kernel")).outcome == gpu::Outcome::kDeadlock);
  CHECK(blocking.run(nodes(2, "inter_kernel"), {.eager_bytes = kLarge}).outcome == gpu::Outcome::kDone);
}

TEST_CASE("A receive by rendezvous that comes late holds up the data, an eager one does not") {
  // Process 1 first waits for process 2, whose message is two ways behind that of process 0 (by process 3).
  const auto late = [](std::uint64_t bytes) {
    Calls calls(4);
    calls.send(0, 1, bytes);
    calls.send(3, 2, kSmall).receive(2, 3).send(2, 1, kSmall);
    calls.receive(1, 2).receive(1, 0);
    return ways(calls);
  };
  CHECK(late(kSmall) == Approx(2).margin(0.05));
  // Then it is accepted, the data come, and are acknowledged to the blocked sender.
  CHECK(late(kLarge) == Approx(2 + 3).margin(0.05));
}

TEST_CASE("Collective calls take as many steps as their algorithms have") {
  const auto steps = [](unsigned processes, const std::string& name, std::vector<std::uint64_t> sizes,
                        AllReduce all_reduce = AllReduce::kAuto) {
    return ways(Calls(processes).collective(name, 0, sizes), {.all_reduce = all_reduce});
  };
  const auto each = [](unsigned n) { return std::vector<std::uint64_t>(n, kSmall); };
  CHECK(steps(2, "MPI_Barrier", {}) == Approx(1).margin(0.05));
  CHECK(steps(5, "MPI_Barrier", {}) == Approx(3).margin(0.05));
  CHECK(steps(8, "MPI_Barrier", {}) == Approx(3).margin(0.05));
  CHECK(steps(8, "MPI_Bcast", {kSmall}) == Approx(3).margin(0.05));
  CHECK(steps(5, "MPI_Bcast", {kSmall}) == Approx(2).margin(0.05));  // 0 to 4; 0 to 2 to 3
  CHECK(steps(8, "MPI_Reduce", {kSmall}) == Approx(3).margin(0.05));
  CHECK(steps(8, "MPI_Allreduce", {kSmall}) == Approx(3).margin(0.05));
  // 0 to 1; 1 to 3; 1 to 4, which has had 5's part all the while, or back to 0.
  CHECK(steps(6, "MPI_Allreduce", {kSmall}) == Approx(3).margin(0.05));
  CHECK(steps(8, "MPI_Allreduce", {kSmall}, AllReduce::kRing) == Approx(14).margin(0.1));
  CHECK(steps(4, "MPI_Allreduce", {2048}) == Approx(2).margin(0.05));
  CHECK(steps(4, "MPI_Allreduce", {2056}) == Approx(6).margin(0.05));
  CHECK(steps(8, "MPI_Allgather", each(8)) == Approx(7).margin(0.1));
  CHECK(steps(8, "MPI_Alltoall", each(8)) == Approx(7).margin(0.1));
  CHECK(steps(8, "MPI_Gather", {kSmall}) == Approx(1).margin(0.05));
  CHECK(steps(8, "MPI_Scatter", each(8)) == Approx(1).margin(0.05));
  CHECK(steps(8, "MPI_Reduce_scatter", each(8)) == Approx(7).margin(0.1));
  CHECK(steps(8, "MPI_Scan", {kSmall}) == Approx(3).margin(0.05));
  CHECK(steps(5, "MPI_Scan", {kSmall}) == Approx(3).margin(0.05));
  CHECK(steps(8, "MPI_Exscan", {kSmall}) == Approx(3).margin(0.05));
  CHECK(steps(1 + 1, "MPI_Bcast", {kLarge}) == Approx(4).margin(0.05));  // and its acknowledgement
}

TEST_CASE("Neighbours exchange at once, whatever their number") {
  Calls calls(8);
  for (unsigned p = 0; p < 8; ++p) {
    std::string others;
    for (unsigned by : {1u, 2u, 6u, 7u}) others += " " + std::to_string((p + by) % 8);
    calls.line(p, "K 0 MPI_Neighbor_alltoall 0 0 0 0 4 8 8 8 8" + others + " 4" + others);
  }
  CHECK(ways(calls) == Approx(1).margin(0.05));
}

TEST_CASE(
    "Of a collective call with a request, the first step goes on while the process does something else") {
  const auto both = [](const std::string& name, const std::string& sizes) {
    Calls calls(4);
    for (unsigned p = 0; p < 4; ++p)
      calls.line(p, "C 1 9 4 0 1 2 3").line(p, "I 0 9 " + name + " 1 0 0 0 " + sizes);
    for (unsigned p = 0; p < 4; ++p) calls.line(p, "K 0 MPI_Barrier 0 0 0 0 0").line(p, "W 0 0 9");
    return ways(calls);
  };
  // A barrier of two steps, and one of the other's two, or six, is over by then.
  CHECK(both("MPI_Barrier", "0") == Approx(2 + 1).margin(0.05));
  CHECK(both("MPI_Allreduce", "1 8") == Approx(2 + 1).margin(0.05));
  CHECK(both("MPI_Allreduce", "1 4096") == Approx(2 + 5).margin(0.1));
  CHECK(both("MPI_Neighbor_alltoall", "0 0") == Approx(2).margin(0.05));
}

TEST_CASE("Reads of the clock are apart by what the process does between them, and take nothing") {
  constexpr std::uint64_t kRounds = 3, kMore = 50'000'000;  // ps
  const auto run = [&](std::uint64_t more_ps, bool reads) {
    Calls calls(2);
    const auto read = [&](unsigned process) {
      if (reads) calls.line(process, "T 0");
    };
    calls.send(0, 1, kSmall).receive(1, 0);
    read(0);
    for (unsigned i = 0; i < kRounds; ++i) {
      calls.receive(0, 1).send(1, 0, kSmall);
      read(1);
      calls.send(0, 1, kSmall).receive(1, 0);
    }
    read(0);
    read(1);
    config::SystemConfig system = nodes(2, "inter_kernel");
    kind(system, "wire").latency_ps += more_ps;
    return calls.run(system);
  };
  const gpu::RunResult result = run(0, true), slow = run(kMore, true);
  const auto& one = network(result).processes;
  const auto& more = network(slow).processes;
  const auto apart = [](const auto& process) { return process.clock_ps->back() - process.clock_ps->front(); };
  REQUIRE((one[0].clock_ps->size() == 2 && one[1].clock_ps->size() == kRounds + 1));
  CHECK(one[0].event_ps->empty());
  // Two wires of a star each way.
  CHECK(apart(more[0]) - apart(one[0]) == Approx(2 * 2 * kRounds * kMore).epsilon(1e-5));
  CHECK(apart(more[1]) - apart(one[1]) == Approx(2 * 2 * kRounds * kMore).epsilon(1e-5));
  // The last call of process 1 ends the run.
  CHECK(static_cast<double>(one[1].clock_ps->back()) / 1000 == Approx(time_of(result)).margin(0.001));
  const gpu::RunResult without = run(0, false);
  CHECK(without.report.total_cycles == result.report.total_cycles);
  CHECK(!network(without).processes[0].clock_ps);
}

TEST_CASE("Collective calls of a communicator with requests may be completed in any order") {
  Calls calls(4);
  for (unsigned p = 0; p < 4; ++p) {
    for (const char* request : {"5", "6"})
      calls.line(p, "I 0 " + (request + std::string(" MPI_Barrier 0 0 0 0 0")));
    calls.line(p, p < 2 ? "W 0 0 5" : "W 0 0 6").line(p, p < 2 ? "W 0 0 6" : "W 0 0 5");
  }
  calls.collective("MPI_Barrier", 0, {});
  // Both first steps; the second one of the second call, which 0 and 1 make while they wait; that of the
  // first call, which 2 and 3 make next.
  CHECK(ways(calls) == Approx(1 + 1 + 1 + 2).margin(0.1));
}

TEST_CASE("A process that waits goes on with its collective calls where others wait for those") {
  // Of a binomial tree, process 2 passes the data on to 3, for whose message it waits before it asks for
  // them.
  Calls calls(4);
  for (unsigned p = 0; p < 4; ++p) calls.line(p, "I 0 9 MPI_Bcast 0 0 0 0 1 8");
  calls.receive(2, 3);
  calls.line(3, "W 0 0 9").send(3, 2, kSmall);
  for (unsigned p = 0; p < 3; ++p) calls.line(p, "W 0 0 9");
  CHECK(ways(calls) == Approx(3).margin(0.05));
  // Where no process can go on, it is a deadlock.
  Calls stuck(2);
  for (unsigned p = 0; p < 2; ++p) stuck.line(p, "I 0 9 MPI_Bcast 0 0 0 0 1 8");
  for (unsigned p = 0; p < 2; ++p) stuck.receive(p, 1 - p).send(p, 1 - p, kSmall).line(p, "W 0 0 9");
  CHECK(stuck.run(nodes(2, "inter_kernel")).outcome == gpu::Outcome::kDeadlock);
}

TEST_CASE("A ring moves 2 (P - 1) / P of the data over each wire") {
  const auto time = [](std::uint64_t bytes) {
    return time_of(Calls(4).collective("MPI_Allreduce", 0, {bytes}).run(nodes(4, "inter_kernel")));
  };
  const auto scattered = [](std::uint64_t bytes) {
    const std::vector<std::uint64_t> blocks(4, bytes / 4);
    return time_of(Calls(4).collective("MPI_Reduce_scatter", 0, blocks).run(nodes(4, "inter_kernel")));
  };
  const double wire = 1.5 * (1 << 20) / (12.5 * 4096 / (4096 + 46));
  // Three times, the parts that have come are combined: three operands at 90 GB/s.
  const double combine = 3 * 3 * 0.25 * (1 << 20) / 90;
  CHECK(time(2 << 20) - time(1 << 20) == Approx(wire + combine).epsilon(0.05));
  CHECK(scattered(2 << 20) - scattered(1 << 20) == Approx(wire / 2 + combine).epsilon(0.05));
}

TEST_CASE("The same bytes with any number of threads and any window") {
  Calls calls(4);
  calls.collective("MPI_Allreduce", 0, {1 << 16}).collective("MPI_Alltoall", 0, {9, 99, 20000, 7});
  calls.send(0, 3, kLarge).receive(3, 0).collective("MPI_Barrier", 0, {});
  for (unsigned p = 0; p < 4; ++p) {
    const std::string next = std::to_string((p + 1) % 4);
    calls.line(p, "C 1 99 4 0 1 2 3").line(p, "V 1 0 1").line(p, "I 0 500 MPI_Allreduce 0 0 0 0 1 9000");
    calls.line(p, "O 0 501 MPI_Put 1 " + next + " 20000 0 0 0");
    calls.line(p, "O 0 502 MPI_Get 1 " + next + " 5000 0 0 0");
    calls.line(p, "O 0 503 MPI_Fetch_and_op 1 0 8 0 0 0")
        .line(p, "Y 0 MPI_Win_fence 1 0")
        .line(p, "W 0 0 500");
  }
  const messages::JoinedTrace trace = calls.join();
  gpu::RunOptions options;
  options.system = nodes(4, "inter_kernel");
  options.config = options.system->devices.front();
  const auto cycles = [&](auto... change) {
    gpu::RunOptions own = options;
    (change(own), ...);
    const gpu::RunResult result = gpu::simulate(trace, own);
    return std::pair(result.report.total_cycles, stats::network_json(network(result)));
  };
  const auto one = cycles();
  CHECK(cycles([](auto& o) { o.threads = 2; }) == one);
  CHECK(cycles([](auto& o) { o.window = 1; }) == one);
}

}  // namespace lockstep::test
