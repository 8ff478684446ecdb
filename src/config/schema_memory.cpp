// Rows of the groups l1, tlb, sync, cluster, icnt and l2.
#include "config/schema.hpp"

namespace lockstep::config {
namespace {

constexpr std::string_view kL1Replacements[] = {"lru", "fifo"};
constexpr std::string_view kL2Replacements[] = {"lru", "nru", "hashed_random"};

template <auto Field>
Binding l1() {
  return number<&GpuConfig::l1, Field>();
}
template <auto Field>
Binding tlb() {
  return number<&GpuConfig::tlb, Field>();
}
template <auto Field>
Binding sync() {
  return number<&GpuConfig::sync, Field>();
}
template <auto Field>
Binding icnt() {
  return number<&GpuConfig::icnt, Field>();
}
template <auto Field>
Binding l2() {
  return number<&GpuConfig::l2, Field>();
}

Rows l1_rows() {
  using M = Measure;
  using G = L1Group;
  return {
      integer("l1.bytes", M::kBytes, 4096, 4194304, "unified L1 data cache and shared memory of an SM",
              l1<&G::bytes>()),
      ascending("l1.shared_carveouts_kib", M::kKibibytes, 0, 4096,
                "shared-memory sizes that a kernel can be given, ascending; the rest is cache",
                list<&GpuConfig::l1, &G::shared_carveouts_kib>()),
      integer("l1.ways", M::kNone, 1, 512,
              "lines of a set, at most; as many sets of 128-byte lines as the carve-out leaves need",
              l1<&G::ways>()),
      choice("l1.replacement", kL1Replacements,
             "line of a set that goes: least recently used, or first in (a hit does not renew it)",
             l1<&G::replacement>()),
      integer("l1.hit_latency", M::kCoreCycles, 8, 1024,
              "load that hits, issue to dependent issue, of up to 128 bytes; 2 more for each further 128",
              l1<&G::hit_latency>()),
      integer("l1.shared_latency", M::kCoreCycles, 8, 1024, "conflict-free LDS, issue to dependent issue",
              l1<&G::shared_latency>()),
      integer("l1.tags_per_cycle", M::kNone, 1, 32, "distinct lines looked up a core cycle",
              l1<&G::tags_per_cycle>()),
      power_of_two("l1.data_bytes_per_cycle", M::kBytes, 32, 1024, "data bandwidth a core cycle",
                   l1<&G::data_bytes_per_cycle>()),
      integer("l1.mshrs", M::kNone, 1, 4096, "lines in flight", l1<&G::mshrs>()),
      integer("l1.pending_instructions", M::kNone, 1, 4096,
              "memory instructions in flight (pending request table)", l1<&G::pending_instructions>()),
      flag("l1.allocate_on_miss", "a load that misses takes a line at once; false: when its data arrive",
           l1<&G::allocate_on_miss>()),
      flag("l1.allocate_on_store", "a store that misses takes a line (written through in any case)",
           l1<&G::allocate_on_store>()),
      flag("l1.cache_global",
           "loads of global memory access the L1; false: they go to the L2, local memory is cached",
           l1<&G::cache_global>()),
  };
}

Rows tlb_rows() {
  using M = Measure;
  using G = TlbGroup;
  return {
      integer("tlb.miss_latency", M::kCoreCycles, 0, 65536,
              "what an SM's first access to 2 MiB of device memory takes longer than those that follow; 0 = "
              "nothing",
              tlb<&G::miss_latency>()),
      integer("tlb.pages", M::kNone, 1, 1048576,
              "such blocks of 2 MiB that an SM knows at a time, the first that came goes; "
              "launch.cache_control = all: each kernel begins with none",
              tlb<&G::pages>()),
  };
}

template <auto Field>
Binding cluster() {
  return number<&GpuConfig::cluster, Field>();
}

Rows cluster_rows() {
  using M = Measure;
  using G = ClusterGroup;
  return {
      integer(
          "cluster.latency", M::kCoreCycles, 0, 4096,
          "of a load from the shared memory of another CTA of the cluster, as l1.shared_latency; 0: the GPU "
          "has no clusters",
          cluster<&G::latency>()),
      integer("cluster.port_bytes", M::kBytes, 1, 1024,
              "bytes that an SM sends to other SMs, and that it receives from them, in a core cycle",
              cluster<&G::port_bytes>()),
      integer("cluster.barrier_latency", M::kCoreCycles, 1, 4096,
              "from the last arrival at a cluster's barrier to the release", cluster<&G::barrier_latency>()),
  };
}

template <auto Field>
Binding tma() {
  return number<&GpuConfig::tma, Field>();
}

Rows tma_rows() {
  using M = Measure;
  using G = TmaGroup;
  return {
      integer("tma.line_interval", M::kCoreCycles, 1, 64,
              "between two lines of 128 bytes that an SM's unit for bulk copies asks for",
              tma<&G::line_interval>()),
      integer("tma.queue", M::kNone, 1, 1024,
              "bulk copies that the unit takes before it has asked for all lines of the first one",
              tma<&G::queue>()),
  };
}

Rows sync_rows() {
  using M = Measure;
  using G = SyncGroup;
  return {
      integer("sync.barrier_latency", M::kCoreCycles, 1, 4096,
              "from the last arrival at a CTA barrier to the release", sync<&G::barrier_latency>()),
      integer("sync.barrier_interval", M::kCoreCycles, 1, 1024,
              "between the arrivals of two warps of an SM at barriers", sync<&G::barrier_interval>()),
      integer("sync.membar_cta", M::kCoreCycles, 1, 100000,
              "least time of MEMBAR.CTA beside waiting for acknowledgements", sync<&G::membar_cta>()),
      integer("sync.membar_gpu", M::kCoreCycles, 1, 100000,
              "least time of MEMBAR.GPU beside waiting for acknowledgements", sync<&G::membar_gpu>()),
      integer("sync.membar_system", M::kCoreCycles, 1, 100000,
              "least time of MEMBAR.SYS beside waiting for acknowledgements", sync<&G::membar_system>()),
      flag("sync.poll_elision",
           "polls of a word that others signal, which follow each other at a steady rate and change nothing, "
           "are "
           "counted; false: each is simulated",
           sync<&G::poll_elision>()),
  };
}

Rows icnt_rows() {
  using M = Measure;
  using G = IcntGroup;
  return {
      integer("icnt.request_latency", M::kIcntCycles, 1, 4096, "SM to L2 slice, last flit out to arrival",
              icnt<&G::request_latency>()),
      integer("icnt.reply_latency", M::kIcntCycles, 1, 4096, "L2 slice to SM, last flit out to arrival",
              icnt<&G::reply_latency>()),
      integer("icnt.flit_bytes", M::kBytes, 8, 256, "port widths are multiples of it; no timing of its own",
              icnt<&G::flit_bytes>()),
      integer("icnt.sm_out_bytes", M::kBytes, 8, 1024, "an SM's injection port, an icnt cycle",
              icnt<&G::sm_out_bytes>()),
      integer("icnt.sm_in_bytes", M::kBytes, 8, 1024, "an SM's ejection port, an icnt cycle",
              icnt<&G::sm_in_bytes>()),
      integer("icnt.slice_in_bytes", M::kBytes, 8, 1024, "an L2 slice's ejection port, an icnt cycle",
              icnt<&G::slice_in_bytes>()),
      integer("icnt.slice_out_bytes", M::kBytes, 8, 1024, "an L2 slice's injection port, an icnt cycle",
              icnt<&G::slice_out_bytes>()),
      integer("icnt.request_credits", M::kNone, 1, 1024, "messages an SM may have under way to one slice",
              icnt<&G::request_credits>()),
      integer("icnt.reply_credits", M::kNone, 1, 1024, "messages a slice may have under way to one SM",
              icnt<&G::reply_credits>()),
      integer("icnt.sm_queue_entries", M::kNone, 1, 4096, "requests of an SM waiting for the crossbar",
              icnt<&G::sm_queue_entries>()),
      integer("icnt.queue_entries", M::kNone, 1, 1024,
              "messages waiting in front of any other injection port", icnt<&G::queue_entries>()),
      integer("icnt.far_latency", M::kIcntCycles, 1, 4096,
              "between the two L2 halves, one way (l2.halves = 2)", icnt<&G::far_latency>()),
      integer("icnt.far_credits", M::kNone, 1, 1024,
              "messages a slice may have under way to the other half (l2.halves = 2)",
              icnt<&G::far_credits>()),
  };
}

Rows l2_rows() {
  using M = Measure;
  using G = L2Group;
  return {
      integer("l2.partitions", M::kNone, 1, 256, "memory partitions, each with its slices and DRAM channels",
              l2<&G::partitions>()),
      integer("l2.slices_per_partition", M::kNone, 1, 8, "L2 slices of a partition",
              l2<&G::slices_per_partition>()),
      integer("l2.slice_bytes", M::kBytes, 4096, 16777216, "capacity of a slice", l2<&G::slice_bytes>()),
      integer("l2.ways", M::kNone, 1, 128, "ways of a slice", l2<&G::ways>()),
      integer("l2.dirty_ways", M::kNone, 1, kNoDirtyLimit,
              "dirty lines of a set; for one more it writes back the one that l2.replacement would replace "
              "(128: no limit)",
              l2<&G::dirty_ways>()),
      choice(
          "l2.replacement", kL2Replacements,
          "line of a set that goes: least recently used, not recently used (one reference bit per line), or "
          "random by a hash",
          l2<&G::replacement>()),
      integer("l2.latency", M::kL2Cycles, 1, 4096, "from a request's ejection to its hit's reply",
              l2<&G::latency>()),
      integer("l2.slice_bytes_per_cycle", M::kBytes, 8, 1024, "data bandwidth of a slice, an L2 cycle",
              l2<&G::slice_bytes_per_cycle>()),
      integer("l2.mshrs", M::kNone, 1, 4096, "lines in flight of a slice", l2<&G::mshrs>()),
      integer("l2.mshr_merges", M::kNone, 1, 1024, "requests that one line in flight can hold",
              l2<&G::mshr_merges>()),
      integer("l2.far_merges", M::kNone, 1, 1024,
              "likewise, where the line comes from the other half (l2.halves = 2)", l2<&G::far_merges>()),
      integer("l2.atomic_interval", M::kL2Cycles, 1, 1024,
              "that a sector of 32-bit atomics occupies the atomic unit", l2<&G::atomic_interval>()),
      integer("l2.halves", M::kNone, 1, 2, "2: the near half caches lines whose home is the far half",
              l2<&G::halves>()),
      power_of_two("l2.half_bytes", M::kBytes, 128, 2097152,
                   "consecutive bytes whose home is the same half (l2.halves = 2)", l2<&G::half_bytes>()),
      power_of_two("l2.fetch_bytes", M::kBytes, 32, 128,
                   "aligned bytes that a miss brings from DRAM, at least", l2<&G::fetch_bytes>()),
      flag("l2.code_resident", "instructions and kernel arguments are in the L2 when first read",
           l2<&G::code_resident>()),
  };
}

}  // namespace

Rows memory_rows() {
  Rows rows;
  for (Rows& group : std::vector<Rows>{l1_rows(), tlb_rows(), sync_rows(), cluster_rows(), tma_rows(),
                                       icnt_rows(), l2_rows()}) {
    for (Parameter& row : group) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lockstep::config
