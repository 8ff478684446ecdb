// Rules for the GPU, its clocks, SMs, register file and instruction cache.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "accelsim/cache_string.hpp"
#include "accelsim/table.hpp"

namespace lockstep::accelsim {
namespace {

void capability(Context& c) {
  constexpr std::string_view kMajor = "-gpgpu_compute_capability_major";
  constexpr std::string_view kMinor = "-gpgpu_compute_capability_minor";
  const std::uint64_t major = c.number(kMajor), minor = c.number(kMinor);
  if (minor > 9) c.fail(kMinor, "expected 0 to 9");
  c.set("gpu.arch", major * 10 + minor, {kMajor, kMinor});
  c.set("gpu.name", fmt::format("accelsim_sm{}{}", major, minor), {kMajor, kMinor});
}

void clocks(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_clock_domains";
  const auto mhz = c.parts(kOption, ':', 4, 4, "CORE:ICNT:L2:DRAM in MHz");
  const config::ClockGroup base = c.config().clock;
  const config::DramGroup dram = c.config().dram;
  constexpr std::string_view kKeys[] = {"clock.core_khz", "clock.icnt_khz", "clock.l2_khz", "clock.dram_khz"};
  for (std::size_t i = 0; i < std::size(kKeys); ++i) c.set(kKeys[i], mhz[i] + " MHz", {kOption});
  const std::uint64_t khz = c.config().clock.dram_khz;
  if (khz == base.dram_khz) return;
  c.set("dram.tREFI", scaled(dram.tREFI, khz, base.dram_khz), {kOption});
  c.set("dram.tRFC", std::max<std::uint64_t>(1, scaled(dram.tRFC, khz, base.dram_khz)), {kOption});
}

void clusters(Context& c) {
  constexpr std::string_view kClusters = "-gpgpu_n_clusters", kCores = "-gpgpu_n_cores_per_cluster";
  const std::uint64_t tpcs = c.number(kClusters), per_tpc = c.number(kCores);
  constexpr std::uint64_t kMaxCount = 1'000'000;
  if (tpcs > kMaxCount) c.fail(kClusters, fmt::format("expected at most {}", kMaxCount));
  c.set("gpu.sms_per_tpc", per_tpc, {kCores, kClusters});
  c.set("gpu.sms", tpcs * per_tpc, {kClusters, kCores});
  if (c.config().gpu.gpcs > tpcs) c.set("gpu.gpcs", tpcs, {kClusters});
}

void threads(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_shader_core_pipeline";
  const auto values = c.numbers(kOption, ':', 2, 2, "THREADS:32");
  if (values[1] != 32) c.fail(kOption, "expected warps of 32 threads");
  c.set("sm.max_threads", values[0], {kOption});
  c.set("sm.max_warps", divided_up(values[0], 32), {kOption});
}

void scheduler(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_scheduler";
  const std::string_view name = c.text(kOption);
  if (name == "gto" || name == "lrr") return c.set("sm.scheduler", std::string(name), {kOption});
  c.unused(kOption, "only gto and lrr have a counterpart; the base's policy stays");
}

void registers(Context& c) {
  constexpr std::string_view kBanks = "-gpgpu_num_reg_banks", kPorts = "-gpgpu_reg_file_port_throughput";
  if (!c.has(kBanks) && !c.has(kPorts)) return;
  // A sub-core issues one instruction of at most 4 register operands per cycle: 8 reads of each bank never
  // bind.
  constexpr std::uint64_t kMaxBanks = 2, kMaxPorts = 8, kMaxCount = 1'000'000;
  const std::uint64_t schedulers = std::max<std::uint64_t>(1, c.number(kSchedulers));
  const std::uint64_t own = std::max<std::uint64_t>(1, c.number(kBanks) / schedulers);
  const std::uint64_t banks = std::min(own, kMaxBanks);
  for (const auto& [option, count] : {std::pair{kBanks, own}, {kPorts, c.number(kPorts)}})
    if (count > kMaxCount) c.fail(option, "more register banks or ports than an SM can have");
  c.set("rf.banks", banks, {kBanks, kSchedulers});
  c.set("rf.read_ports", std::min(own * c.number(kPorts) / banks, kMaxPorts), {kPorts, kBanks, kSchedulers});
}

void instruction_cache(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_cache:il1", kPerfect = "-gpgpu_perfect_inst_const_cache";
  if (c.flag(kPerfect))
    return c.unused(kOption, "-gpgpu_perfect_inst_const_cache 1: not in use; the base's stays");
  if (!c.has(kOption)) return;
  const auto cache = cache_string(c, kOption);
  if (!cache) return c.unused(kOption, "an SM always has an L1 instruction cache; the base's stays");
  c.set("frontend.line_bytes", cache->line_bytes, {kOption});
  c.set("frontend.l1i_bytes", cache->bytes(), {kOption});
  c.set("frontend.l1i_ways", cache->ways, {kOption});
  c.set("frontend.l1i_mshrs", cache->mshrs, {kOption});
}

void perfect_constants(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_perfect_inst_const_cache";
  c.set("mio.const_cold_miss", c.flag(kOption) ? "false" : "true", {kOption});
}

void constant_cache(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_const_cache:l1", kPerfect = "-gpgpu_perfect_inst_const_cache";
  constexpr std::uint64_t kAll = 1 << 20;  // more than all constants of a kernel
  if (c.flag(kPerfect)) {
    c.set("mio.const_l1_bytes", kAll, {kPerfect});
    return c.unused(kOption, "-gpgpu_perfect_inst_const_cache 1: not in use; all constants fit");
  }
  if (!c.has(kOption)) return;
  const auto cache = cache_string(c, kOption);
  if (!cache) return c.unused(kOption, "an SM always has a constant cache; the base's stays");
  c.set("mio.const_l1_bytes", std::min(cache->bytes(), kAll), {kOption});
}

}  // namespace

std::vector<Rule> machine_rules() {
  return {
      {{{"-gpgpu_compute_capability_major", "7"}, {"-gpgpu_compute_capability_minor", "0"}},
       "gpu.arch, gpu.name",
       "major * 10 + minor; without --config it also chooses the base model",
       capability},
      {{{"-gpgpu_clock_domains", "500.0:2000.0:2000.0:2000.0"}},
       "clock.core_khz, clock.icnt_khz, clock.l2_khz, clock.dram_khz, dram.tREFI, dram.tRFC",
       "MHz. Accel-Sim has no refresh: the base's keeps its time at the new DRAM clock",
       clocks},
      {{{"-gpgpu_n_clusters", "10"}, {"-gpgpu_n_cores_per_cluster", "3"}},
       "gpu.sms, gpu.sms_per_tpc, gpu.gpcs",
       "SMs = clusters * cores; a cluster is a TPC; the base's GPCs, but not more than TPCs",
       clusters},
      {{{"-gpgpu_shader_core_pipeline", "1024:32"}},
       "sm.max_threads, sm.max_warps",
       "warps = threads / 32",
       threads},
      {{{"-gpgpu_shader_registers", "8192"}},
       "sm.registers",
       "as it is",
       [](Context& c) { c.copy("sm.registers", "-gpgpu_shader_registers"); }},
      {{{"-gpgpu_shader_cta", "32"}},
       "sm.max_ctas",
       "as it is",
       [](Context& c) { c.copy("sm.max_ctas", "-gpgpu_shader_cta"); }},
      {{{kSchedulers, "1"}},
       "sm.subcores",
       "a scheduler is a sub-core",
       [](Context& c) { c.copy("sm.subcores", kSchedulers); }},
      {{{"-gpgpu_scheduler", "gto"}}, "sm.scheduler", "gto and lrr; others keep the base's", scheduler},
      {{{"-gpgpu_num_reg_banks", "8"}, {"-gpgpu_reg_file_port_throughput", "1"}, {kSchedulers, "1"}},
       "rf.banks, rf.read_ports",
       "banks of the SM / schedulers, at most 2; a sub-core keeps its reads a cycle, banks * throughput, but "
       "at most 8 of a bank",
       registers},
      {{{"-gpgpu_cache:il1", "4:256:4,L:R:f:N,A:2:32,4"}, {"-gpgpu_perfect_inst_const_cache", "0"}},
       "frontend.l1i_bytes, frontend.l1i_ways, frontend.line_bytes, frontend.l1i_mshrs",
       "sets * line * ways; MSHR entries; not where the cache is perfect",
       instruction_cache},
      {{{"-gpgpu_perfect_inst_const_cache", "0"}},
       "mio.const_cold_miss",
       "1: constants never miss. The instruction caches stay: the front end matters most for fidelity",
       perfect_constants},
      {{{"-gpgpu_const_cache:l1", "64:64:2,L:R:f:N,A:2:32,4"}, {"-gpgpu_perfect_inst_const_cache", "0"}},
       "mio.const_l1_bytes",
       "sets * line * ways, at most 1 MiB; 1 MiB where the cache is perfect. Lines have 64 bytes, sets four "
       "ways",
       constant_cache},
  };
}

}  // namespace lockstep::accelsim
