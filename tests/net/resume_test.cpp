// A run with a network goes on from its state between any two kernels as if it had not been interrupted.
#include "../gpu/resume_support.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

void check(const NetScenario& scenario, const config::SystemConfig& system, std::size_t least,
           gpu::RunOptions options = {}) {
  options.system = system;
  options.config = system.devices.front();
  scenario.with_trace([&](const trace::TraceSet& trace) { check_resume(trace, options, least, least); });
}

/// Kernels on both devices, one after another, with all kinds of operations by two queues each. Each waits
/// for what it asks for, so that nothing of it is under way when it ends; but agents poll on for the next
/// kernel's, which they know of.
NetScenario rounds(unsigned count) {
  NetScenario scenario(2, 4);
  for (unsigned round = 0; round < count; ++round) {
    if (round > 0) scenario.next_phase();
    for (std::uint16_t d = 0; d < 2; ++d) {
      if (round == 0)
        for (std::uint32_t q = 0; q < 2; ++q) scenario.queue(d);
      for (std::uint32_t q = 0; q < 2; ++q) ask_every_kind(scenario, d, q, 700 + 900 * round, false);
    }
  }
  return scenario;
}

}  // namespace

TEST_CASE("A run with a network goes on from its state, in every design, with its timeline") {
  for (const char* design : kDesigns) {
    INFO(design);
    gpu::RunOptions options;
    options.timeline = true;
    config::SystemConfig system = nodes(2, design);
    system.network.nic.queue_entries = 2;                     // places are used again
    system.network.command_processor.call_code_bytes = 8192;  // stays in the core's cache
    check(rounds(4), system, 3, options);
  }
}

TEST_CASE("Locked lines, updates and moves of cores' memory go on, too") {
  NetScenario scenario = rounds(3);
  scenario.next_phase();
  scenario.give_memory(0, 0x40000);
  scenario.wait(0, 0, scenario.request(0, some_put(300)));
  scenario.next_phase();
  scenario.wait(0, 0, scenario.request(0, some_put(300)));
  config::SystemConfig system = quick_agents();
  system.network.command_processor.call_updates = 3;
  system.network.nic.queue_entries = 2;
  check(scenario, system, 4);
}

}  // namespace lockstep::test
