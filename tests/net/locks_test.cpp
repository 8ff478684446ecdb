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

TEST_CASE("With locks and updates statistics do not depend on threads, windows, skipping or order") {
  config::SystemConfig system = quick_agents();
  system.network.command_processor.call_updates = 3;
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
