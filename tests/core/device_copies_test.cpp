// Fills and copies of device memory against their definition: kernels bound by the DRAM, one after another.
#include "core/device_copies.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <random>

namespace lockstep::core {
namespace {

using Path = icnt::CopyCommand::Path;

/// Seconds per byte that is written or read.
double seconds_per_byte(const config::GpuConfig& c, double percent) {
  const double channels = double(c.l2.partitions) * c.dram.channels_per_partition;
  const double peak = channels * c.dram.burst_bytes / c.dram.burst_cycles * double(c.clock.dram_khz) * 1000;
  return 1 / (peak * percent / 100);
}

config::GpuConfig random_gpu(std::mt19937& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  config::GpuConfig c;
  c.l2.partitions = pick(1, 96);
  c.dram.channels_per_partition = pick(1, 4);
  c.dram.burst_bytes = 32u << pick(0, 2);
  c.dram.burst_cycles = pick(1, 8);
  c.dram.fill_percent = pick(1, 100);
  c.dram.copy_percent = pick(1, 100);
  c.clock.core_khz = pick(100'000, 6'000'000);
  c.clock.dram_khz = pick(100'000, 12'000'000);
  c.launch.latency_ns = pick(0, 20'000);
  return c;
}

TEST_CASE("a fill writes its bytes once and a copy moves them twice, each after the floor of a launch") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const config::GpuConfig c = random_gpu(random);
    const double core_hz = double(c.clock.core_khz) * 1000;
    const double floor = c.launch.latency_ns * 1e-9 * core_hz;
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{random() % 1'000'000}, std::uint64_t{1} << 40}) {
      CAPTURE(bytes);
      for (const bool fill : {true, false}) {
        DeviceCopies unit(c);
        REQUIRE(unit.idle());
        REQUIRE(unit.next() == kNever);
        const Cycle asked = random() % 100'000;
        unit.add({7, true, 0, bytes, fill ? Path::kFill : Path::kWithin}, asked);
        const double work = fill ? double(bytes) * seconds_per_byte(c, c.dram.fill_percent)
                                 : 2 * double(bytes) * seconds_per_byte(c, c.dram.copy_percent);
        const double exact = double(asked) + floor + work * core_hz;
        const auto end = static_cast<double>(unit.next());
        const double rounding = exact * 1e-9;  // bandwidths are whole bytes per second
        REQUIRE(end >= exact - rounding);
        REQUIRE(end < exact + rounding + 2);  // both parts rounded up to whole cycles
        REQUIRE_FALSE(unit.take(unit.next() - 1));
        const auto done = unit.take(unit.next());
        REQUIRE(done);
        CHECK(done->index == 7);
        CHECK(done->start == asked);
        CHECK(unit.idle());
      }
    }
  }
}

TEST_CASE("the one that was asked for first has the DRAM first; floors overlap, transfers do not") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const config::GpuConfig c = random_gpu(random);
    DeviceCopies unit(c);
    struct Expected {
      std::uint32_t index;
      Cycle asked, end;
    };
    std::deque<Expected> expected;
    Cycle now = 0, before = 0;
    for (std::uint32_t i = 0; i < 50; ++i) {
      now += random() % 3 == 0 ? random() % 100'000 : random() % 10;
      const std::uint64_t bytes = random() % (1u << (random() % 24));
      const icnt::CopyCommand command{i, true, 0, bytes, random() % 2 == 0 ? Path::kFill : Path::kWithin};
      DeviceCopies alone(c);  // as if nothing else were there
      alone.add(command, now);
      DeviceCopies empty(c);
      empty.add({0, true, 0, 0, Path::kFill}, now);
      const Cycle floor_end = empty.next(), transfer = alone.next() - floor_end;
      before = std::max(floor_end, before) + transfer;
      expected.push_back({i, now, before});
      unit.add(command, now);
      while (random() % 3 == 0 && !expected.empty() && expected.front().end <= now) {
        const auto done = unit.take(now);
        REQUIRE(done);
        REQUIRE(done->index == expected.front().index);
        expected.pop_front();
      }
    }
    for (const Expected& e : expected) {
      REQUIRE(unit.next() == e.end);
      const auto done = unit.take(kNever - 1);
      REQUIRE(done);
      REQUIRE(done->index == e.index);
      REQUIRE(done->start == e.asked);
      REQUIRE(done->end == e.end);
    }
    REQUIRE(unit.idle());
    REQUIRE_FALSE(unit.take(kNever - 1));
  }
}

}  // namespace
}  // namespace lockstep::core
