// Every parameter: bound to the field that its key names, within its range, readable in each of its forms.
#include "config/schema.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "config/config.hpp"
#include "config/value.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::config;
using lockstep::config::test::error_of;

namespace {

std::map<std::string, std::string> lines_of(const GpuConfig& c) {
  std::map<std::string, std::string> values;
  for (const Parameter& p : schema()) values[p.key] = value_text(p, c);
  return values;
}

/// A value other than the present one, within the parameter's own range.
std::string other_value(const Parameter& p, const GpuConfig& c) {
  const std::string now = value_text(p, c);
  switch (p.type) {
    case Type::kInteger:
      return now == std::to_string(p.max) ? std::to_string(p.power_of_two ? p.max / 2 : p.max - 1)
             : p.power_of_two             ? std::to_string(std::stoull(now) * 2)
                                          : std::to_string(std::stoull(now) + 1);
    case Type::kBool:
      return now == "true" ? "false" : "true";
    case Type::kEnum:
      return std::string(p.names[now == p.names[0] ? 1 : 0]);
    case Type::kUnits:
      return now == "alu" ? "fma,xu" : "alu";
    case Type::kList:
      return "1,2,3";
    case Type::kText:
      return "other";
  }
  return "";
}

std::string set(const Parameter& p, const std::string& text) {
  GpuConfig c;
  return error_of([&] { set_value(p, c, text); });
}

}  // namespace

TEST_CASE("keys are unique, grouped, described and found with their aliases") {
  std::set<std::string> keys, closed_groups;
  std::string group;
  for (const Parameter& p : schema()) {
    CAPTURE(p.key);
    CHECK(keys.insert(p.key).second);
    CHECK(p.help.size() > 5);
    CHECK(find(p.key).parameter == &p);
    CHECK_FALSE(find(p.key).scale.has_value());
    for (const Alias& alias : p.aliases) {
      CHECK(keys.insert(std::string(alias.key)).second);
      CHECK(find(alias.key).parameter == &p);
      CHECK(find(alias.key).scale.has_value());
    }
    const std::string own(group_of(p.key));
    if (own != group) CHECK(closed_groups.insert(own).second);
    group = own;
  }
  CHECK(find("no.such").parameter == nullptr);
}

TEST_CASE("setting one key changes that key and no other") {
  for (const Parameter& p : schema()) {
    CAPTURE(p.key);
    GpuConfig c;
    auto expected = lines_of(c);
    const std::string value = other_value(p, c);
    REQUIRE(value != expected[p.key]);
    set_value(p, c, value);
    expected[p.key] = value;
    CHECK(lines_of(c) == expected);
  }
}

// The key and the field are made from the same two words here, independently of the schema.
#define FIELD(group, field)                                                                         \
  {                                                                                                 \
#group "." #field, [](const GpuConfig& c) { return static_cast<std::uint64_t>(c.group.field); } \
  }
