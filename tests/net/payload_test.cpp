// What a NIC's payload leaves in the L2 of the GPU that it writes to.
#include "support.hpp"

namespace lockstep::test {
namespace {

constexpr unsigned kLines = 16;

/// Of device 1's last kernel, which reads what a put has written there. An earlier one had read the first
/// half.
stats::PartitionCounters reader(const config::SystemConfig& system) {
  NetScenario scenario;
  scenario.queue(0);
  for (unsigned i = 0; i < kLines / 2; ++i) scenario.load(1, NetScenario::data(1) + i * kLineBytes);
  scenario.sleep(0, 20'000);
  scenario.wait(0, 0, scenario.request(0, some_put(kLines * kLineBytes)));
  scenario.next_phase();
  for (unsigned i = 0; i < kLines; ++i) scenario.load(1, NetScenario::data(1) + i * kLineBytes);
  const gpu::RunResult result = scenario.run(system);
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  stats::PartitionCounters last;
  for (const stats::KernelResult& kernel : result.report.kernels)
    if (kernel.device == 1) last = kernel.counters.mem;
  return last;
}

}  // namespace

TEST_CASE("A put's data are in the target's L2, or only where lines were, or not at all") {
  for (const char* design : kDesigns) {
    if (design == std::string("dgpu_host")) continue;  // as dgpu
    CAPTURE(design);
    config::SystemConfig system = nodes(2, design);
    for (const auto& [mode, lines] : {std::pair{0u, kLines}, {1u, kLines / 2}, {2u, 0u}}) {
      system.network.nic.payload_in_l2 = mode;
      const stats::PartitionCounters mem = reader(system);
      CAPTURE(mode);
      CHECK(mem.l2.read_hits == lines * kSectorsPerLine + mem.l2_fetch_hits);
      CHECK(mem.l2.sectors_read - mem.l2.read_hits ==
            (kLines - lines) * kSectorsPerLine + mem.l2_fetches - mem.l2_fetch_hits);
    }
  }
}

}  // namespace lockstep::test
