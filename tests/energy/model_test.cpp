// The model against the same sums in floating point, and its V100 coefficients against what AccelWattch
// published.
#include "energy/model.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "config/config.hpp"
#include "config/schema.hpp"

namespace lockstep::energy {
namespace {

using stats::EnergyPart;
using stats::EnergyParts;
using stats::KernelCounters;

/// Every counter another value.
KernelCounters counted() {
  std::uint64_t words[sizeof(KernelCounters) / 8];
  for (std::size_t i = 0; i < std::size(words); ++i) words[i] = 100'000 + 977 * i;
  KernelCounters counters;
  std::memcpy(&counters, words, sizeof words);
  for (stats::CacheCounters* cache : {&counters.sm.l1, &counters.mem.l2}) {
    cache->sectors_read = cache->read_hits + 30'011;
    cache->sectors_written = cache->write_hits + 20'021;
  }
  counters.sm.thread_instructions = 20 * counters.sm.warp_instructions;
  return counters;
}

double at(const EnergyParts& parts, EnergyPart part) {
  return static_cast<double>(parts.picojoules[static_cast<unsigned>(part)]);
}

double lanes(const KernelCounters& c, stats::UnitClass unit) {
  return static_cast<double>(c.sm.lanes[static_cast<unsigned>(unit)]);
}

/// The header's formulas in floating point, part by part, in pJ.
std::array<double, stats::kEnergyParts> in_floating_point(const config::GpuConfig& config,
                                                          const KernelCounters& c, double cycles) {
  const config::EnergyGroup& e = config.energy;
  using U = stats::UnitClass;
  const auto n = [](std::uint64_t count) { return static_cast<double>(count); };
  const double v = n(e.voltage_mv) / n(e.reference_voltage_mv), chip = v * v / 1000;
  const double seconds = cycles / (n(config.clock.core_khz) * 1000);
  double warps = 0;
  for (unsigned i = 0; i + 1 < stats::kStalls; ++i) warps += n(c.sm.stalls[i]);
  const double all = cycles * config.gpu.sms * config.sm.subcores;
  const double active = warps / all, sms = config.gpu.sms;
  const double more = n(c.sm.thread_instructions) / n(c.sm.warp_instructions) - 1;
  const stats::CacheCounters &l1 = c.sm.l1, &l2 = c.mem.l2;
  const double burst = 8.0 * config.dram.burst_bytes;
  return {
      n(c.sm.warp_instructions) * e.instruction * chip,
      (n(c.sm.rf_reads) + n(c.sm.rfc_hits)) * e.register_read * chip,
      (lanes(c, U::kInt) * e.int_lane + lanes(c, U::kIntMultiply) * e.int_multiply_lane) * chip,
      (lanes(c, U::kFp) * e.fp_lane + lanes(c, U::kFpMultiply) * e.fp_multiply_lane) * chip,
      lanes(c, U::kFp64) * e.fp64_lane * chip,
      lanes(c, U::kSfu) * e.sfu_lane * chip,
      lanes(c, U::kTensor) * e.tensor_lane * chip,
      lanes(c, U::kTexture) * e.texture_lane * chip,
      n(c.sm.const_passes) * e.constant_load * chip,
      (n(l1.read_hits) * e.l1_read_hit + n(l1.sectors_read - l1.read_hits) * e.l1_read_miss +
       n(l1.write_hits) * e.l1_write_hit + n(l1.sectors_written - l1.write_hits) * e.l1_write_miss) *
          chip,
      n(c.sm.shared_wavefronts) * e.shared_wavefront * chip,
      (n(l2.read_hits) * e.l2_read_hit + n(l2.sectors_read - l2.read_hits) * e.l2_read_miss +
       n(l2.sectors_written) * e.l2_write) *
          chip,
      (n(c.sm.l1_load_sectors_sent) + n(c.sm.l1_store_sectors_sent) + n(c.sm.l1_atomic_sectors_sent) +
       n(c.mem.l2_fetches)) *
          e.crossbar_sector * chip,
      (n(c.mem.dram_reads) * burst * e.dram_read_bit + n(c.mem.dram_writes) * burst * e.dram_write_bit +
       n(c.mem.dram_precharges) * e.dram_precharge) /
              1000 +
          e.dram_power * seconds * 1e6,
      active * sms * (e.active_sm_power + more * e.lane_power) * v * seconds * 1e6,
      (1 - active) * sms * e.idle_sm_power * v * seconds * 1e6,
      e.board_power * seconds * 1e6,
  };
}

config::GpuConfig with_every_coefficient() {
  config::GpuConfig config = config::resolve("v100");
  std::uint64_t value = 10'007;
  for (const config::Parameter& row : config::schema())
    if (row.type == config::Type::kInteger && row.key.starts_with("energy.") &&
        row.measure != config::Measure::kMillivolts)
      row.binding.set(config, value += 101);
  config.energy.source = "test";
  return config;
}

}  // namespace

TEST_CASE("each part is its formula") {
  config::GpuConfig config = with_every_coefficient();
  for (const std::uint32_t millivolts : {1000u, 800u, 1093u}) {
    config.energy.voltage_mv = millivolts;
    const auto parts = Model(config).of(counted(), 250'000);
    REQUIRE(parts);
    const auto expected = in_floating_point(config, counted(), 250'000);
    for (unsigned i = 0; i < stats::kEnergyParts; ++i) {
      INFO(stats::energy_rows()[i].name << " at " << millivolts << " mV");
      CHECK(expected[i] > 1000);
      CHECK(static_cast<double>(parts->picojoules[i]) == Approx(expected[i]).epsilon(1e-6).margin(1));
    }
  }
}

TEST_CASE("nothing but the board, memory and idle SMs takes energy where nothing happens") {
  const config::GpuConfig config = with_every_coefficient();
  const auto parts = Model(config).of({}, 1'380'000);  // 1 ms
  REQUIRE(parts);
  const config::EnergyGroup& e = config.energy;
  CHECK(at(*parts, EnergyPart::kBoard) == e.board_power * 1000.0);  // uW * ms = nJ
  CHECK(at(*parts, EnergyPart::kDram) == e.dram_power * 1000.0);
  CHECK(at(*parts, EnergyPart::kIdleSms) == e.idle_sm_power * 1000.0 * 80);
  CHECK(parts->total() == (e.board_power + e.dram_power + 80 * e.idle_sm_power) * 1000);
}

TEST_CASE("the largest counts and coefficients do not overflow") {
  config::GpuConfig config = with_every_coefficient();
  config.energy.dram_read_bit = 1'000'000'000;
  config.energy.instruction = 1'000'000'000;
  KernelCounters counters;
  counters.mem.dram_reads = 1'000'000'000;
  counters.sm.warp_instructions = 1'000'000'000'000;
  const auto parts = Model(config).of(counters, 0);
  CHECK(at(*parts, EnergyPart::kDram) == 256e15);
  CHECK(at(*parts, EnergyPart::kInstructions) == 1e18);
}

TEST_CASE("a configuration without coefficients has no energy") {
  config::GpuConfig config = config::resolve("a100");
  REQUIRE(config.energy.source == "none");
  CHECK_FALSE(Model(config).of(counted(), 1000));
  CHECK_FALSE(Model(config).of_link(1000));
  CHECK(*Model(with_every_coefficient()).of_link(1000) ==
        (8000 * std::uint64_t{with_every_coefficient().energy.link_bit} + 500) / 1000);
}

// What the hardware counted for a kernel (hw_perf.csv) and the powers that AccelWattch works out from it
// (AccelWattch_graphs.xlsx, sheet Volta_HW), both of the public accel-sim-framework's util/accelwattch. Ours
// are derived from the kernels that tools/results/split.py does not keep as a check; these are checks.
struct Published {
  const char* kernel;
  double l1_rh, l1_rm, l1_wh, l1_wm, constant, shared, dram_rd, dram_wr, l2_rh, l2_rm, l2_wh, noc, cycles;
  double l1_w, constant_w, shared_w, l2_noc_w, dram_w;
};

TEST_CASE("the V100's coefficients give AccelWattch's powers of the memory side") {
  constexpr Published kKernels[] = {
      {"btree_k2", 1318908, 525035, 42619, 7404, 0, 0, 255317, 2582, 366918, 255364, 50000, 1250108, 80883,
       9.760, 0.000, 0.000, 7.139, 9.413},
      {"backprop_k2", 465990, 277805, 327015, 887, 0, 0, 286738, 190646, 54315, 286734, 327686, 1263518,
       32578, 9.512, 0.000, 0.000, 23.817, 30.174},
      {"binomialOptions_k1", 0, 0, 0, 1024, 23688, 16778240, 640, 0, 0, 0, 1024, 2048, 1366301, 0.000, 0.012,
       10.669, 0.001, 0.553},
      {"cudaTensorCoreGemm_k1", 0, 69206016, 0, 2097152, 0, 30146560, 16974052, 1998866, 52232060, 16973824,
       2097152, 142606336, 3871172, 5.446, 0.000, 6.744, 16.790, 12.901},
      {"cutlass_k1", 0, 460800, 0, 5120, 160, 577120, 412168, 42, 48640, 412160, 5120, 931840, 139809, 0.986,
       0.001, 3.576, 2.444, 7.798},
      {"cutlass_k3", 0, 3276800, 429683, 164205, 640, 2309120, 491528, 77869, 2785280, 491520, 593920,
       7741440, 161781, 6.378, 0.003, 12.364, 24.834, 9.865},
      {"dct8x8_k1", 0, 0, 553, 32122, 786432, 114688, 32786, 0, 16384, 32768, 32768, 131072, 24208, 0.380,
       21.767, 4.092, 3.470, 6.290},
      {"fastWalshTransform_k1", 0, 1048576, 774120, 271536, 0, 0, 1048582, 945003, 0, 1048576, 1048576,
       4194304, 120948, 3.426, 0.000, 0.000, 21.138, 32.804},
      {"hotspot_k1", 4250, 691050, 0, 175104, 0, 997428, 262147, 66263, 486965, 262144, 175104, 1732988,
       56439, 4.562, 0.000, 15.357, 16.176, 14.456},
      {"kmeans_k1", 0, 0, 0, 102400, 4352107, 0, 12302960, 92472, 6742186, 12321532, 102400, 26022036, 894551,
       0.033, 3.256, 0.000, 12.217, 33.833},
      {"mergeSort_k2", 0, 1048576, 0, 1048576, 0, 12976128, 1048580, 950169, 0, 1048576, 1048576, 4194304,
       439317, 1.381, 0.000, 25.458, 5.784, 9.614},
      {"parboil_mriq_k1", 0, 163840, 65184, 154, 17617612, 0, 164356, 0, 0, 163840, 65536, 458752, 691893,
       0.073, 17.063, 0.000, 0.329, 2.969},
      {"parboil_sgemm_k1", 7109956, 2452728, 133388, 1284, 0, 8642304, 393092, 36894, 2059512, 393088, 135168,
       5176696, 358744, 11.552, 0.000, 20.861, 6.863, 4.838},
      {"quasirandomGenerator_k1", 0, 0, 0, 393216, 47616, 0, 21, 294938, 0, 0, 393216, 786432, 80627, 1.395,
       0.398, 0.000, 8.498, 6.232},
      {"sobolQRNG_k1", 172832, 31976, 0, 1250000, 0, 1899700, 405, 1151641, 31592, 400, 1250000, 2563936,
       112088, 4.015, 0.000, 14.701, 19.699, 16.163},
  };
  config::GpuConfig config = config::resolve("v100");
  config.clock.core_khz = 1'447'000;
  const auto count = [](double n) { return static_cast<std::uint64_t>(n + 0.5); };
  for (const Published& k : kKernels) {
    KernelCounters c;
    c.sm.l1.read_hits = count(k.l1_rh);
    c.sm.l1.sectors_read = count(k.l1_rh + k.l1_rm);
    c.sm.l1.write_hits = count(k.l1_wh);
    c.sm.l1.sectors_written = count(k.l1_wh + k.l1_wm);
    c.sm.const_passes = count(k.constant);
    c.sm.shared_wavefronts = count(k.shared);
    c.mem.l2.read_hits = count(k.l2_rh);
    c.mem.l2.sectors_read = count(k.l2_rh + k.l2_rm);
    c.mem.l2.sectors_written = count(k.l2_wh);
    c.sm.l1_load_sectors_sent = count(k.noc / 2);  // request and answer are two of its accesses
    c.mem.dram_reads = count(k.dram_rd);
    c.mem.dram_writes = count(k.dram_wr);
    const auto parts = Model(config).of(c, count(k.cycles));
    REQUIRE(parts);
    const auto watts = [&](EnergyPart part) { return at(*parts, part) * 1447e6 / k.cycles * 1e-12; };
    INFO(k.kernel);
    CHECK(watts(EnergyPart::kL1) == Approx(k.l1_w).epsilon(0.03).margin(0.05));
    CHECK(watts(EnergyPart::kConstant) == Approx(k.constant_w).epsilon(0.03).margin(0.05));
    CHECK(watts(EnergyPart::kShared) == Approx(k.shared_w).epsilon(0.03).margin(0.05));
    CHECK(watts(EnergyPart::kL2) + watts(EnergyPart::kCrossbar) ==
          Approx(k.l2_noc_w).epsilon(0.05).margin(0.05));
    CHECK(watts(EnergyPart::kDram) == Approx(k.dram_w).margin(1.5));
  }
}

}  // namespace lockstep::energy
