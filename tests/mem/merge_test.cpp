// Many SMs read the same lines at once: closed forms of what the slices and the way between two halves then
// take.
#include <catch2/catch.hpp>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

constexpr std::uint32_t kReaders = 16, kReadLines = 512;

config::GpuConfig wide() {
  config::GpuConfig c = small_config();
  c.gpu.sms = kReaders;
  c.l2.slice_bytes = 64 * 1024;
  return c;
}

/// Cycles until every SM has read the same cold lines, in the same order.
Cycle read_by_all(const config::GpuConfig& c, stats::KernelCounters& counted) {
  Bench b(c);
  for (std::uint32_t sm = 0; sm < kReaders; ++sm)
    for (std::uint32_t i = 0; i < kReadLines; ++i) b.requesters[sm]->add(0, load(Address{i} * 128, 0xf, i));
  const Cycle end = b.run();
  REQUIRE(b.quiescent());
  counted = b.take();
  return end;
}

TEST_CASE("lines that all SMs read at once take what the slices' data arrays need for the replies") {
  config::GpuConfig c = wide();
  c.l2.mshr_merges = config::GpuConfig{}.l2.mshr_merges;
  stats::KernelCounters counted;
  const Cycle end = read_by_all(c, counted);
  // Four slices give one sector per cycle each; 16 SMs read 512 lines of four sectors.
  const double data = kReaders * kReadLines * 4 / 4.0;
  CHECK(counted.mem.dram_reads == kReadLines * 4);  // each sector comes once
  CHECK(static_cast<double>(end) >= data);
  CHECK(static_cast<double>(end) <= 1.05 * data + 500);  // lines are spread by a hash; latency of the first
  // A line that holds four requests is in the way of all that follow until it has come.
  c.l2.mshr_merges = 4;
  CHECK(static_cast<double>(read_by_all(c, counted)) > 1.5 * data);
  CHECK(counted.mem.dram_reads == kReadLines * 4);
}

TEST_CASE("each half asks the other once for a line that all its SMs read") {
  config::GpuConfig c = wide();
  c.l2.halves = 2;
  c.l2.mshr_merges = c.l2.far_merges = 1024;
  stats::KernelCounters counted;
  const Cycle unlimited = read_by_all(c, counted);
  CHECK(counted.mem.dram_reads == kReadLines * 4);
  CHECK(counted.mem.far_requests == kReadLines);  // every line is far from one of the halves
  CHECK(counted.mem.l2.mshr_merges > 0);
  c.l2.far_merges = 4;
  CHECK(read_by_all(c, counted) > unlimited);
  CHECK(counted.mem.far_requests == kReadLines);
}

TEST_CASE("the limit on requests for a line of the other half does not hold up code") {
  const auto cycles = [](AccessKind kind, std::uint32_t far_merges) {
    config::GpuConfig c = wide();
    c.l2.halves = 2;
    c.l2.mshr_merges = 1024;
    c.l2.far_merges = far_merges;
    Bench b(c);
    for (std::uint32_t sm = 0; sm < kReaders; ++sm)
      for (std::uint32_t i = 0; i < 64; ++i) {
        Request r = load(Address{i} * 128, 0xf, i);
        r.kind = kind;
        b.requesters[sm]->add(0, r);
      }
    return b.run();
  };
  CHECK(cycles(AccessKind::kInstruction, 1) == cycles(AccessKind::kInstruction, 1024));
  CHECK(cycles(AccessKind::kConstant, 1) == cycles(AccessKind::kConstant, 1024));
  CHECK(cycles(AccessKind::kLoad, 1) > cycles(AccessKind::kLoad, 1024));
}

TEST_CASE("a slice has its credits' messages under way to the other half in each round trip") {
  constexpr std::uint32_t kLines = 4096;
  const auto cycles = [](std::uint32_t credits, std::uint32_t latency) {
    config::GpuConfig c = small_config();
    c.gpu.sms = 2;
    c.gpu.gpcs = 2;  // the first SM is in half 0
    c.gpu.sms_per_tpc = 1;
    c.l2.halves = 2;
    c.l2.mshrs = 1024;
    c.l2.slice_bytes = 256 * 1024;
    c.icnt.far_credits = credits;
    c.icnt.far_latency = latency;
    Bench b(c);
    for (std::uint32_t i = 0; i < kLines; ++i) b.requesters[0]->add(0, load(Address{i} * 128, 0xf, i));
    return static_cast<double>(b.run());
  };
  // Half of the lines are far, and one half has two slices: a slice asks for 1,024, a credit's worth in each
  // round trip of far requests and their credits.
  for (const std::uint32_t latency : {100u, 200u}) {
    const double trips = cycles(2, latency) - cycles(4, latency);
    CAPTURE(latency, trips);
    CHECK(trips == Approx(2.0 * latency * kLines / 4 * (1 / 2.0 - 1 / 4.0)).epsilon(0.1));
  }
}

TEST_CASE("both limits of merging hold a line's requests up, none loses any") {
  for (const std::uint32_t merges : {1u, 2u, 7u, 1024u})
    for (const std::uint32_t far : {1u, 3u, 1024u}) {
      config::GpuConfig c = wide();
      c.l2.halves = 2;
      c.l2.mshr_merges = merges;
      c.l2.far_merges = far;
      stats::KernelCounters counted;
      (void)read_by_all(c, counted);
      CAPTURE(merges, far);
      CHECK(counted.mem.l2.accesses == kReaders * kReadLines * 4);
      CHECK(counted.mem.dram_reads == kReadLines * 4);
    }
}

}  // namespace
}  // namespace lockstep::mem_test
