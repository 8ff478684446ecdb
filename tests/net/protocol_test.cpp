// What the protocol of queues promises, on the machine: places are used again, no operation holds up another,
// no device needs the other's kernel.
#include "support.hpp"

namespace lockstep::test {

TEST_CASE("A queue of 64 entries goes round: after 64, after 128, with every status word and count") {
  for (const char* design : kDesigns) {
    INFO(design);
    constexpr std::uint64_t kOperations = 150, kEntries = 64;
    NetScenario scenario(2, kEntries);
    scenario.queue(0);
    for (std::uint64_t i = 0; i < kOperations; ++i) {
      if (i >= kEntries) scenario.await(0, scenario.index(0, 0), i - kEntries + 1);  // there is room
      trace::NetOperation one = some_put(8, i + 1 == kOperations);
      one.signal = NetScenario::word(1, 0);
      CHECK(scenario.request(0, one) == i);
    }
    for (std::uint64_t i = kOperations - kEntries; i < kOperations; ++i) scenario.wait(0, 0, i);
    scenario.await(0, scenario.index(0, 0), kOperations);
    scenario.await(1, NetScenario::word(1, 0), kOperations);
    const gpu::RunResult result = scenario.run(nodes(2, design));
    CHECK(of_kind(result, "put").count == kOperations);
    CHECK(network(result).threads.size() > 0);
  }
}

TEST_CASE("A status word or a read index has no signal more than it should", "[long]") {
  for (const bool index : {false, true}) {
    NetScenario scenario(2, 4);
    scenario.queue(0);
    std::uint64_t last = 0;
    for (unsigned i = 0; i < 4; ++i) last = scenario.request(0, some_put(8));
    scenario.wait(0, 0, last);
    if (index) {
      scenario.await(0, scenario.index(0, 0), 5);
    } else {
      scenario.await(0, scenario.entry(0, 0, 0), 3);
    }
    CHECK(scenario.run(nodes()).outcome == gpu::Outcome::kDeadlock);
  }
}

TEST_CASE("A blocking get of one work-group does not hold up another's put at the same agent") {
  for (const char* design : {"compnet", "dgpu", "apu"}) {
    INFO(design);
    config::SystemConfig system = nodes(2, design);
    system.network.command_processor.cores = system.network.host_threads.threads = 1;
    NetScenario scenario;
    scenario.queue(0);
    scenario.queue(0);
    scenario.request(0, get(1, NetScenario::data(0), NetScenario::data(1), 1 << 20));  // nothing waits for it
    scenario.sleep(0, 10'000);
    trace::NetOperation small = some_put(8);
    small.queue = 1;
    scenario.wait(0, 1, scenario.request(0, small));  // the kernel ends with it
    const gpu::RunResult result = scenario.run(system);
    const double get_ns = total(of_kind(result, "get"));
    CHECK(get_ns > (1 << 20) / 12.5);
    CHECK(kernel_time(result) > 10'000);
    CHECK(kernel_time(result) < get_ns / 2);
    CHECK(stage(of_kind(result, "put"), "issued") <
          stage(alone(system, some_put(8), "put"), "issued") + 2000);
    // An agent that waits for what blocks serves the put after it.
    system.network.service.waits_for_blocking = 1;
    const gpu::RunResult waits = scenario.run(system);
    CHECK((of_kind(waits, "put").count == 1 && of_kind(waits, "get").count == 1));
    CHECK(stage(of_kind(waits, "put"), "seen") > (1 << 20) / 12.5 - 11'000);
    CHECK(kernel_time(waits) > get_ns);
  }
}

TEST_CASE("A PE that has ended is still put to, read from and updated; its own operations go on, too") {
  for (const char* design : kDesigns) {
    INFO(design);
    NetScenario scenario;
    scenario.queue(0);
    scenario.queue(1);
    scenario.request(1,
                     put(0, NetScenario::data(1), NetScenario::data(0), 1 << 17, false));  // its kernel ends
    scenario.sleep(0, 60'000);
    trace::NetOperation with_signal = some_put(4096);
    with_signal.signal = NetScenario::word(1, 0);
    scenario.wait(0, 0, scenario.request(0, with_signal));
    scenario.wait(0, 0, scenario.request(0, get(1, NetScenario::data(0), NetScenario::data(1), 4096)));
    scenario.wait(0, 0, scenario.request(0, atomic(1, NetScenario::word(0, 0), NetScenario::word(1, 1))));
    const gpu::RunResult result = scenario.run(nodes(2, design));
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    std::uint64_t ends[2] = {};
    for (const stats::KernelResult& kernel : result.report.kernels)
      ends[kernel.device] = kernel.start_cycle + kernel.cycles;
    CHECK(ends[1] < ends[0] / 4);
    CHECK(of_kind(result, "put").count == 2);
    CHECK(network(result).nics[1].bytes_put == 1 << 17);
    CHECK((network(result).nics[1].served_atomics == 1 && network(result).nics[1].served_reads == 32));
  }
}

TEST_CASE("Two cores make ten thousand updates each of one line: none is lost, and the run ends", "[slow]") {
  config::SystemConfig system = quick_agents();
  system.network.command_processor.call_updates = 1000;
  NetScenario scenario;
  for (std::uint32_t q = 0; q < 2; ++q) scenario.queue(0);
  for (unsigned i = 0; i < 10; ++i)
    for (std::uint32_t q = 0; q < 2; ++q) {
      trace::NetOperation one = some_put(8, i == 9);
      one.queue = q;
      const std::uint64_t number = scenario.request(0, one);
      if (i == 9) scenario.wait(0, q, number);
    }
  const gpu::RunResult result = scenario.run(system);
  CHECK(of_kind(result, "put").count == 20);
  CHECK(network(result).locks.at(0).updates == 20'000);
  CHECK(network(result).locks.at(0).held > 10'000);
}

}  // namespace lockstep::test