TEST_CASE("each integer key reaches the field of its name") {
  struct Field {
    const char* key;
    std::uint64_t (*read)(const GpuConfig&);
  };
  const Field fields[] = {
      FIELD(gpu, arch),
      FIELD(gpu, sms),
      FIELD(gpu, sms_per_tpc),
      FIELD(gpu, gpcs),
      FIELD(gpu, last_gpc_sms),
      FIELD(clock, core_khz),
      FIELD(clock, icnt_khz),
      FIELD(clock, l2_khz),
      FIELD(clock, dram_khz),
      FIELD(sm, subcores),
      FIELD(sm, max_warps),
      FIELD(sm, max_ctas),
      FIELD(sm, max_threads),
      FIELD(sm, registers),
      FIELD(sm, register_unit),
      FIELD(sm, shared_unit),
      FIELD(sm, shared_reserved),
      FIELD(frontend, ibuffer_entries),
      FIELD(frontend, decode_latency),
      FIELD(frontend, branch_latency),
      FIELD(frontend, l0_bytes),
      FIELD(frontend, l0_ways),
      FIELD(frontend, line_bytes),
      FIELD(frontend, l1i_bytes),
      FIELD(frontend, l1i_ways),
      FIELD(frontend, l1i_latency),
      FIELD(frontend, l1i_mshrs),
      FIELD(frontend, l1i_read_ahead),
      FIELD(frontend, launch_prefetch),
      FIELD(frontend, prefetch_entries),
      FIELD(rf, banks),
      FIELD(rf, read_ports),
      FIELD(rf, read_window),
      FIELD(tensor, f16),
      FIELD(tensor, f16_f32),
      FIELD(tensor, bf16),
      FIELD(tensor, tf32),
      FIELD(tensor, f64),
      FIELD(tensor, int8),
      FIELD(tensor, int4),
      FIELD(tensor, binary),
      FIELD(tensor, fp8),
      FIELD(tensor, sparse_factor),
      FIELD(mio, queue_entries),
      FIELD(mio, dispatch_interval),
      FIELD(mio, operand_delay),
      FIELD(mio, shuffle_latency),
      FIELD(mio, shuffle_interval),
      FIELD(mio, special_latency),
      FIELD(mio, special_interval),
      FIELD(mio, const_latency),
      FIELD(mio, const_interval),
      FIELD(mio, const_pass_interval),
      FIELD(mio, const_l1_bytes),
      FIELD(mio, const_l15_bytes),
      FIELD(mio, const_l15_latency),
      FIELD(mio, texture_latency),
      FIELD(mio, texture_interval),
      FIELD(l1, bytes),
      FIELD(l1, ways),
      FIELD(l1, hit_latency),
      FIELD(l1, shared_latency),
      FIELD(l1, tags_per_cycle),
      FIELD(l1, data_bytes_per_cycle),
      FIELD(l1, mshrs),
      FIELD(l1, pending_instructions),
      FIELD(sync, barrier_latency),
      FIELD(sync, barrier_interval),
      FIELD(sync, membar_cta),
      FIELD(sync, membar_gpu),
      FIELD(sync, membar_system),
      FIELD(cluster, latency),
      FIELD(cluster, port_bytes),
      FIELD(cluster, barrier_latency),
      FIELD(tma, line_interval),
      FIELD(tma, queue),
      FIELD(icnt, request_latency),
      FIELD(icnt, reply_latency),
      FIELD(icnt, flit_bytes),
      FIELD(icnt, sm_out_bytes),
      FIELD(icnt, sm_in_bytes),
      FIELD(icnt, slice_in_bytes),
      FIELD(icnt, slice_out_bytes),
      FIELD(icnt, request_credits),
      FIELD(icnt, reply_credits),
      FIELD(icnt, sm_queue_entries),
      FIELD(icnt, queue_entries),
      FIELD(icnt, far_latency),
      FIELD(icnt, far_credits),
      FIELD(l2, partitions),
      FIELD(l2, slices_per_partition),
      FIELD(l2, slice_bytes),
      FIELD(l2, ways),
      FIELD(l2, dirty_ways),
      FIELD(l2, latency),
      FIELD(l2, slice_bytes_per_cycle),
      FIELD(l2, mshrs),
      FIELD(l2, mshr_merges),
      FIELD(l2, far_merges),
      FIELD(l2, atomic_interval),
      FIELD(l2, halves),
      FIELD(l2, half_bytes),
      FIELD(l2, fetch_bytes),
      FIELD(dram, capacity_bytes),
      FIELD(dram, channels_per_partition),
      FIELD(dram, bank_groups),
      FIELD(dram, banks_per_group),
      FIELD(dram, row_bytes),
      FIELD(dram, burst_bytes),
      FIELD(dram, burst_cycles),
      FIELD(dram, tRCD),
      FIELD(dram, tRP),
      FIELD(dram, tRAS),
      FIELD(dram, tCL),
      FIELD(dram, tCWL),
      FIELD(dram, tCCD_S),
      FIELD(dram, tCCD_L),
      FIELD(dram, tRRD_S),
      FIELD(dram, tRRD_L),
      FIELD(dram, tFAW),
      FIELD(dram, tWTR_S),
      FIELD(dram, tWTR_L),
      FIELD(dram, tRTP),
      FIELD(dram, tWR),
      FIELD(dram, tRTW),
      FIELD(dram, tREFI),
      FIELD(dram, tRFC),
      FIELD(dram, read_queue),
      FIELD(dram, write_queue),
      FIELD(dram, write_high),
      FIELD(dram, write_low),
      FIELD(launch, latency_ns),
      FIELD(launch, graph_node_ns),
      FIELD(launch, call_ns),
      FIELD(launch, wait_ns),
      FIELD(launch, dispatch_interval_milli),
      FIELD(launch, cta_latency_ps),
      FIELD(launch, done_latency_ps),
      FIELD(launch, warp_interval_milli),
      FIELD(launch, max_kernels),
      FIELD(host, bytes_per_second),
      FIELD(host, command_latency_ps),
      FIELD(host, data_latency_ps),
      FIELD(host, page_bytes),
      FIELD(host, copy_start_ns),
      FIELD(uvm, link_gib),
      FIELD(uvm, prefetch_threshold),
      FIELD(uvm, reserve_percent),
      FIELD(uvm, free_buffer_percent),
      FIELD(uvm, l1_tlb_entries),
      FIELD(uvm, l1_tlb_large_entries),
      FIELD(uvm, l2_tlb_entries),
      FIELD(uvm, l2_tlb_ways),
      FIELD(uvm, l2_tlb_large_entries),
      FIELD(uvm, l2_tlb_large_ways),
      FIELD(uvm, l2_tlb_latency),
      FIELD(uvm, walkers),
      FIELD(uvm, walk_levels),
      FIELD(uvm, walk_step),
      FIELD(uvm, walk_cache_entries),
      FIELD(uvm, walk_cache_latency),
      FIELD(uvm, request_latency),
      FIELD(uvm, reply_latency),
      FIELD(uvm, l1_shootdown),
      FIELD(uvm, l2_shootdown),
      FIELD(uvm, touch_interval),
      FIELD(uvm, l1_flush),
      FIELD(uvm, l2_flush),
      FIELD(uvm, throttled_batches_per_run),
      FIELD(uvm, put_update_percent),
      FIELD(uvm, remote_threshold),
      FIELD(uvm, remote_penalty),
      FIELD(uvm, remote_slot),
      FIELD(uvm, remote_latency_ns),
      FIELD(uvm, remote_header_bytes),
      FIELD(uvm, remote_outstanding),
      FIELD(uvm, thrashing_lapse_ns),
      FIELD(uvm, thrashing_threshold),
      FIELD(uvm, thrashing_throttles),
      FIELD(uvm, thrashing_pin_lapses),
      FIELD(uvm, thrashing_epoch_lapses),
      FIELD(uvm, thrashing_resets),
      FIELD(uvm, page_fault_ns),
      FIELD(uvm, fault_buffer),
      FIELD(uvm, outstanding_faults),
      FIELD(uvm, batch_faults),
      FIELD(uvm, batches_per_run),
      FIELD(uvm, interrupt_ns),
      FIELD(uvm, batch_ns),
      FIELD(uvm, block_ns),
      FIELD(uvm, evict_ns),
      FIELD(uvm, kib_ps),
      FIELD(uvm, host_fault_ns),
      FIELD(uvm, advise_ns),
      FIELD(uvm, prefetch_ns),
      FIELD(tlb, miss_latency),
      FIELD(tlb, pages),
      FIELD(dram, fill_percent),
      FIELD(dram, copy_percent),
      FIELD(energy, board_power),
      FIELD(energy, dram_power),
      FIELD(energy, idle_sm_power),
      FIELD(energy, active_sm_power),
      FIELD(energy, lane_power),
      FIELD(energy, instruction),
      FIELD(energy, register_read),
      FIELD(energy, int_lane),
      FIELD(energy, int_multiply_lane),
      FIELD(energy, fp_lane),
      FIELD(energy, fp_multiply_lane),
      FIELD(energy, fp64_lane),
      FIELD(energy, sfu_lane),
      FIELD(energy, tensor_lane),
      FIELD(energy, texture_lane),
      FIELD(energy, constant_load),
      FIELD(energy, shared_wavefront),
      FIELD(energy, l1_read_hit),
      FIELD(energy, l1_read_miss),
      FIELD(energy, l1_write_hit),
      FIELD(energy, l1_write_miss),
      FIELD(energy, l2_read_hit),
      FIELD(energy, l2_read_miss),
      FIELD(energy, l2_write),
      FIELD(energy, crossbar_sector),
      FIELD(energy, dram_read_bit),
      FIELD(energy, dram_write_bit),
      FIELD(energy, dram_precharge),
      FIELD(energy, link_bit),
      {"energy.voltage", [](const GpuConfig& c) { return std::uint64_t{c.energy.voltage_mv}; }},
      {"energy.reference_voltage",
       [](const GpuConfig& c) { return std::uint64_t{c.energy.reference_voltage_mv}; }},
      {"dram.latency_ps", [](const GpuConfig& c) { return std::uint64_t{c.dram.latency_ns_x1000}; }}};
  std::set<std::string> seen;
  for (const Field& f : fields) {
    CAPTURE(f.key);
    const Parameter* p = find(f.key).parameter;
    REQUIRE(p);
    GpuConfig c;
    CHECK(std::to_string(f.read(c)) == value_text(*p, c));
    const std::string value = other_value(*p, c);
    set_value(*p, c, value);
    CHECK(std::to_string(f.read(c)) == value);
    seen.insert(f.key);
  }
  for (const Parameter& p : schema()) {
    if (p.type == Type::kInteger && !p.key.starts_with("pipe.")) CHECK(seen.count(p.key) == 1);
  }
}

