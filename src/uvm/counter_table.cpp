#include "uvm/counter_table.hpp"

#include <array>

namespace lockstep::uvm {
namespace {

#define AT(field) offsetof(RunCounters, field)
#define SIZE(index) (offsetof(RunCounters, gmmu.transfer_sizes) + 8 * std::size_t{index})

constexpr std::array kRows{
    CounterRow{"l1_tlb_accesses", "lines", "lines of managed memory looked up in the SMs' TLBs",
               AT(tlb.accesses)},
    CounterRow{"l1_tlb_hits", "lines", "of these, found", AT(tlb.hits)},
    CounterRow{"l1_tlb_misses", "lines", "of these, not found", AT(tlb.misses)},
    CounterRow{"l1_tlb_merged", "lines", "misses of a page that the SM had asked for already",
               AT(tlb.merged)},
    CounterRow{"l1_tlb_inserts", "entries", "entries made", AT(tlb.inserts)},
    CounterRow{"l1_tlb_evictions", "entries", "entries that left for another", AT(tlb.evictions)},
    CounterRow{"l1_tlb_shot_down", "entries", "entries removed because a page left the device",
               AT(tlb.shot_down)},
    CounterRow{"replays", "lines", "lines that tried again with their translation", AT(tlb.replays)},
    CounterRow{"l2_tlb_hits", "requests", "requests of SMs found in the GPU's TLB", AT(gmmu.l2_tlb_hits)},
    CounterRow{"l2_tlb_misses", "requests", "of these, not found", AT(gmmu.l2_tlb_misses)},
    CounterRow{"walks", "walks", "page walks", AT(gmmu.walks)},
    CounterRow{"walk_cache_hits", "walks", "of these, with the upper levels in the walk cache",
               AT(gmmu.walk_cache_hits)},
    CounterRow{"page_hits", "requests", "translations that ended on a resident page", AT(gmmu.page_hits)},
    CounterRow{"page_misses", "requests", "translations that ended on an absent page", AT(gmmu.page_misses)},
    CounterRow{"faults", "pages", "absent pages that had to be brought: far faults", AT(gmmu.faults)},
    CounterRow{"pending", "requests", "page misses that joined a fault or transfer under way (per_cycle)",
               AT(gmmu.pending)},
    CounterRow{"fault_latency_cycles", "core cycles", "from a page miss to its answer, summed over misses",
               AT(gmmu.fault_latency_cycles)},
    CounterRow{"buffer_entries", "entries", "faults written to the fault buffer (driver)",
               AT(gmmu.buffer_entries)},
    CounterRow{"buffer_overflows", "entries", "faults that found it full", AT(gmmu.buffer_overflows)},
    CounterRow{"buffer_flushed", "entries", "entries discarded before a replay", AT(gmmu.buffer_flushed)},
    CounterRow{"batches", "batches", "batches fetched by the driver", AT(gmmu.batches)},
    CounterRow{"batch_entries", "entries", "faults in them", AT(gmmu.batch_entries)},
    CounterRow{"batch_duplicates", "entries",
               "of these, pages that were in the batch or on the device already", AT(gmmu.batch_duplicates)},
    CounterRow{"batch_blocks", "blocks", "2 MB blocks touched, summed over batches", AT(gmmu.batch_blocks)},
    CounterRow{"largest_batch", "entries", "largest batch", AT(gmmu.largest_batch)},
    CounterRow{"fault_replays", "replays", "times that all stalled accesses tried again (driver)",
               AT(gmmu.replays)},
    CounterRow{"transfers", "transfers", "transfers to the device", AT(gmmu.transfers)},
    CounterRow{"bytes_to_device", "bytes", "bytes of these", AT(gmmu.bytes_to_device)},
    CounterRow{"transfers_4k", "transfers", "of one page", SIZE(0)},
    CounterRow{"transfers_8k", "transfers", "up to 8 KB", SIZE(1)},
    CounterRow{"transfers_16k", "transfers", "up to 16 KB", SIZE(2)},
    CounterRow{"transfers_32k", "transfers", "up to 32 KB", SIZE(3)},
    CounterRow{"transfers_64k", "transfers", "up to 64 KB", SIZE(4)},
    CounterRow{"transfers_128k", "transfers", "up to 128 KB", SIZE(5)},
    CounterRow{"transfers_256k", "transfers", "up to 256 KB", SIZE(6)},
    CounterRow{"transfers_larger", "transfers", "above 256 KB", SIZE(7)},
    CounterRow{"prefetched_pages", "pages", "pages that came without a fault of theirs",
               AT(gmmu.prefetched_pages)},
    CounterRow{"prefetched_used", "pages", "of these, touched before they left", AT(gmmu.prefetched_used)},
    CounterRow{"evictions", "decisions", "eviction decisions that found a victim", AT(gmmu.evictions)},
    CounterRow{"forced_evictions", "decisions",
               "of these, beyond the policy's rules, because nothing else could make room",
               AT(gmmu.forced_evictions)},
    CounterRow{"evicted_dirty_pages", "pages", "evicted pages that had been written",
               AT(gmmu.evicted_dirty_pages)},
    CounterRow{"evicted_clean_pages", "pages", "evicted pages that had not", AT(gmmu.evicted_clean_pages)},
    CounterRow{"write_backs", "transfers", "transfers to the host", AT(gmmu.write_backs)},
    CounterRow{"bytes_to_host", "bytes", "bytes of these", AT(gmmu.bytes_to_host)},
    CounterRow{"clean_drops", "runs", "runs of victims dropped without a transfer", AT(gmmu.clean_drops)},
    CounterRow{"cancelled_write_backs", "transfers", "write-backs taken back by an access (early_reuse)",
               AT(gmmu.cancelled_write_backs)},
    CounterRow{"thrashed_pages", "pages", "arrivals of pages that had been evicted before",
               AT(gmmu.thrashed_pages)},
    CounterRow{"user_prefetched_pages", "pages", "pages brought by cudaMemPrefetchAsync",
               AT(gmmu.user_prefetched_pages)},
    CounterRow{"advised_pages", "pages", "pages named by cudaMemAdvise, counted each time", AT(gmmu.advised_pages)},
    CounterRow{"host_faults", "accesses", "accesses of the host that found pages on the device",
               AT(gmmu.host_faults)},
    CounterRow{"synchronise_cycles", "core cycles",
               "copies at cudaDeviceSynchronize (uvm.synchronise_copies)", AT(gmmu.synchronise_cycles)},
    CounterRow{"peak_resident_pages", "pages", "most frames in use", AT(gmmu.peak_resident_pages)},
    CounterRow{"oversubscribed", "", "1: memory was over-subscribed at some time", AT(gmmu.oversubscribed)},
    CounterRow{"read_busy_cycles", "core cycles", "link to the device busy with data",
               AT(gmmu.read_busy_cycles)},
    CounterRow{"write_busy_cycles", "core cycles", "link to the host busy with data",
               AT(gmmu.write_busy_cycles)},
    CounterRow{"fault_handling_cycles", "core cycles",
               "link to the device held by fault handling (fault_cost = inline)",
               AT(gmmu.fault_handling_cycles)},
};
#undef AT
#undef SIZE
static_assert(kRows.size() * sizeof(std::uint64_t) == sizeof(RunCounters), "each counter has one row");

}  // namespace

std::span<const CounterRow> counter_rows() { return kRows; }

}  // namespace lockstep::uvm
