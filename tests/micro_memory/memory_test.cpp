// Memory microbenchmarks of the shipped GPU models: closed forms, and points measured on hardware by the
// public gpu-benches (te42kyfo; RRZE-HPC). The whole tables: tools/microbench.py.
#include <catch2/catch.hpp>
#include <optional>

#include "config/config.hpp"
#include "gpu/simulation.hpp"
#include "tests/gpu/end_to_end.hpp"

namespace lockstep::test {
namespace {

gpu::RunResult run(const char* kind, const SynthValues& values, const config::GpuConfig& config) {
  gpu::RunOptions options;
  options.config = config;
  options.config.tlb.miss_latency = 0;  // the measured programs have been through their arrays before
  const OpenTrace trace(SmallTrace{"trace", kind, values});
  return gpu::simulate(*trace, options);
}

/// Cycles by which the last kernel took longer than the one before.
double last_difference(const gpu::RunResult& result) {
  const auto& kernels = result.report.kernels;
  REQUIRE(kernels.size() >= 2);
  return static_cast<double>(kernels[kernels.size() - 1].cycles) -
         static_cast<double>(kernels[kernels.size() - 2].cycles);
}

/// gpu-latency in the forms of te42kyfo (f0b21a2) and, from 3be3ab1 on, of RRZE-HPC.
struct Shape {
  std::uint64_t threads, stride;
};
constexpr Shape kBefore = {64, 64}, kSince = {1, 128};

/// Cycles a load of a chain over `kib`, after `warm` loads in parallel.
double chase(const config::GpuConfig& config, std::uint64_t kib, Shape shape, std::uint64_t warm,
             std::uint64_t first) {
  constexpr std::uint64_t kLoads = 512;
  const SynthValues values = {
      {"footprint", std::to_string(kib * 1024)},  {"stride", std::to_string(shape.stride)},
      {"threads", std::to_string(shape.threads)}, {"warm", std::to_string(warm)},
      {"first", std::to_string(first)},           {"second", std::to_string(first + kLoads)}};
  return last_difference(run("pointer_chase", values, config)) / kLoads;
}

/// As the table of gpu-latency is taken: the L1 warm below its size, the L2 below its.
double chase(const config::GpuConfig& config, std::uint64_t kib, Shape shape = kBefore) {
  const std::uint64_t elements = kib * 1024 / shape.stride, l2 = std::uint64_t{config.l2.slice_bytes} *
                                                                 config.l2.partitions *
                                                                 config.l2.slices_per_partition;
  if (kib * 1024 <= 2 * config.l1.bytes)
    return chase(config, kib, shape, elements, (elements + 31) / 32 * 32);
  return chase(config, kib, shape, kib * 1024 <= l2 + l2 / 2 ? elements : 0, 256);
}

double in_core_cycles(const config::GpuConfig& c, double cycles, std::uint64_t khz) {
  return cycles * static_cast<double>(c.clock.core_khz) / static_cast<double>(khz);
}

TEST_CASE("pointer chase: plateaus by the configuration's own sums") {
  for (const char* model : {"v100", "sst_p100", "gtx1080ti", "rtxa6000", "rtx3070", "t4"}) {  // one L2 half
    const config::GpuConfig c = config::resolve(model);
    CAPTURE(model);
    const double l1 = c.l1.hit_latency + 128.0 / c.l1.data_bytes_per_cycle - 1;  // further cycles of the data
    CHECK(chase(c, 8, kSince) == Approx(l1).margin(0.1));
    // The other half of a warp's 64-bit addresses: 128 bytes at 512 bits per cycle (Huerta et al., MICRO
    // 2025).
    CHECK(chase(c, 8) == Approx(l1 + 2.0).margin(0.1));
    const double l2 = l1 + 6.0 +
                      in_core_cycles(c, c.icnt.request_latency + c.icnt.reply_latency, c.clock.icnt_khz) +
                      in_core_cycles(c, c.l2.latency + 1.0, c.clock.l2_khz);
    CHECK(chase(c, 512, kSince) == Approx(l2).margin(3.0));  // three clocks meet
    CHECK(chase(c, 512) == Approx(l2 + 2.0).margin(3.0));
    // A row opened for every load, and the mean wait for a refresh.
    const double refresh = double(c.dram.tRFC) * c.dram.tRFC / c.dram.tREFI / 2;
    const double dram =
        l2 + c.dram.latency_ns_x1000 * 1e-9 * static_cast<double>(c.clock.core_khz) +
        in_core_cycles(c, c.dram.tRCD + c.dram.tCL + c.dram.burst_cycles + refresh, c.clock.dram_khz);
    CHECK(chase(c, 1 << 20, kSince) == Approx(dram).epsilon(0.02));
  }
}

struct Point {
  const char* model;
  std::uint64_t kib;
  Shape shape;
  double cycles;
};

void check(const Point& p) {
  CAPTURE(p.model, p.kib, p.shape.threads);
  CHECK(chase(config::resolve(p.model), p.kib, p.shape) == Approx(p.cycles).epsilon(0.05));
}

TEST_CASE("pointer chase: measured plateaus within 5 %") {
  for (const Point& p : {Point{"v100", 30, kBefore, 30.0},      {"v100", 30, kSince, 28.0},
                         {"v100", 1029, kBefore, 215.1},        {"v100", 1029, kSince, 212.1},
                         {"v100", 346610, kSince, 433.4},       {"v100", 926711, kBefore, 436.8},
                         {"a100", 44, kBefore, 36.1},           {"a100", 44, kSince, 33.3},
                         {"a100", 1029, kBefore, 210.9},        {"a100", 1029, kSince, 205.6},
                         {"a100", 340388, kBefore, 571.8},      {"a100", 346610, kSince, 551.5},
                         {"h100_pcie", 44, kBefore, 34.2},      {"h100_pcie", 1029, kBefore, 265.6},
                         {"h100_pcie", 926711, kBefore, 657.2}, {"l40", 44, kSince, 34.3},
                         {"l40", 1026, kSince, 273.6},          {"l40", 450297, kBefore, 631.5},
                         {"rtx4090", 1255, kBefore, 284.8},     {"rtx4090", 1095850, kBefore, 571.6}})
    check(p);
}

TEST_CASE("pointer chase: far L2 and transitions, measured", "[slow]") {
  for (const Point& p : {Point{"v100", 4333, kBefore, 215.0},
                         {"a100", 16483, kBefore, 211.0},
                         {"a100", 33757, kSince, 406.9},
                         {"h100_pcie", 18132, kBefore, 265.5},
                         {"h100_pcie", 38878, kBefore, 477.8}})
    check(p);
  // Half of the way between two plateaus lies within one footprint of the table of the measured place.
  struct Step {
    const char* model;
    std::uint64_t below, above;  // KiB
    double middle;               // cycles
  };
  for (const Step& s : {Step{"v100", 132, 143, 120},
                        {"v100", 6067, 6538, 320},
                        {"a100", 168, 183, 121},
                        {"a100", 21000, 23200, 310},
                        {"h100_pcie", 216, 264, 150},
                        {"h100_pcie", 24136, 32129, 371}}) {
    CAPTURE(s.model, s.below, s.above);
    const config::GpuConfig c = config::resolve(s.model);
    CHECK(chase(c, s.below) < s.middle);
    CHECK(chase(c, s.above) > s.middle);
  }
}

TEST_CASE("the L1 gives its data bandwidth less loop overhead, on every SM alike") {
  for (const char* model : {"v100", "a100", "h100_pcie"}) {
    const config::GpuConfig c = config::resolve(model);
    const SynthValues values = {
        {"ctas", "4"}, {"footprint", "65536"}, {"warm", "65536"}, {"first", "320"}, {"second", "1344"}};
    const double bytes = 1024.0 * 256 * 4 / last_difference(run("cache_read", values, c));
    CAPTURE(model);
    CHECK(bytes <= 1.003 * c.l1.data_bytes_per_cycle);  // the last CTA of a kernel ends by chance
    CHECK(bytes >=
          0.98 * 125.9);  // gpu-cache: V100 125.9, A100 126.7, H100 PCIe 126.5 bytes per cycle and SM
  }
}

TEST_CASE("a small machine reads and writes DRAM near its peak at full occupancy") {
  config::GpuConfig c = small_gpu("v100");
  const double peak = double(c.l2.partitions) * c.dram.channels_per_partition * c.dram.burst_bytes *
                      static_cast<double>(c.clock.dram_khz) / c.dram.burst_cycles /
                      static_cast<double>(c.clock.core_khz);
  // Measured of 898 GB/s: read 866 (0.96), init 895 (0.997); a 768 KiB L2 is full after the first kernel.
  struct Case {
    const char* kernel;
    double least;
  };
  for (const Case& k : {Case{"read", 0.92}, {"init", 0.92}}) {
    const SynthValues values = {{"kernel", k.kernel}, {"fill", "1048576"}, {"threads", "1024"},
                                {"most", "1024"},     {"resident", "20"},  {"shared", "49152"},
                                {"waves", "4"},       {"bytes", "1"}};
    const double bytes = 8.0 * 20 * 1024 * 8 / last_difference(run("stream", values, c));
    CAPTURE(k.kernel, bytes, peak);
    CHECK(bytes <= 1.02 * peak);  // the write queues are not empty at a kernel's end
    CHECK(bytes >= k.least * peak);
  }
}

TEST_CASE("the kinds give the same for every number of threads, window and order") {
  const std::vector<SmallTrace> traces = {
      {"chase",
       "pointer_chase",
       {{"footprint", "300000"}, {"threads", "64"}, {"warm", "3000"}, {"first", "32"}, {"second", "96"}}},
      {"cache", "cache_read", {{"ctas", "10"}, {"warm", "65536"}, {"second", "40"}}},
      {"l2", "l2_read", {{"pieces", "3"}, {"rows", "2"}, {"resident", "4"}, {"first", "4"}, {"second", "8"}}},
      {"stream", "stream", {{"kernel", "3pt"}, {"resident", "8"}, {"waves", "1"}, {"bytes", "4096"}}}};
  for (const SmallTrace& small : traces) {
    const OpenTrace trace(small);
    gpu::RunOptions options;
    options.config = small_gpu("a100");
    std::vector<Cycle> first;
    for (const int variant : {0, 1, 2}) {
      options.threads = variant == 1 ? 3 : 1;
      options.shuffle = variant == 1 ? std::optional<std::uint64_t>(7) : std::nullopt;
      options.window = variant == 2 ? 1 : 0;
      options.skip = variant != 2;
      std::vector<Cycle> now;
      for (const auto& kernel : gpu::simulate(*trace, options).report.kernels) now.push_back(kernel.cycles);
      if (first.empty()) first = now;
      CAPTURE(small.name, variant);
      CHECK(now == first);
    }
  }
}

}  // namespace
}  // namespace lockstep::test