TEST_CASE("pipes, booleans, names, lists and texts reach their fields") {
  using trace::OpClass;
  const std::pair<const char*, OpClass> classes[] = {{"alu", OpClass::kAlu},
                                                     {"fp32", OpClass::kFp32},
                                                     {"imad", OpClass::kImad},
                                                     {"imad_wide", OpClass::kImadWide},
                                                     {"fp16", OpClass::kFp16},
                                                     {"fp64", OpClass::kFp64},
                                                     {"sfu", OpClass::kSfu},
                                                     {"convert", OpClass::kConvert},
                                                     {"bitcount", OpClass::kBitcount},
                                                     {"tensor", OpClass::kTensor},
                                                     {"warpgroup_mma", OpClass::kWarpgroupMma},
                                                     {"uniform", OpClass::kUniform},
                                                     {"vote", OpClass::kVote},
                                                     {"branch", OpClass::kBranch},
                                                     {"convergence", OpClass::kConvergence},
                                                     {"exit", OpClass::kExit},
                                                     {"depbar", OpClass::kDepBar},
                                                     {"sleep", OpClass::kSleep},
                                                     {"nop", OpClass::kNop}};
  for (const auto& [name, op_class] : classes) {
    const std::string prefix = std::string("pipe.") + name;
    CAPTURE(prefix);
    const GpuConfig c = resolve("v100", {prefix + ".units=fma2, xu", prefix + ".latency=77"});
    CHECK(c.pipe_of(op_class).units == (unit_bit(Unit::kFma2) | unit_bit(Unit::kXu)));
    CHECK(c.pipe_of(op_class).latency == 77);
    const bool matrix = op_class == OpClass::kTensor || op_class == OpClass::kWarpgroupMma;
    if (matrix) CHECK(find(prefix + ".interval").parameter == nullptr);
    if (!matrix) CHECK(resolve("v100", {prefix + ".interval=55"}).pipe_of(op_class).interval == 55);
  }
  const GpuConfig c = resolve(
      "v100", {"sm.scheduler=lrr", "rf.cache=false", "l1.shared_carveouts_kib=0, 32", "gpu.name=My GPU-2",
               "dram.type=hbm3", "host.copy_mode=overlapped", "pipe.fp64_shared=true",
               "pipe.branch_shared=false", "mio.const_cold_miss=false", "host.warms_l2=false",
               "l1.allocate_on_miss=false", "l1.allocate_on_store=false", "l1.cache_global=false",
               "l1.replacement=lru", "dram.refresh=all_banks", "dram.standard=gddr", "l2.code_resident=false",
               "launch.cache_control=all", "sync.poll_elision=false"});
  CHECK(c.sm.scheduler == SchedulerPolicy::kLrr);
  CHECK_FALSE(c.rf.cache);
  CHECK(c.l1.shared_carveouts_kib == std::vector<std::uint32_t>{0, 32});
  CHECK(c.gpu.name == "My GPU-2");
  CHECK(c.dram.type == "hbm3");
  CHECK(c.host.copy_mode == CopyMode::kOverlapped);
  CHECK(c.launch.cache_control == CacheControl::kAll);
  CHECK(c.fp64_shared);
  CHECK_FALSE(c.branch_shared);
  CHECK_FALSE(c.mio.const_cold_miss);
  CHECK_FALSE(c.host.warms_l2);
  CHECK_FALSE(c.l1.allocate_on_miss);
  CHECK_FALSE(c.l1.allocate_on_store);
  CHECK_FALSE(c.l1.cache_global);
  CHECK_FALSE(c.sync.poll_elision);
  CHECK(c.l1.replacement == L1Replacement::kLru);
  CHECK(c.dram.refresh == Refresh::kAllBanks);
  CHECK(c.dram.standard == DramStandard::kGddr);
  CHECK_FALSE(c.l2.code_resident);
  CHECK(resolve("v100", {"sm.scheduler=gto"}).sm.scheduler == SchedulerPolicy::kGto);
}

