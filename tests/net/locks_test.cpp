// Locked lines on the whole machine.
#include "support.hpp"

namespace lockstep::test {
namespace {

/// Puts of device 0 by two queues, that is by both cores.
NetScenario puts(unsigned each) {
  NetScenario scenario;
  for (std::uint32_t q = 0; q < 2; ++q) scenario.queue(0);
  for (unsigned i = 0; i < each; ++i)
    for (std::uint32_t q = 0; q < 2; ++q) {
      trace::NetOperation one = some_put(8, i + 1 == each);
      one.queue = q;
      const std::uint64_t number = scenario.request(0, one);
      if (i + 1 == each) scenario.wait(0, q, number);
    }
  return scenario;
}

const stats::NetworkReport::Locks& locks(const gpu::RunResult& result) { return network(result).locks.at(0); }

}  // namespace

TEST_CASE("Each entry's line is locked until a core polls it, if not locked already") {
  config::SystemConfig system = nodes();
  const gpu::RunResult result = puts(20).run(system);
  CHECK(of_kind(result, "put").count == 40);
  CHECK((locks(result).stores >= 2 && locks(result).stores <= 40));
  CHECK(locks(result).unlocked == locks(result).stores);
  CHECK((locks(result).most_together >= locks(result).most &&
         locks(result).most_together <= locks(result).stores));
  std::uint64_t counted = 0;
  for (const std::uint64_t count : locks(result).times) counted += count;
  CHECK(counted == locks(result).unlocked);
  CHECK((locks(result).updates == 0 && locks(result).held == 0 && locks(result).degraded == 0));
  system.network.command_processor.lock_lines = 0;
  const gpu::RunResult without = puts(20).run(system);
  CHECK(locks(without).stores == 0);
  // Nothing else wants the L2's places here, so locks change nothing.
  CHECK(kernel_time(without) == kernel_time(result));
}

TEST_CASE("Updates of a line that cores share wait for each other, and all are done") {
  config::SystemConfig system = quick_agents();
  system.network.command_processor.call_updates = 16;
  const gpu::RunResult result = puts(20).run(system);
  CHECK(of_kind(result, "put").count == 40);
  CHECK(locks(result).updates == 40 * 16);
  CHECK(locks(result).held > 0);
  system.network.command_processor.call_updates = 0;
  CHECK(kernel_time(result) > kernel_time(puts(20).run(system)));
}

TEST_CASE("A line is locked by its entry's first store, by each, or by none, as the configuration says") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.store(0, scenario.entry(0, 0, 0) + 8);
  scenario.sleep(0, 5000);  // the core polls meanwhile
  scenario.wait(0, 0, scenario.request(0, some_put(8)));
  config::SystemConfig system = nodes();
  for (config::GpuConfig& device : system.devices) device.sync.poll_elision = false;  // each poll unlocks
  const auto stores = [&](std::uint32_t lock_lines) {
    system.network.command_processor.lock_lines = lock_lines;
    return locks(scenario.run(system)).stores;
  };
  CHECK(stores(0) == 0);
  CHECK(stores(1) == 1);
  CHECK(stores(2) == 2);
  system.network.command_processor.unlocked_ways = 64;  // more than there are
  CHECK(stores(2) == 0);
  CHECK(locks(scenario.run(system)).degraded == 2);
}

TEST_CASE("While a lock is exclusive, the kernel's polls wait for the core's") {
  config::SystemConfig system = nodes();
  system.network.command_processor.cores = 1;
  const gpu::RunResult shared = puts(20).run(system);
  system.network.command_processor.exclusive_locks = 1;
  const gpu::RunResult exclusive = puts(20).run(system);
  CHECK((of_kind(shared, "put").count == 40 && of_kind(exclusive, "put").count == 40));
  CHECK(locks(shared).held == 0);
  CHECK(locks(exclusive).held > 0);
  CHECK(locks(exclusive).unlocked == locks(exclusive).stores);
}

TEST_CASE("A line that stays locked for longer than the watchdog allows ends the run, with its name") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.signal(0, scenario.entry(0, 0, 0));  // no agent has been told of an operation there
  for (unsigned i = 0; i < 3; ++i) scenario.sleep(0, 900'000);
  config::SystemConfig system = nodes();
  CHECK(scenario.run(system).outcome == gpu::Outcome::kDone);
  system.network.command_processor.lock_watchdog_us = 10'000;
  CHECK(scenario.run(system).outcome == gpu::Outcome::kDone);
  system.network.command_processor.lock_watchdog_us = 100;
  const gpu::RunResult result = scenario.run(system);
  CHECK(result.outcome == gpu::Outcome::kDeadlock);
  CHECK_THAT(result.dump,
             Catch::Matchers::Contains("locked since L2 edge") && Catch::Matchers::Contains("by a store"));
}

TEST_CASE("With locks and updates statistics do not depend on threads, windows, skipping or order") {
  config::SystemConfig system = quick_agents();
  system.network.command_processor.call_updates = 3;
  system.network.command_processor.exclusive_locks = 1;
  system.network.command_processor.lock_lines = 2;
  const NetScenario scenario = puts(8);
  const auto bytes = [&](const gpu::RunOptions& options) {
    return stats::to_json(scenario.run(system, options).report);
  };
  const std::string one = bytes({});
  for (const unsigned way : {0u, 1u, 2u, 3u}) {
    gpu::RunOptions options;
    options.threads = 1 + way;
    options.window = way == 0 ? 0 : 2 * way;
    options.skip = way != 2;
    options.shuffle = way + 1;
    CHECK((bytes(options) == one));
  }
}

}  // namespace lockstep::test
