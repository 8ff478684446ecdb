// The DRAM side of a partition by itself: which bursts a request takes, and that each read's data come back
// once, not before the DRAM's own time, at the same edge of the L2 whatever edges are visited.
#include "mem/controller.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <map>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

using mem::Controller;
using mem::DramPlace;
using mem::FillTarget;

config::GpuConfig clocks(std::uint64_t l2_khz, std::uint64_t dram_khz) {
  config::GpuConfig c = small_config();
  c.clock.l2_khz = l2_khz;
  c.clock.dram_khz = dram_khz;
  c.dram.channels_per_partition = 3;
  return c;
}

TEST_CASE("Controller: reads bring whole bursts, misses whole blocks of what the L2 fetches") {
  for (const std::uint32_t burst : {32u, 64u, 128u})
    for (const std::uint32_t fetch : {32u, 64u, 128u}) {
      config::GpuConfig c = small_config();
      c.dram.burst_bytes = burst;
      c.l2.fetch_bytes = fetch;
      stats::PartitionCounters counters[1];
      const Controller controller(c, 0, counters);
      for (unsigned sectors = 1; sectors < 16; ++sectors) {
        const auto blocks = [&](std::uint32_t bytes) {
          unsigned all = 0;
          for (unsigned s = 0; s < 4; ++s)
            for (unsigned other = 0; other < 4; ++other)
              if (sectors >> other & 1 && s * 32 / bytes == other * 32 / bytes) all |= 1u << s;
          return all;
        };
        CHECK(controller.whole_bursts(static_cast<SectorMask>(sectors)) == blocks(burst));
        CHECK(controller.whole_fetch(static_cast<SectorMask>(sectors)) == blocks(std::max(burst, fetch)));
      }
    }
}

struct Asked {
  Cycle at = 0;  // L2 edge
  DramPlace place;
  FillTarget fill;
};
struct ControllerOutcome {
  std::vector<std::pair<Cycle, std::uint16_t>> returned;  // L2 edge, number of the read
  std::uint64_t written = 0;                              // times that a write left a queue
  stats::PartitionCounters counters;
};

/// Random reads and writes; writes that find no room are left out, by the same rule in each way to run.
class ControllerRun {
 public:
  ControllerRun(const config::GpuConfig& c, std::uint64_t seed, bool every)
      : config_(c), seed_(seed), every_(every), controller_(c, 0, counters_.data()) {}

  ControllerOutcome run(unsigned requests) {
    ControllerOutcome out;
    for (Cycle l2 = 0; l2 < 40000; ++l2) {
      dram_until(l2, out);
      controller_.take_returns(l2, [&](const FillTarget& f) { out.returned.emplace_back(l2, f.mshr); });
      if (asked.size() < requests && draw(3) == 0) ask(l2);
      if (asked.size() == requests && controller_.idle()) break;
    }
    CHECK(controller_.idle());
    for (const stats::PartitionCounters& one : counters_) stats::add(out.counters, one);
    return out;
  }
  std::vector<Asked> asked;  // reads
  std::uint64_t writes = 0, bursts_read = 0, bursts_written = 0;

 private:
  std::uint64_t draw(std::uint64_t n) { return (next_random(seed_) >> 11) % n; }

  void dram_until(Cycle l2, ControllerOutcome& out) {
    const Cycle limit = l2 * config_.clock.dram_khz / config_.clock.l2_khz;
    if (every_) {
      for (; edge_ <= limit; ++edge_) out.written += controller_.tick(edge_, true) ? 1 : 0;
    } else {
      while (controller_.next_event() <= limit)
        out.written += controller_.tick(controller_.next_event(), false) ? 1 : 0;
    }
  }
  void ask(Cycle l2) {
    const DramPlace place =
        controller_.place(draw(draw(2) != 0 ? 64 : 4000), static_cast<std::uint32_t>(draw(2)));
    const auto sectors = static_cast<SectorMask>(1 + draw(15));
    const std::uint32_t in_burst = config_.dram.burst_bytes / 32;
    const auto whole = static_cast<unsigned>(controller_.whole_bursts(sectors));
    const std::uint64_t bursts = static_cast<unsigned>(std::popcount(whole)) / in_burst;
    const auto kernel = static_cast<std::uint8_t>(draw(4));
    if (draw(3) == 0) {
      if (!controller_.write_room(place)) return;
      controller_.write(l2, place, kernel, sectors);
      ++writes;
      bursts_written += bursts;
    } else {
      const FillTarget fill{static_cast<std::uint16_t>(draw(2)), static_cast<std::uint16_t>(asked.size()),
                            sectors};
      controller_.read(l2, place, kernel, fill);
      asked.push_back({l2, place, fill});
      bursts_read += bursts;
    }
  }

