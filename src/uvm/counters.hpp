// Counters of unified virtual memory, of a whole run.
#pragma once

#include <array>
#include <cstdint>

namespace lockstep::uvm {

/// Counters of the SMs' TLBs. Only std::uint64_t inside.
struct TlbCounters {
  std::uint64_t accesses = 0, hits = 0, misses = 0;  // lines of managed memory
  std::uint64_t merged = 0;                          // misses of a page that was already requested
  std::uint64_t inserts = 0, evictions = 0, shot_down = 0, replays = 0;
  std::uint64_t remote_lines = 0;  // sent to the host
  std::uint64_t peer_lines = 0;    // likewise to another device
};

/// Counters of the GMMU. Only std::uint64_t inside, so that they can be walked as an array.
struct Counters {
  // Page table: every access that missed all TLBs.
  std::uint64_t walks = 0, page_hits = 0, page_misses = 0;
  std::uint64_t faults = 0;   // distinct pages that had to be migrated or mapped
  std::uint64_t pending = 0;  // page misses that joined a fault or a transfer under way
  std::uint64_t l2_tlb_hits = 0, l2_tlb_misses = 0;
  std::uint64_t walk_cache_hits = 0;
  // The driver.
  std::uint64_t buffer_entries = 0, buffer_overflows = 0, buffer_flushed = 0;
  std::uint64_t batches = 0, batch_entries = 0, batch_duplicates = 0, batch_blocks = 0, replays = 0;
  std::uint64_t largest_batch = 0;
  std::uint64_t driver_wake_cycles = 0, driver_batch_cycles = 0, driver_room_cycles = 0,
                driver_copy_cycles = 0;
  // Migration.
  std::uint64_t transfers = 0, bytes_to_device = 0, bytes_to_host = 0;
  std::uint64_t prefetched_pages = 0, prefetched_used = 0;  // arrived without a fault; touched before leaving
  std::uint64_t prefetched_late = 0;  // pages that were missed while they came without a fault
  std::uint64_t write_backs = 0, clean_drops = 0, cancelled_write_backs = 0;
  std::uint64_t evictions = 0, forced_evictions = 0;  // decisions; those against the rules
  std::uint64_t evicted_dirty_pages = 0, evicted_clean_pages = 0;
  std::uint64_t thrashed_pages = 0;  // arrivals of a page that had been evicted
  std::uint64_t read_busy_cycles = 0, write_busy_cycles = 0, fault_handling_cycles = 0;
  std::uint64_t peak_resident_pages = 0, oversubscribed = 0;
  // Pages that stay on the host, and duplicated ones.
  std::uint64_t remote_reads = 0, remote_writes = 0;  // accesses of lines over the link, or in slots
  std::uint64_t remote_bytes_to_device = 0, remote_bytes_to_host = 0;
  std::uint64_t counted_migrations = 0;  // faults of pages that had stayed on the host before
  std::uint64_t duplicated_pages = 0, collapsed_pages = 0;
  std::uint64_t throttled_faults = 0, pinned_pages = 0, policy_changes = 0;
  // The host's commands.
  std::uint64_t user_prefetched_pages = 0, advised_pages = 0, host_faults = 0, synchronise_cycles = 0;
  std::uint64_t fault_latency_cycles = 0;  // from a fault's walk to its reply, summed over faults
  std::array<std::uint64_t, 8>
      transfer_sizes{};  // to the device: 4, 8, ... 256 KiB and more, by next power of two
  // Sums over far faults that have been served (fault_times.hpp).
  std::uint64_t timed_faults = 0;
  std::uint64_t fault_detect_cycles = 0, fault_queue_cycles = 0, fault_service_cycles = 0,
                fault_transfer_cycles = 0, fault_replay_cycles = 0;
  std::array<std::uint64_t, 12> fault_latencies{};             // below 1, 2, 4, ... 1024 us, and more
  std::uint64_t device_accessed_pages = 0;                     // migrated for copies and fills by the device
  std::uint64_t host_remote_pages = 0, host_remote_bytes = 0;  // the host's accesses to pages on the device
};
inline constexpr unsigned kFaultLatencies = 12;
inline constexpr unsigned kTransferSizes = 8;

/// Counters of one managed allocation.
struct AllocationCounters {
  std::uint64_t transfers = 0, write_backs = 0, bytes_to_device = 0, bytes_to_host = 0;
  std::uint64_t faulted_pages = 0;  // of bytes_to_device: pages that faulted
  std::uint64_t evictions = 0;      // runs that were evicted
};

}  // namespace lockstep::uvm