TEST_CASE("ranges hold at both ends") {
  for (const Parameter& p : schema()) {
    if (p.type != Type::kInteger && p.type != Type::kList) continue;
    CAPTURE(p.key);
    CHECK(set(p, std::to_string(p.min)) == "(no error)");
    CHECK(set(p, std::to_string(p.max)) == "(no error)");
    const std::string above = std::to_string(p.max + 1);
    CHECK(set(p, above) == p.key + " = " + above + " is out of range; expected " + expected_text(p));
    if (p.min > 0) {
      const std::string below = std::to_string(p.min - 1);
      CHECK(set(p, below) == p.key + " = " + below + " is out of range; expected " + expected_text(p));
    }
    CHECK(set(p, "-1") != "(no error)");
    CHECK(set(p, "999999999999999999999999") != "(no error)");
  }
}

TEST_CASE("units are exact") {
  const auto core = [](const char* text) {
    return resolve("v100", {std::string("clock.") + text}).clock.core_khz;
  };
  CHECK(core("core_khz=1380 MHz") == 1380000);
  CHECK(core("core_khz=1.38 GHz") == 1380000);
  CHECK(core("core_khz=1380000 kHz") == 1380000);
  CHECK(core("core_khz=1380000kHz") == 1380000);
  CHECK(core("core_khz=877001") == 877001);
  CHECK(core("core_mhz=1312") == 1312000);
  CHECK(core("core_mhz=1312.5") == 1312500);
  CHECK(core("core_mhz=1.312 GHz") == 1312000);
  CHECK(resolve("v100", {"core.clock_mhz=1312"}).clock.core_khz == 1312000);
  CHECK(resolve("v100", {"dram.clock_mhz=1200"}).clock.dram_khz == 1200000);
  CHECK(resolve("v100", {"icnt.clock_mhz=1200"}).clock.icnt_khz == 1200000);
  CHECK(resolve("v100", {"l2.clock_mhz=1200"}).clock.l2_khz == 1200000);
  CHECK(resolve("v100", {"l1.bytes=0.25 MiB"}).l1.bytes == 262144);
  for (const char* same :
       {"256 KiB", "256K", "256k", "256KB", "256kB", "256 kb", "262144", "262144B", "0.25MiB", "0.25 M"}) {
    CAPTURE(same);
    CHECK(resolve("v100", {std::string("l1.bytes=") + same}).l1.bytes == 262144);
  }
  CHECK(resolve("v100", {"dram.capacity_bytes=16 GB"}).dram.capacity_bytes == 17179869184);
  CHECK(resolve("v100", {"core.clock_mhz=1.2 ghz"}).clock.core_khz == 1200000);
  CHECK(resolve("v100", {"host.bytes_per_second=64 GB/s"}).host.bytes_per_second == 64000000000);
  CHECK(resolve("v100", {"l1.bytes=262144 B"}).l1.bytes == 262144);
  CHECK(resolve("v100", {"l1.shared_carveouts_kib=0, 65536 B, 96K"}).l1.shared_carveouts_kib ==
        std::vector<std::uint32_t>{0, 64, 96});
  CHECK(resolve("v100", {"launch.latency_ns=1.24 us"}).launch.latency_ns == 1240);
  CHECK(resolve("v100", {"launch.latency_ns=3000 ps"}).launch.latency_ns == 3);
  CHECK(resolve("v100", {"dram.latency_ps=60.5 ns"}).dram.latency_ns_x1000 == 60500);
  CHECK(resolve("v100", {"launch.dispatch_interval_milli=1.5 cycles"}).launch.dispatch_interval_milli ==
        1500);
  CHECK(resolve("v100", {"launch.dispatch_interval_milli=1500"}).launch.dispatch_interval_milli == 1500);
  CHECK(resolve("v100", {"l2.latency=80 cycles"}).l2.latency == 80);
  CHECK(resolve("v100", {"host.bytes_per_second=16 GB/s"}).host.bytes_per_second == 16'000'000'000);
}