  config::GpuConfig config_;
  std::uint64_t seed_;
  bool every_;
  Cycle edge_ = 0;
  std::array<stats::PartitionCounters, 256> counters_{};
  Controller controller_;
};

Cycle ceil_divide(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

TEST_CASE(
    "Controller: each read's data come back once, after the DRAM's time and the way, and all is counted") {
  const std::pair<std::uint64_t, std::uint64_t> kClocks[] = {
      {1000000, 1000000}, {1590000, 877000}, {877000, 2619000}, {1410000, 1593000}};
  for (const auto& [l2_khz, dram_khz] : kClocks)
    for (const std::uint64_t seed : {5u, 6u, 7u}) {
      INFO(l2_khz << " " << dram_khz << " " << seed);
      config::GpuConfig c = clocks(l2_khz, dram_khz);
      if (seed == 6) c.dram.burst_bytes = 64;
      if (seed == 7) c.dram.read_queue = c.dram.write_queue = 8, c.dram.write_high = 6, c.dram.write_low = 2;
      ControllerRun run(c, seed, false);
      const ControllerOutcome out = run.run(1500);
      REQUIRE(out.returned.size() == run.asked.size());
      std::map<std::uint16_t, Cycle> at;
      for (const auto& [cycle, number] : out.returned) CHECK(at.emplace(number, cycle).second);
      const Cycle way = (c.dram.latency_ns_x1000 * l2_khz + 500'000'000) / 1'000'000'000;
      for (std::size_t i = 0; i < run.asked.size(); ++i) {
        // A row that is open already, and data at once.
        const std::uint64_t least =
            (run.asked[i].at * dram_khz / l2_khz + 1 + c.dram.tCL + c.dram.burst_cycles);
        CHECK(at.at(static_cast<std::uint16_t>(i)) >= ceil_divide(least * l2_khz, dram_khz) + way);
      }
      CHECK(out.written > 0);
      CHECK(out.written <= run.writes);  // several channels at one edge count once
      CHECK(out.counters.dram_reads == run.bursts_read);
      CHECK(out.counters.dram_writes == run.bursts_written);
      CHECK(out.counters.dram_bytes == (run.bursts_read + run.bursts_written) * c.dram.burst_bytes);
      CHECK(out.counters.dram_row_hits + out.counters.dram_row_misses ==
            run.bursts_read + run.bursts_written);
      CHECK(out.counters.dram_row_misses <= out.counters.dram_activates);
      CHECK(out.counters.dram_precharges <= out.counters.dram_activates);
    }
}

TEST_CASE("Controller: data of a channel come in the order in which they leave it; all edges give the same") {
  for (const std::uint64_t seed : {21u, 22u, 23u, 24u}) {
    INFO(seed);
    const config::GpuConfig c = clocks(1410000, 1593000);
    ControllerRun some(c, seed, false), all(c, seed, true);
    const ControllerOutcome a = some.run(800), b = all.run(800);
    REQUIRE(some.asked.size() == all.asked.size());
    CHECK(a.returned == b.returned);
    CHECK(a.written == b.written);
    CHECK(a.counters.dram_activates == b.counters.dram_activates);
    CHECK(a.counters.dram_row_hits == b.counters.dram_row_hits);
    CHECK(std::ranges::is_sorted(a.returned, {}, &std::pair<Cycle, std::uint16_t>::first));
  }
}

TEST_CASE("Controller: one read of a closed row takes the activate, the column access and the way") {
  config::GpuConfig c = clocks(1000000, 1000000);
  for (const Cycle at : {Cycle{0}, Cycle{10}, Cycle{333}}) {
    std::array<stats::PartitionCounters, 4> counters{};
    Controller controller(c, 0, counters.data());
    controller.read(at, controller.place(17, 1), 2, {1, 9, 0x3});
    CHECK_FALSE(controller.idle());
    Cycle returned = 0;
    for (Cycle l2 = at; l2 < at + 2000 && returned == 0; ++l2) {
      while (controller.next_event() <= l2) (void)controller.tick(controller.next_event(), false);
      controller.take_returns(l2, [&](const FillTarget& f) {
        CHECK((f.slice == 1 && f.mshr == 9 && f.sectors == 0x3));
        returned = l2;
      });
    }
    const Cycle way = c.dram.latency_ns_x1000 / 1000;
    // Two bursts of one row follow each other at tCCD_L.
    CHECK(returned == at + 1 + c.dram.tRCD + c.dram.tCCD_L + c.dram.tCL + c.dram.burst_cycles + way);
    CHECK(controller.idle());
    CHECK(controller.next_return() == kNever);
    CHECK(counters[2].dram_reads == 2);
    CHECK(counters[2].dram_activates == 1);
    CHECK(counters[0].dram_reads + counters[1].dram_reads + counters[3].dram_reads == 0);
  }
}

}  // namespace
}  // namespace lockstep::mem_test
