// Atomics and reductions in the L2 on 1 to 32 addresses per warp.
#include <catch2/catch.hpp>

#include "micro.hpp"

namespace lockstep::test {
namespace {

constexpr unsigned kWarps = 32;

/// L2 cycles of a warp's reduction when 32 warps of two SMs do nothing else. Core and L2 clock are the same.
double cycles_each(const Micro& micro, const char* op, unsigned addresses, unsigned stride,
                   unsigned apart = 0) {
  return micro.each("atomics", "instructions", 16, 32,
                    {{"op", op},
                     {"addresses", std::to_string(addresses)},
                     {"stride", std::to_string(stride)},
                     {"apart", std::to_string(apart)},
                     {"ctas", "4"},
                     {"threads", std::to_string(kWarps / 4 * kWarpSize)}}) /
         kWarps;
}

TEST_CASE("reductions of all warps on one line take the passes of the atomic unit") {
  // A slice does the eight 32-bit operations of a sector every l2.atomic_interval L2 cycles: 32 lanes take
  // four passes on 1 to 32 words of a line.
  const Micro micro("v100");
  const auto& clock = micro.config().clock;
  const double core_per_l2 = static_cast<double>(clock.core_khz) / static_cast<double>(clock.l2_khz);
  const double interval = micro.config().l2.atomic_interval * core_per_l2;
  for (const char* op : {"RED.E.ADD.STRONG.GPU", "ATOMG.E.ADD.STRONG.GPU"})
    for (const unsigned addresses : {1u, 2u, 5u, 8u, 16u, 31u, 32u}) {
      INFO(op << " on " << addresses << " words");
      CHECK(cycles_each(micro, op, addresses, 4) == Approx(4 * interval).epsilon(0.02));
    }
  const Micro slow("v100", {"l2.atomic_interval=3"});
  CHECK(cycles_each(slow, "RED.E.ADD.STRONG.GPU", 1, 4) == Approx(12 * core_per_l2).epsilon(0.02));
}

TEST_CASE("lines of different slices are worked on side by side") {
  // Each warp has a line of its own: no slice is the bottleneck any more.
  const Micro micro("v100");
  CHECK(cycles_each(micro, "RED.E.ADD.STRONG.GPU", 1, 4, 128) < 2);
  // A warp on n lines sends n requests; with all on the same lines the slices share the work of 32 lanes.
  CHECK(cycles_each(micro, "RED.E.ADD.STRONG.GPU", 2, 128) <
        0.75 * cycles_each(micro, "RED.E.ADD.STRONG.GPU", 1, 128));
}

TEST_CASE("a million float additions to one address take the measured time") {
  // The public atomicAddBench: 16 additions of 65536 threads take 0.094 ms on a GTX 1070 (1.68 GHz boost),
  // 0.120 on a GTX 1080 (1.73), 0.103 on a TITAN X (1.53): 158,000 to 208,000 boost cycles. The model works
  // in steady state: launch and clocks of the measurement are not known, so only the size is compared.
  const Micro micro("gtx1080ti");
  const double warps = 65536.0 / kWarpSize,
               cycles = 16 * warps * cycles_each(micro, "RED.E.ADD.STRONG.GPU", 1, 4);
  CHECK(cycles > 0.7 * 158000);
  CHECK(cycles < 208000);
}

TEST_CASE("a dependent atomic takes the way to the L2 and its passes") {
  for (const char* model : {"v100", "rtx3080ti"}) {
    const Micro micro(model);
    const config::GpuConfig& c = micro.config();
    const auto core_per = [&c](std::uint64_t khz) {
      return static_cast<double>(c.clock.core_khz) / static_cast<double>(khz);
    };
    const double hit = c.l1.hit_latency + 6 +
                       (c.icnt.request_latency + c.icnt.reply_latency) * core_per(c.clock.icnt_khz) +
                       (c.l2.latency + 1) * core_per(c.clock.l2_khz);
    INFO(model);
    const double each =
        micro.each("atomics", "instructions", 8, 16, {{"op", "ATOMG.E.ADD.STRONG.GPU"}, {"dependent", "1"}});
    CHECK(each == Approx(hit + 4 * core_per(c.clock.l2_khz)).margin(4));
  }
}

}  // namespace
}  // namespace lockstep::test
