// The parameters uvm.* of the configuration: plain data. The schema has help, units and ranges.
#pragma once

#include <cstdint>

namespace lockstep::uvm {

enum class FaultMode : std::uint8_t { kPerCycle, kDriver };
/// How a fault's cost is counted in kPerCycle: added to the printed time afterwards, or as time of the host
/// link before the fault's transfer.
enum class FaultCost : std::uint8_t { kAdditive, kInline };
/// When the driver has stalled accesses tried again.
enum class ReplayPolicy : std::uint8_t { kBlock, kBatch, kBatchFlush, kOnce };
/// Which victims are dropped instead of written back.
enum class CleanDrop : std::uint8_t { kNever, kReadOnlyTrees, kClean };
enum class ShootdownScope : std::uint8_t { kEntry, kAll };
/// How a page that stays on the host is accessed: by packets over the host link, or, as in UVMSmart, in a
/// slot of constant length on the link to the device, after which the page is treated as local.
enum class RemotePath : std::uint8_t { kLink, kSlot };
/// What the host's access to a page on the device does: the page migrates back; or the host reads and writes
/// it there, always or if advice says so (accessed by the host, or preferred on the device).
enum class HostAccess : std::uint8_t { kMigrate, kAdvised, kRemote };

struct Parameters {
  FaultMode fault_mode = FaultMode::kDriver;
  // Indices into the registries.
  std::uint8_t link = 2, prefetcher = 5, prefetcher_oversubscribed = 5, evictor = 6;
  std::uint32_t link_gib = 16;
  std::uint32_t prefetch_threshold = 51;
  std::uint32_t reserve_percent = 0, free_buffer_percent = 0;
  CleanDrop clean_drop = CleanDrop::kNever;
  bool whole_units = false;  // only units that are completely resident may leave
  bool early_reuse = false;  // frames are free when a write-back starts

  // Translation; times in core cycles.
  std::uint32_t l1_tlb_entries = 64, l1_tlb_large_entries = 16;  // large: 2 MiB
  std::uint32_t l2_tlb_entries = 1024, l2_tlb_ways = 16, l2_tlb_large_entries = 256, l2_tlb_large_ways = 8;
  std::uint32_t l2_tlb_latency = 10;
  std::uint32_t walkers = 64;  // 0: unlimited
  std::uint32_t walk_levels = 4, walk_step = 100;
  std::uint32_t walk_cache_entries = 64, walk_cache_latency = 10;
  bool large_entries = true;  // one entry for 64 KiB or 2 MiB that are completely resident
  bool merge_misses = true;   // an SM requests a page once; walks of one page are shared
  std::uint32_t request_latency = 40, reply_latency = 40;  // SM to GMMU and back
  ShootdownScope shootdown = ShootdownScope::kEntry;
  std::uint32_t l1_shootdown = 15, l2_shootdown = 200;  // entries of a range
  std::uint32_t l1_flush = 15, l2_flush = 200;          // everything
  bool blocking_misses = false;                         // a miss blocks the SM's TLB until its reply
  std::uint32_t touch_interval = 10000;  // least cycles between an SM's reports of accesses to a page

  // Cost of a fault.
  FaultCost fault_cost = FaultCost::kAdditive;
  std::uint32_t page_fault_ns = 45000;
  // The driver.
  std::uint32_t fault_buffer = 8192, outstanding_faults = 56, batch_faults = 256, batches_per_run = 20;
  ReplayPolicy replay = ReplayPolicy::kBatchFlush;
  std::uint32_t interrupt_ns = 4000, batch_ns = 12800, block_ns = 17000, evict_ns = 47000;
  std::uint32_t kib_ps = 53500;
  std::uint32_t throttled_batches_per_run = 5, put_update_percent = 50;
  // Remote access, thrashing, access patterns.
  std::uint8_t remote = 0;  // index into the registry
  std::uint32_t remote_threshold = 256, remote_penalty = 2;
  RemotePath remote_path = RemotePath::kLink;
  std::uint32_t remote_slot = 200;
  std::uint32_t remote_latency_ns = 1000, remote_header_bytes = 18, remote_outstanding = 256;
  bool thrashing = true;
  std::uint32_t thrashing_lapse_ns = 500000, thrashing_threshold = 3, thrashing_throttles = 10;
  std::uint32_t thrashing_pin_lapses = 300, thrashing_epoch_lapses = 2000, thrashing_resets = 4;
  bool smart_runtime = false;
  // The host.
  std::uint32_t host_fault_ns = 16000;
  std::uint32_t advise_ns = 2000, prefetch_ns = 2000;  // of a call
  HostAccess host_access = HostAccess::kMigrate;
  bool synchronise_copies = false;
  // The rest of the machine.
  bool through_l2 = true;   // migrations go through crossbar, L2 and DRAM
  bool shares_link = true;  // with explicit copies
  bool exits_wait = false;  // a CTA leaves its SM only while no migration is staged or under way
};

}  // namespace lockstep::uvm
