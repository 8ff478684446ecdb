// Translation of device memory that is not managed, on the whole machine.
#include <catch2/catch.hpp>

#include "managed_support.hpp"

namespace lockstep::test {
namespace {

// Between two blocks of 2 MB. 64 KB around it are copied to the device, and so in the L2: nothing waits for a
// refresh.
constexpr Address kEdge = 0x7e0000000000, kCopied = kEdge - 32768;

constexpr double kClocks = 4;  // cycles by which a way through three clocks differs

struct ChaseResult {
  std::uint64_t cycles, waits;
};

/// Loads of one thread, one after the other.
ChaseResult chase(const std::vector<Address>& loads, std::uint32_t latency, std::uint32_t pages = 4096) {
  const LoadChain chain(loads, kCopied);
  gpu::RunOptions options;
  options.config = small_gpu("v100");
  options.config.tlb = {latency, pages};
  const auto result = gpu::simulate(*chain, options);
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  REQUIRE(result.report.kernels.size() == 1);
  const auto& kernel = result.report.kernels.front();
  return {kernel.cycles, kernel.counters.sm.tlb_waits};
}

TEST_CASE("an SM's first access to 2 MB waits for its translation, those that follow do not") {
  const std::vector<Address> loads{kEdge - 8192, kEdge - 128, kEdge, kEdge - 4096, kEdge + 4096};
  const ChaseResult none = chase(loads, 0), some = chase(loads, 654), more = chase(loads, 1654);
  CHECK(none.waits == 0);
  CHECK(some.waits == 2);
  CHECK(more.waits == 2);
  CHECK(double(more.cycles) - double(some.cycles) == Approx(2 * 1000).margin(kClocks));
}

TEST_CASE("an SM that knows one block of 2 MB forgets it for another") {
  const std::vector<Address> loads{kEdge - 256, kEdge, kEdge - 128, kEdge + 128};
  CHECK(chase(loads, 500, 2).waits == 2);
  CHECK(chase(loads, 500, 1).waits == 4);
  CHECK(double(chase(loads, 500, 1).cycles) - double(chase(loads, 400, 1).cycles) ==
        Approx(4 * 100).margin(kClocks));
}

TEST_CASE("kernels find the translations of those before them, unless each begins with empty caches") {
  const SmallTrace sgemm{"sgemm", "sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}, {"launches", "3"}}};
  const OpenTrace trace(sgemm);
  for (const auto control : {config::CacheControl::kNone, config::CacheControl::kAll}) {
    gpu::RunOptions options;
    options.config = small_gpu("v100");
    options.config.launch.cache_control = control;
    const auto kernels = gpu::simulate(*trace, options).report.kernels;
    REQUIRE(kernels.size() == 3);
    CHECK(kernels[0].counters.sm.tlb_waits > 0);
    const bool empty = control == config::CacheControl::kAll;
    for (const std::size_t later : {1u, 2u}) CHECK((kernels[later].counters.sm.tlb_waits > 0) == empty);
  }
}

}  // namespace
}  // namespace lockstep::test
