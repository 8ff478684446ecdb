// Rules for the L1, shared memory, interconnect and L2.
#include <fmt/format.h>

#include <algorithm>

#include "accelsim/cache_string.hpp"
#include "accelsim/stages.hpp"
#include "accelsim/table.hpp"
#include "util/types.hpp"

namespace lockstep::accelsim {
namespace {

constexpr std::string_view kL1 = "-gpgpu_cache:dl1", kUnified = "-gpgpu_unified_l1d_size",
                           kShared = "-gpgpu_shmem_size", kL1Banks = "-gpgpu_l1_banks",
                           kSkip = "-gpgpu_gmem_skip_L1D";
constexpr std::string_view kNoL1 = "an SM always has an L1; the base's stays";

void l1_size(Context& c) {
  const auto cache = cache_string(c, kL1);
  const std::uint64_t kib = c.number(kUnified);
  if (!cache) {
    c.unused(kL1, std::string(kNoL1));
    if (c.has(kUnified) && kib > 0) c.set("l1.bytes", kib * 1024, {kUnified});
    return c.unused(kUnified, "0: no unified L1; the base's size stays");
  }
  if (cache->line_bytes != kLineBytes) c.fail(kL1, "expected lines of 128 bytes");
  const std::uint64_t bytes = kib > 0 ? kib * 1024 : cache->bytes() + c.number(kShared);
  if (kib > 0) {
    c.set("l1.bytes", bytes, {kUnified});
  } else {
    c.set("l1.bytes", bytes, {kL1, kShared});
    c.unused(kUnified, "0: cache and shared memory are apart; their sum is the L1");
  }
  c.set("l1.replacement", cache->fifo ? "fifo" : "lru", {kL1});
  constexpr std::uint64_t kMaxWays = 512;
  std::uint64_t ways = kib > 0 ? bytes / (cache->sets * kLineBytes) : cache->ways;
  while (ways > kMaxWays) ways /= 2;
  c.set("l1.ways", ways, {kL1, kUnified});
  c.set("l1.mshrs", cache->mshrs, {kL1});
  c.set("l1.allocate_on_miss", cache->on_miss ? "true" : "false", {kL1});
  c.set("l1.allocate_on_store", cache->write_allocate == 'N' ? "false" : "true", {kL1});
}

void l1_banks(Context& c) {
  const std::uint64_t banks = c.number(kL1Banks);
  const auto cache = cache_string(c, kL1);
  if (c.has(kL1Banks)) c.set("l1.tags_per_cycle", banks, {kL1Banks});
  if (cache && cache->port_bytes > 0)
    c.set("l1.data_bytes_per_cycle", banks * cache->port_bytes, {kL1Banks, kL1});
}

void carveouts(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_shmem_option", kAdaptive = "-gpgpu_adaptive_cache_config";
  constexpr std::size_t kMaxSizes = 32;
  const auto sizes = c.numbers(kOption, ',', 1, kMaxSizes, "sizes in KiB: 0,8,16");
  if (c.flag(kAdaptive)) {
    c.unused(kShared, "-gpgpu_shmem_option lists the sizes");
    std::string list;
    for (const std::uint64_t size : sizes) list += (list.empty() ? "" : ", ") + std::to_string(size);
    return c.set("l1.shared_carveouts_kib", list, {kOption, kAdaptive});
  }
  c.unused(kOption, "-gpgpu_adaptive_cache_config 0: -gpgpu_shmem_size is the one size");
  c.unused(kAdaptive, "0: -gpgpu_shmem_size is the one size of shared memory");
  if (!c.has(kShared)) return;
  if (c.number(kShared) % 1024 != 0) c.fail(kShared, "expected whole KiB");
  c.set("l1.shared_carveouts_kib", c.number(kShared) / 1024, {kShared});
}

/// Latencies of the L1 and of shared memory; ours start at 8 cycles.
template <class Name>
void load_latency(Context& c, std::string_view key, Name option) {
  constexpr std::uint64_t kShortest = 8;
  c.set(key, std::max(kShortest, c.number(option) + kStagesAround), {option});
}

void flits(Context& c) {
  constexpr std::string_view kFlit = "-icnt_flit_size", kBooksim = "flit_size";
  const bool booksim = c.number(kNetworkMode) == 1;
  const std::string_view from = booksim ? kBooksim : kFlit, other = booksim ? kFlit : kBooksim;
  c.unused(other, booksim ? "-network_mode 1: the BookSim file says it"
                          : "BookSim is not used but with -network_mode 1");
  if (!c.has(from)) {
    return c.unused(kNetworkMode,
                    booksim ? "a crossbar in any case; give the BookSim file for its flits" : "a crossbar");
  }
  for (const std::string_view key : {"icnt.flit_bytes", "icnt.sm_out_bytes", "icnt.sm_in_bytes",
                                     "icnt.slice_in_bytes", "icnt.slice_out_bytes"}) {
    c.set(key, c.number(from), {from, kNetworkMode});
  }
}

void slice_queue(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_dram_partition_queues";
  const auto queues = c.numbers(kOption, ':', 4, 4, "ICNT_L2:L2_DRAM:DRAM_L2:L2_ICNT");
  c.set("icnt.request_credits", queues[0], {kOption});
}

void l2(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_cache:dl2";
  const auto cache = cache_string(c, kOption);
  if (!cache) return c.unused(kOption, "there is always an L2; the base's stays");
  if (cache->line_bytes != kLineBytes) c.fail(kOption, "expected lines of 128 bytes");
  c.set("l2.slice_bytes", cache->bytes(), {kOption});
  c.set("l2.ways", cache->ways, {kOption});
  c.set("l2.dirty_ways", config::kNoDirtyLimit, {kOption});
  c.set("tlb.miss_latency", 0, {kOption});
  c.set("l2.mshrs", cache->mshrs, {kOption});
  c.set("l2.fetch_bytes", kSectorBytes, {kOption});
  c.set("l2.mshr_merges", cache->merges * (cache->sectored ? kSectorsPerLine : 1), {kOption});
  if (cache->port_bytes > 0) c.set("l2.slice_bytes_per_cycle", cache->port_bytes, {kOption});
}

/// Accel-Sim's crossbar takes a cycle; the way to the L2 and back is in this one number of core cycles.
void l2_latency(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_l2_rop_latency";
  const std::uint64_t cycles = c.number(kOption), quarter = cycles / 4;
  const config::ClockGroup& clock = c.config().clock;
  const auto at_least_1 = [](std::uint64_t value) { return std::max<std::uint64_t>(1, value); };
  const std::uint64_t way = at_least_1(scaled(quarter, clock.icnt_khz, clock.core_khz));
  const std::uint64_t inside = at_least_1(scaled(cycles - 2 * quarter, clock.l2_khz, clock.core_khz));
  c.set("icnt.request_latency", way, {kOption});
  c.set("icnt.reply_latency", way, {kOption});
  c.set("l2.latency", inside, {kOption});
}

std::vector<Rule> l1_rules() {
  return {
      {{{kL1, "none"}, {kUnified, "0"}, {kShared, "16384"}},
       "l1.bytes, l1.ways, l1.replacement, l1.mshrs, l1.allocate_on_miss, l1.allocate_on_store",
       "unified KiB, or else sets * line * ways + shared memory; unified: ways = bytes / (sets * 128), with "
       "more sets beyond 512 ways; replacement F = fifo, else lru; allocation m = on miss; MSHR entries; "
       "write-allocate N = false. "
       "Not used: write policy, hash, merges, queues",
       l1_size},
      {{{kL1Banks, "1"}, {kL1, "none"}},
       "l1.tags_per_cycle, l1.data_bytes_per_cycle",
       "banks; banks * the cache string's port bytes",
       l1_banks},
      {{{"-gpgpu_shmem_option", "0"}, {"-gpgpu_adaptive_cache_config", "0"}, {kShared, "16384"}},
       "l1.shared_carveouts_kib",
       "adaptive: the list in KiB; else the one size of shared memory, bytes / 1024",
       carveouts},
      {{{"-gpgpu_l1_latency", "1"}},
       "l1.hit_latency",
       "+ 2, at least 8",
       [](Context& c) { load_latency(c, "l1.hit_latency", "-gpgpu_l1_latency"); }},
      {{{"-gpgpu_smem_latency", "3"}},
       "l1.shared_latency",
       "+ 2, at least 8",
       [](Context& c) { load_latency(c, "l1.shared_latency", "-gpgpu_smem_latency"); }},
      {{{kSkip, "0"}},
       "l1.cache_global",
       "1 = false",
       [](Context& c) { c.set("l1.cache_global", c.flag(kSkip) ? "false" : "true", {kSkip}); }},
  };
}

}  // namespace

std::vector<Rule> memory_rules() {
  std::vector<Rule> rules = l1_rules();
  for (Rule& rule : std::vector<Rule>{
           {{{kNetworkMode, "1"}, {"-icnt_flit_size", "32"}, {"flit_size", "32"}},
            "icnt.flit_bytes, icnt.sm_out_bytes, icnt.sm_in_bytes, icnt.slice_in_bytes, icnt.slice_out_bytes",
            "each port moves a flit, that is a packet of one sector, a cycle; mode 1 reads BookSim's "
            "flit_size",
            flits},
           {{{"-icnt_in_buffer_limit", "64"}},
            "icnt.sm_queue_entries, icnt.queue_entries",
            "packets",
            [](Context& c) {
              c.copy("icnt.sm_queue_entries", "-icnt_in_buffer_limit");
              c.copy("icnt.queue_entries", "-icnt_in_buffer_limit");
            }},
           {{{"-gpgpu_n_cluster_ejection_buffer_size", "8"}},
            "icnt.reply_credits",
            "packets that a slice may have under way to one SM",
            [](Context& c) { c.copy("icnt.reply_credits", "-gpgpu_n_cluster_ejection_buffer_size"); }},
           {{{"-gpgpu_dram_partition_queues", "8:8:8:8"}},
            "icnt.request_credits",
            "the first of the four: packets that an SM may have under way to one slice",
            slice_queue},
           {{{"-gpgpu_n_mem", "8"}},
            "l2.partitions",
            "memory channels",
            [](Context& c) { c.copy("l2.partitions", "-gpgpu_n_mem"); }},
           {{{"-gpgpu_n_sub_partition_per_mchannel", "1"}},
            "l2.slices_per_partition",
            "as it is",
            [](Context& c) { c.copy("l2.slices_per_partition", "-gpgpu_n_sub_partition_per_mchannel"); }},
           {{{"-gpgpu_cache:dl2", "64:128:8,L:B:m:N,A:16:4,4"}},
            "l2.slice_bytes, l2.ways, l2.dirty_ways, l2.mshrs, l2.mshr_merges, l2.fetch_bytes, "
            "l2.slice_bytes_per_cycle, tlb.miss_latency",
            "sets * line * ways; MSHR entries; merges, of a sectored cache * 4 (there they count a sector, "
            "here a "
            "line); port bytes; any number of a set's lines may be dirty; a miss fetches its sector alone; "
            "addresses need no translation",
            l2},
           {{{"-gpgpu_l2_rop_latency", "85"}},
            "icnt.request_latency, l2.latency, icnt.reply_latency",
            "core cycles of the way to the L2 and back: a quarter each way, the rest in the slice, in cycles "
            "of "
            "their clocks",
            l2_latency},
       }) {
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace lockstep::accelsim
