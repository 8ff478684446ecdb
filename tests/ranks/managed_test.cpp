// Managed memory that devices of several ranks share.
#include <catch2/catch.hpp>
#include <random>

#include "support.hpp"
#include "tests/gpu/shared_pages.hpp"

namespace lockstep::test {

TEST_CASE("Ranks change no byte of managed pages that their devices share") {
  constexpr std::uint16_t kDevices = 3;
  gpu::RunOptions options;
  options.system = small_machine(kDevices);
  options.config = options.system->devices.front();
  options.timeline = true;
  options.interval = 5000;
  check_identity(*crowd(kDevices), options, {2, 3});
  options.rank_map = {1, 0, 1, 0};
  check_identity(*crowd(kDevices), options, {2});
}

TEST_CASE("Nor of any program of such pages, with less memory than it needs") {
  constexpr std::uint16_t kDevices = 3;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto trace = any_program(random, kDevices);
    gpu::RunOptions options;
    options.system = small_machine(kDevices, seed % 2 == 0 ? "hgx_a100_4" : "dgx1_v100");
    options.config = options.system->devices.front();
    if (seed % 2 == 0) options.managed.memory.bytes = 4 << 20;
    options.max_cycles = 100000000;
    check_identity(*trace, options, {2, 3});
  }
}

}  // namespace lockstep::test
