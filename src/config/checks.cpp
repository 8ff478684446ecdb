#include "config/checks.hpp"

#include <algorithm>

namespace lockstep::config {
namespace {

__extension__ using Wide = unsigned __int128;

struct Rule {
  std::vector<std::string_view> keys;
  std::string_view message;
  bool (*holds)(const GpuConfig&);
};
using Rules = std::vector<Rule>;

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  Wide p = 1;
  for (const std::uint64_t f : factors) p = std::min<Wide>(p * f, ~std::uint64_t{0});
  return static_cast<std::uint64_t>(p);
}

bool divides(std::uint64_t whole, std::uint64_t part) {
  return part != 0 && whole >= part && whole % part == 0;
}

bool near_core(std::uint64_t khz, const GpuConfig& c) {
  constexpr std::uint64_t kMaxRatio = 32;
  return khz <= c.clock.core_khz * kMaxRatio && c.clock.core_khz <= khz * kMaxRatio;
}

Cycle core_cycles_of_icnt(std::uint32_t cycles, const GpuConfig& c) {
  return static_cast<Cycle>(Wide{cycles} * c.clock.core_khz / c.clock.icnt_khz);
}

bool carveouts_fit(const GpuConfig& c) {
  const std::uint64_t largest = std::uint64_t{c.l1.shared_carveouts_kib.back()} * 1024;
  return largest + 128 <= c.l1.bytes;
}

Rules machine_rules() {
  return {
      {{"cluster.latency", "l1.shared_latency"},
       "a load from another SM's shared memory must take at least 2 cycles more than one from the SM's own",
       [](const GpuConfig& c) {
         return c.cluster.latency == 0 || c.cluster.latency >= c.l1.shared_latency + 2;
       }},
      {{"cluster.barrier_latency", "cluster.latency", "l1.shared_latency"},
       "a cluster's barrier must take at least as long as the way to another SM, "
       "(latency - l1.shared_latency) / 2",
       [](const GpuConfig& c) { return c.cluster.barrier_latency >= c.cluster_hop(); }},
      {{"gpu.sms", "gpu.sms_per_tpc"},
       "the SMs must fill whole TPCs",
       [](const GpuConfig& c) { return divides(c.gpu.sms, c.gpu.sms_per_tpc); }},
      {{"gpu.gpcs", "gpu.sms", "gpu.sms_per_tpc"},
       "a GPC must have at least one TPC",
       [](const GpuConfig& c) { return c.gpu.gpcs <= c.gpu.sms / c.gpu.sms_per_tpc; }},
      {{"gpu.last_gpc_sms", "gpu.sms", "gpu.gpcs", "gpu.sms_per_tpc"},
       "the last GPC must have whole TPCs, and no more SMs than the others",
       [](const GpuConfig& c) {
         return c.gpu.last_gpc_sms % std::max(c.gpu.sms_per_tpc, 1u) == 0 &&
                std::uint64_t{c.gpu.last_gpc_sms} * c.gpu.gpcs <= c.gpu.sms;
       }},
      {{"clock.core_khz", "clock.icnt_khz", "clock.l2_khz", "clock.dram_khz"},
       "no clock may be more than 32 times faster or slower than the core's",
       [](const GpuConfig& c) {
         return near_core(c.clock.icnt_khz, c) && near_core(c.clock.l2_khz, c) &&
                near_core(c.clock.dram_khz, c);
       }},
      {{"sm.max_warps", "sm.subcores"},
       "the warps must divide evenly among the sub-cores",
       [](const GpuConfig& c) { return divides(c.sm.max_warps, c.sm.subcores); }},
      {{"sm.max_warps", "sm.subcores"},
       "a sub-core has at most 16 warps",
       [](const GpuConfig& c) { return c.sm.max_warps / c.sm.subcores <= 16; }},
      {{"sm.max_threads", "sm.max_warps"},
       "the threads must be whole warps, and no more than max_warps * 32",
       [](const GpuConfig& c) {
         return c.sm.max_threads % 32 == 0 && c.sm.max_threads <= c.sm.max_warps * 32;
       }},
      {{"sm.max_ctas", "sm.max_warps"},
       "every resident CTA needs a warp",
       [](const GpuConfig& c) { return c.sm.max_ctas <= c.sm.max_warps; }},
      {{"sm.registers", "sm.register_unit"},
       "the registers must be whole units",
       [](const GpuConfig& c) { return divides(c.sm.registers, c.sm.register_unit); }},
      {{"frontend.l0_bytes", "frontend.l0_ways", "frontend.line_bytes"},
       "the L0 instruction cache must have whole sets",
       [](const GpuConfig& c) {
         return divides(c.frontend.l0_bytes, product({c.frontend.l0_ways, c.frontend.line_bytes}));
       }},
      {{"frontend.l1i_bytes", "frontend.l1i_ways", "frontend.line_bytes"},
       "the L1 instruction cache must have whole sets",
       [](const GpuConfig& c) {
         return divides(c.frontend.l1i_bytes, product({c.frontend.l1i_ways, c.frontend.line_bytes}));
       }},
      {{"mio.const_l1_bytes", "mio.const_l15_bytes"},
       "the L1 constant cache must have whole lines of 64 bytes, the L1.5 of 256",
       [](const GpuConfig& c) { return c.mio.const_l1_bytes % 64 == 0 && c.mio.const_l15_bytes % 256 == 0; }},
      {{"mio.const_l15_latency", "mio.const_latency"},
       "the L1.5 constant cache must not be faster than the L1",
       [](const GpuConfig& c) { return c.mio.const_l15_latency >= c.mio.const_latency; }},
  };
}

Rules cache_rules() {
  constexpr std::uint64_t kGibibyte = 1u << 30;
  return {
      {{"l1.bytes", "l1.ways"},
       "the L1 must have whole lines of 128 bytes, at least a set of them",
       [](const GpuConfig& c) {
         return c.l1.bytes % 128 == 0 && product({c.l1.ways, 128}) <= c.l1.bytes;
       }},
      {{"l1.shared_carveouts_kib", "l1.bytes"},
       "the largest carve-out must leave a line of the L1 for the cache",
       carveouts_fit},
      {{"l1.shared_carveouts_kib", "sm.shared_reserved"},
       "the largest carve-out must hold the reserved bytes of a CTA",
       [](const GpuConfig& c) {
         return std::uint64_t{c.l1.shared_carveouts_kib.back()} * 1024 >= c.sm.shared_reserved;
       }},
      {{"l2.slice_bytes", "l2.ways"},
       "an L2 slice must have whole sets of 128-byte lines",
       [](const GpuConfig& c) {
         return divides(c.l2.slice_bytes, product({c.l2.ways, 128}));
       }},
      {{"l2.dirty_ways", "l2.ways"},
       "a set's dirty lines must be at most its ways, or 128 for no limit",
       [](const GpuConfig& c) { return c.l2.dirty_ways <= c.l2.ways || c.l2.dirty_ways == kNoDirtyLimit; }},
      {{"l2.partitions", "l2.halves"},
       "both halves must have as many partitions",
       [](const GpuConfig& c) { return divides(c.l2.partitions, c.l2.halves); }},
      {{"gpu.gpcs", "l2.halves"},
       "each half must serve at least one GPC",
       [](const GpuConfig& c) { return c.gpu.gpcs >= c.l2.halves; }},
      {{"l2.partitions", "l2.slices_per_partition"},
       "at most 512 slices are supported",
       [](const GpuConfig& c) {
         return product({c.l2.partitions, c.l2.slices_per_partition}) <= 512;
       }},
      {{"l2.partitions", "l2.slices_per_partition", "l2.slice_bytes"},
       "at most 1 GiB of L2 is supported",
       [](const GpuConfig& c) {
         return product({c.l2.partitions, c.l2.slices_per_partition, c.l2.slice_bytes}) <= kGibibyte;
       }},
      {{"gpu.sms", "l1.bytes"},
       "at most 1 GiB of L1 is supported",
       [](const GpuConfig& c) {
         return product({c.gpu.sms, c.l1.bytes}) <= kGibibyte;
       }},
      {{"gpu.sms", "l1.mshrs", "l1.pending_instructions"},
       "at most 2097152 L1 MSHRs and pending instructions are supported",
       [](const GpuConfig& c) {
         return product({c.gpu.sms, c.l1.mshrs + c.l1.pending_instructions}) <= 1u << 21;
       }},
      {{"l2.partitions", "l2.slices_per_partition", "l2.mshrs"},
       "at most 1048576 L2 MSHRs are supported",
       [](const GpuConfig& c) {
         return product({c.l2.partitions, c.l2.slices_per_partition, c.l2.mshrs}) <= 1u << 20;
       }},
  };
}

Rules network_rules() {
  return {
      {{"icnt.flit_bytes", "icnt.sm_out_bytes", "icnt.sm_in_bytes", "icnt.slice_in_bytes",
        "icnt.slice_out_bytes"},
       "every port must move whole flits",
       [](const GpuConfig& c) {
         const auto& n = c.icnt;
         return divides(n.sm_out_bytes, n.flit_bytes) && divides(n.sm_in_bytes, n.flit_bytes) &&
                divides(n.slice_in_bytes, n.flit_bytes) && divides(n.slice_out_bytes, n.flit_bytes);
       }},
      {{"gpu.sms", "l2.partitions", "l2.slices_per_partition", "icnt.request_credits", "icnt.reply_credits"},
       "at most 16777216 messages under way are supported",
       [](const GpuConfig& c) {
         return product({c.gpu.sms, c.l2.partitions, c.l2.slices_per_partition,
                         c.icnt.request_credits + c.icnt.reply_credits}) <= 1u << 24;
       }},
      {{"icnt.request_latency", "icnt.reply_latency", "icnt.far_latency", "clock.icnt_khz", "clock.core_khz"},
       "each latency must be at least one core cycle",
       [](const GpuConfig& c) { return shortest_channel(c) >= 1; }},
  };
}

Rules dram_rules() {
  return {
      {{"dram.tRAS", "dram.tRCD"},
       "a row must stay open until it can be accessed: tRAS >= tRCD",
       [](const GpuConfig& c) { return c.dram.tRAS >= c.dram.tRCD; }},
      {{"dram.tCCD_L", "dram.tCCD_S"},
       "tCCD_L >= tCCD_S is expected",
       [](const GpuConfig& c) { return c.dram.tCCD_L >= c.dram.tCCD_S; }},
      {{"dram.tRRD_L", "dram.tRRD_S"},
       "tRRD_L >= tRRD_S is expected",
       [](const GpuConfig& c) { return c.dram.tRRD_L >= c.dram.tRRD_S; }},
      {{"dram.tWTR_L", "dram.tWTR_S"},
       "tWTR_L >= tWTR_S is expected",
       [](const GpuConfig& c) { return c.dram.tWTR_L >= c.dram.tWTR_S; }},
      {{"dram.tFAW", "dram.tRRD_S"},
       "tFAW >= tRRD_S is expected",
       [](const GpuConfig& c) { return c.dram.tFAW >= c.dram.tRRD_S; }},
      {{"dram.tREFI", "dram.tRFC"},
       "a refresh must end well before the next: tRFC <= tREFI / 2",
       [](const GpuConfig& c) { return c.dram.tRFC <= c.dram.tREFI / 2; }},
      {{"dram.row_bytes", "dram.burst_bytes"},
       "a row must hold whole bursts",
       [](const GpuConfig& c) { return divides(c.dram.row_bytes, c.dram.burst_bytes); }},
      {{"dram.write_low", "dram.write_high", "dram.write_queue"},
       "write_low < write_high <= write_queue is expected",
       [](const GpuConfig& c) {
         return c.dram.write_low < c.dram.write_high && c.dram.write_high <= c.dram.write_queue;
       }},
      {{"l2.partitions", "dram.channels_per_partition", "dram.read_queue", "dram.write_queue"},
       "at most 1048576 queue entries are supported",
       [](const GpuConfig& c) {
         return product({c.l2.partitions, c.dram.channels_per_partition,
                         c.dram.read_queue + c.dram.write_queue}) <= 1u << 20;
       }},
      {{"l2.partitions", "dram.channels_per_partition", "dram.bank_groups", "dram.banks_per_group"},
       "at most 131072 banks are supported",
       [](const GpuConfig& c) {
         return product({c.l2.partitions, c.dram.channels_per_partition, c.dram.bank_groups,
                         c.dram.banks_per_group}) <= 1u << 17;
       }},
  };
}

/// Without these checks, a kernel could wait forever for resources that the machine does not have.
Rules progress_rules() {
  return {
      {{"l2.ways", "l2.halves"},
       "with two halves a set needs at least two ways: half of them may hold lines of the other half",
       [](const GpuConfig& c) { return c.l2.halves == 1 || c.l2.ways >= 2; }},
      {{"l2.mshrs", "l2.halves"},
       "with two halves a slice needs at least two MSHRs: half of them may wait for the other half",
       [](const GpuConfig& c) { return c.l2.halves == 1 || c.l2.mshrs >= 2; }},
      {{"dram.tREFI", "dram.tRFC", "dram.tRAS", "dram.tRP", "dram.tRCD", "dram.tFAW", "dram.tRRD_L"},
       "a bank must have time between two refreshes to close its row, be refreshed, and open a row for an "
       "access: "
       "tRAS + tRP + tRFC + max(tFAW, tRRD_L) + tRCD <= tREFI",
       [](const GpuConfig& c) {
         const DramGroup& d = c.dram;
         return std::uint64_t{d.tRAS} + d.tRP + d.tRFC + std::max(d.tFAW, d.tRRD_L) + d.tRCD <= d.tREFI;
       }},
  };
}

}  // namespace

Cycle shortest_channel(const GpuConfig& c) {
  Cycle shortest = std::min(c.cta_latency(), c.done_latency());
  shortest = std::min(shortest, core_cycles_of_icnt(c.icnt.request_latency, c));
  shortest = std::min(shortest, core_cycles_of_icnt(c.icnt.reply_latency, c));
  if (c.l2.halves > 1) shortest = std::min(shortest, core_cycles_of_icnt(c.icnt.far_latency, c));
  shortest = std::min(shortest, c.core_cycles_of_ps(c.host.command_latency_ps));
  return std::min(shortest, c.core_cycles_of_ps(c.host.data_latency_ps));
}

std::optional<Inconsistency> first_inconsistency(const GpuConfig& config) {
  for (const Rules& rules :
       {machine_rules(), cache_rules(), network_rules(), dram_rules(), progress_rules()}) {
    for (const Rule& rule : rules) {
      if (!rule.holds(config)) return Inconsistency{rule.keys, std::string(rule.message)};
    }
  }
  return std::nullopt;
}

}  // namespace lockstep::config
