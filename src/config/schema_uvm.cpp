// Rows of the group uvm. They affect only runs with managed memory.
#include "config/schema.hpp"
#include "uvm/evictor.hpp"
#include "uvm/link.hpp"
#include "uvm/prefetcher.hpp"
#include "uvm/remote.hpp"

namespace lockstep::config {
namespace {

using Uvm = uvm::Parameters;

constexpr std::string_view kFaultModes[] = {"per_cycle", "driver"};
constexpr std::string_view kFaultCosts[] = {"additive", "inline"};
constexpr std::string_view kReplays[] = {"block", "batch", "batch_flush", "once"};
constexpr std::string_view kCleanDrops[] = {"never", "read_only_trees", "clean"};
constexpr std::string_view kScopes[] = {"entry", "all"};
constexpr std::string_view kRemotePaths[] = {"link", "slot"};
constexpr std::string_view kHostAccesses[] = {"migrate", "advised", "remote"};
constexpr std::uint64_t kManyCycles = 1000000, kManyNs = 100000000;

template <auto Field>
Binding field() {
  return number<&GpuConfig::uvm, Field>();
}

Rows policy_rows() {
  using M = Measure;
  return {
      choice("uvm.fault_mode", kFaultModes,
             "who serves far faults: UVMSmart's unit, page by page, or the driver, in batches",
             field<&Uvm::fault_mode>()),
      choice("uvm.link", uvm::link_names(), "times on the host link", field<&Uvm::link>()),
      power_of_two("uvm.link_gib", M::kNone, 16, 64, "nominal speed of uvm.link = arctan, GiB/s",
                   field<&Uvm::link_gib>()),
      choice("uvm.prefetcher", uvm::prefetcher_names(), "what comes along with a faulting page",
             field<&Uvm::prefetcher>()),
      choice("uvm.prefetcher_oversubscribed", uvm::prefetcher_names(),
             "the same once memory has been over-subscribed", field<&Uvm::prefetcher_oversubscribed>()),
      integer("uvm.prefetch_threshold", M::kNone, 1, 100,
              "percent of a subtree above which the driver's prefetcher brings all of it",
              field<&Uvm::prefetch_threshold>()),
      choice("uvm.evictor", uvm::evictor_names(), "what leaves when memory is short", field<&Uvm::evictor>()),
      integer("uvm.reserve_percent", M::kNone, 0, 100, "share of the oldest units that may not leave",
              field<&Uvm::reserve_percent>()),
      integer("uvm.free_buffer_percent", M::kNone, 0, 99,
              "per_cycle: evict ahead while less than this share of memory is free",
              field<&Uvm::free_buffer_percent>()),
      choice("uvm.clean_drop", kCleanDrops, "victims that are dropped instead of written back",
             field<&Uvm::clean_drop>()),
      flag("uvm.whole_units", "only units that are resident as a whole leave, while there are such",
           field<&Uvm::whole_units>()),
      flag("uvm.early_reuse", "a frame is free when its write-back starts, and TLBs forget at once",
           field<&Uvm::early_reuse>()),
  };
}

Rows translation_rows() {
  using M = Measure;
  const auto count = [](std::string key, std::uint64_t low, std::uint64_t high, std::string help, Binding b) {
    return integer(std::move(key), M::kNone, low, high, std::move(help), b);
  };
  const auto cycles = [](std::string key, std::uint64_t low, std::string help, Binding b) {
    return integer(std::move(key), M::kCoreCycles, low, kManyCycles, std::move(help), b);
  };
  return {
      count("uvm.l1_tlb_entries", 1, 65536, "TLB of an SM, fully associative: entries of 4 KiB and 64 KiB",
            field<&Uvm::l1_tlb_entries>()),
      count("uvm.l1_tlb_large_entries", 0, 65536, "entries of 2 MiB beside them",
            field<&Uvm::l1_tlb_large_entries>()),
      count("uvm.l2_tlb_entries", 0, 1048576, "TLB of the GPU; 0 = none", field<&Uvm::l2_tlb_entries>()),
      count("uvm.l2_tlb_ways", 1, 65536, "its ways", field<&Uvm::l2_tlb_ways>()),
      count("uvm.l2_tlb_large_entries", 0, 1048576, "entries of 2 MiB beside them",
            field<&Uvm::l2_tlb_large_entries>()),
      count("uvm.l2_tlb_large_ways", 1, 65536, "their ways", field<&Uvm::l2_tlb_large_ways>()),
      cycles("uvm.l2_tlb_latency", 0, "look-up in the GPU's TLB", field<&Uvm::l2_tlb_latency>()),
      count("uvm.walkers", 0, 65536, "page walks at once; 0 = any number", field<&Uvm::walkers>()),
      count("uvm.walk_levels", 1, 8, "levels of the page table", field<&Uvm::walk_levels>()),
      cycles("uvm.walk_step", 0, "a walk's access to one level", field<&Uvm::walk_step>()),
      count("uvm.walk_cache_entries", 0, 65536, "page-walk cache, entries of 2 MiB; 0 = none",
            field<&Uvm::walk_cache_entries>()),
      cycles("uvm.walk_cache_latency", 0, "look-up in the page-walk cache",
             field<&Uvm::walk_cache_latency>()),
      flag("uvm.large_entries", "one TLB entry for 64 KiB or 2 MiB that are resident as a whole",
           field<&Uvm::large_entries>()),
      flag("uvm.merge_misses", "an SM asks once for a page, and walks of one page are shared",
           field<&Uvm::merge_misses>()),
      cycles("uvm.request_latency", 1, "SM to GMMU", field<&Uvm::request_latency>()),
      cycles("uvm.reply_latency", 1, "GMMU to SM", field<&Uvm::reply_latency>()),
      choice("uvm.shootdown", kScopes, "what TLBs forget of an evicted page: its entries or everything",
             field<&Uvm::shootdown>()),
      cycles("uvm.l1_shootdown", 0, "an SM's TLB forgets and replies", field<&Uvm::l1_shootdown>()),
      cycles("uvm.l2_shootdown", 0, "the GPU's TLB forgets", field<&Uvm::l2_shootdown>()),
      cycles("uvm.l1_flush", 0, "an SM's TLB forgets everything and replies", field<&Uvm::l1_flush>()),
      cycles("uvm.l2_flush", 0, "the GPU's TLB forgets everything", field<&Uvm::l2_flush>()),
      flag("uvm.blocking_misses", "a miss blocks the SM's TLB until its reply, its far fault included",
           field<&Uvm::blocking_misses>()),
      cycles("uvm.touch_interval", 0, "an SM reports its accesses to a page at most so often",
             field<&Uvm::touch_interval>()),
  };
}

Rows remote_rows() {
  using M = Measure;
  const auto count = [](std::string key, std::uint64_t low, std::uint64_t high, std::string help, Binding b) {
    return integer(std::move(key), M::kNone, low, high, std::move(help), b);
  };
  return {
      choice("uvm.remote", uvm::remote_policy_names(),
             "when the device accesses a page on the host instead of bringing it", field<&Uvm::remote>()),
      count("uvm.remote_threshold", 1, 65535, "accesses to 64 KiB with which it migrates",
            field<&Uvm::remote_threshold>()),
      count("uvm.remote_penalty", 1, 65535,
            "adaptive: factor of the threshold once memory is over-subscribed",
            field<&Uvm::remote_penalty>()),
      choice("uvm.remote_path", kRemotePaths,
             "remote accesses: packets on the host link, or UVMSmart's slot of constant length, after which "
             "the page is treated as local",
             field<&Uvm::remote_path>()),
      integer("uvm.remote_slot", M::kCoreCycles, 1, kManyCycles, "length of such a slot",
              field<&Uvm::remote_slot>()),
      integer("uvm.remote_latency_ns", M::kNanoseconds, 0, kManyNs,
              "from a remote request's packet to its reply's", field<&Uvm::remote_latency_ns>()),
      count("uvm.remote_header_bytes", 0, 4096, "header of a packet", field<&Uvm::remote_header_bytes>()),
      count("uvm.remote_outstanding", 1, 1048576, "remote requests that wait for a reply, at most",
            field<&Uvm::remote_outstanding>()),
      flag("uvm.smart_runtime", "detects access patterns, and changes evictor and remote policy by them",
           field<&Uvm::smart_runtime>()),
      flag("uvm.thrashing", "driver: detects pages that migrate back and forth, throttles and pins them",
           field<&Uvm::thrashing>()),
      integer("uvm.thrashing_lapse_ns", M::kNanoseconds, 1, kManyNs,
              "migrations of a page that follow one another within it count, and the nap of a throttled one",
              field<&Uvm::thrashing_lapse_ns>()),
      count("uvm.thrashing_threshold", 1, 255, "this many of them in a row: the page thrashes",
            field<&Uvm::thrashing_threshold>()),
      count("uvm.thrashing_throttles", 0, 65535, "throttled faults after which a page is pinned",
            field<&Uvm::thrashing_throttles>()),
      count("uvm.thrashing_pin_lapses", 0, 1000000, "lapses that it stays pinned; 0 = for ever",
            field<&Uvm::thrashing_pin_lapses>()),
      count("uvm.thrashing_epoch_lapses", 1, 1000000, "quiet lapses after which 2 MiB are forgotten",
            field<&Uvm::thrashing_epoch_lapses>()),
      count("uvm.thrashing_resets", 0, 65535, "how often, at most", field<&Uvm::thrashing_resets>()),
  };
}

Rows cost_rows() {
  using M = Measure;
  const auto ns = [](std::string key, std::string help, Binding b) {
    return integer(std::move(key), M::kNanoseconds, 0, kManyNs, std::move(help), b);
  };
  return {
      choice(
          "uvm.fault_cost", kFaultCosts,
          "per_cycle: handling is added to the printed time, or holds the link before the fault's transfer",
          field<&Uvm::fault_cost>()),
      ns("uvm.page_fault_ns", "per_cycle: handling of one fault", field<&Uvm::page_fault_ns>()),
      integer("uvm.fault_buffer", M::kNone, 1, 1048576, "driver: entries of the fault buffer",
              field<&Uvm::fault_buffer>()),
      integer("uvm.outstanding_faults", M::kNone, 1, 65536, "driver: faults of one SM between two replays",
              field<&Uvm::outstanding_faults>()),
      integer("uvm.batch_faults", M::kNone, 1, 65535, "driver: most faults of a batch",
              field<&Uvm::batch_faults>()),
      integer("uvm.batches_per_run", M::kNone, 1, 65536, "driver: batches before it must be woken again",
              field<&Uvm::batches_per_run>()),
      integer("uvm.throttled_batches_per_run", M::kNone, 1, 65536,
              "driver: the same once a fault has been throttled", field<&Uvm::throttled_batches_per_run>()),
      integer("uvm.put_update_percent", M::kNone, 0, 100,
              "driver: with more duplicates in a batch its flush takes in what has come meanwhile",
              field<&Uvm::put_update_percent>()),
      choice("uvm.replay", kReplays, "driver: when stalled accesses try again", field<&Uvm::replay>()),
      ns("uvm.interrupt_ns", "driver: from the first fault to the fetch of a batch",
         field<&Uvm::interrupt_ns>()),
      ns("uvm.batch_ns", "driver: fixed part of a batch", field<&Uvm::batch_ns>()),
      ns("uvm.block_ns", "driver: for each 2 MiB block of a batch", field<&Uvm::block_ns>()),
      ns("uvm.evict_ns", "driver: for each eviction, beside the link", field<&Uvm::evict_ns>()),
      ns("uvm.host_fault_ns", "an access of the host that finds pages on the device, beside the link",
         field<&Uvm::host_fault_ns>()),
      ns("uvm.advise_ns", "an advice (cudaMemAdvise): the host waits", field<&Uvm::advise_ns>()),
      ns("uvm.prefetch_ns", "a prefetch (cudaMemPrefetchAsync) in its stream, beside the link",
         field<&Uvm::prefetch_ns>()),
      choice("uvm.host_access", kHostAccesses,
             "the host's access to a page on the device: it comes back, or stays where advice says so, or "
             "always",
             field<&Uvm::host_access>()),
      flag("uvm.synchronise_copies", "cudaDeviceSynchronize copies dirty pages to the host",
           field<&Uvm::synchronise_copies>()),
      flag("uvm.through_l2",
           "migrations go through crossbar, L2 and DRAM, and evicted pages leave the L2; else they are there "
           "at once",
           field<&Uvm::through_l2>()),
      flag("uvm.shares_link", "migrations and explicit copies take turns on the host link",
           field<&Uvm::shares_link>()),
      flag("uvm.exits_wait", "a CTA leaves its SM only while no migration is staged or under way",
           field<&Uvm::exits_wait>()),
      integer("uvm.kib_ps", M::kPicoseconds, 0, 1000000000, "driver: for each KiB brought, beside the link",
              field<&Uvm::kib_ps>()),
  };
}

}  // namespace

Rows uvm_rows() {
  Rows all = policy_rows();
  for (Rows& part : std::vector<Rows>{translation_rows(), remote_rows(), cost_rows()})
    for (Parameter& row : part) all.push_back(std::move(row));
  return all;
}

}  // namespace lockstep::config
