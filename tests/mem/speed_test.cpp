// Host time of the memory side; hidden, run with `test_mem "[speed]"`.
#include <catch2/catch.hpp>
#include <ctime>
#include <iostream>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

void measure(const char* name, const config::GpuConfig& c, bool random, std::uint32_t per_sm) {
  Bench b(c);
  std::uint64_t seed = 7;
  for (std::uint32_t s = 0; s < c.gpu.sms; ++s) {
    b.requesters[s]->keep = false;
    b.requesters[s]->in_flight_limit = 256;
    for (std::uint32_t i = 0; i < per_sm; ++i) {
      const Address line =
          random ? line_of(next_random(seed) % (256u << 20)) : (Address{i} * c.gpu.sms + s) * 128;
      b.requesters[s]->add(0,
                           load(line, static_cast<SectorMask>(random ? 1u << next_random(seed) % 4 : 0xfu)));
    }
  }
  const std::clock_t start = std::clock();
  const Cycle end = b.run();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const double requests = static_cast<double>(per_sm) * c.gpu.sms;
  const auto k = b.take();
  std::cout << name << ": " << seconds / requests * 1e9
            << " ns of CPU a request with requesters and network, of it "
            << b.profile().domain_seconds[1] / requests * 1e9 << " ns (wall, sampled) in partitions; " << end
            << " cycles, " << static_cast<double>(k.mem.dram_bytes) / static_cast<double>(end)
            << " bytes per cycle\n";
  CHECK(b.quiescent());
}

TEST_CASE("host time a request", "[.speed][long]") {
  const config::GpuConfig v100;
  config::GpuConfig tiny;  // everything stays in the host's cache
  tiny.gpu.sms = 6;
  tiny.gpu.gpcs = 1;
  tiny.l2.partitions = 2;
  measure("stream, 128-byte lines, V100", v100, false, 4000);
  measure("random sectors in 256 MB, V100", v100, true, 4000);
  measure("stream, 2 partitions", tiny, false, 30000);
}

}  // namespace
}  // namespace lockstep::mem_test
