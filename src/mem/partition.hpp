// A memory partition: its L2 slices with their ports, and its DRAM channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "mem/controller.hpp"
#include "mem/slice.hpp"
#include "sim/clock.hpp"
#include "sim/domain.hpp"
#include "stats/counter_source.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Works in two clocks. Edge k of the L2 clock lies in core cycle floor(k * core / l2), edges of the DRAM
/// command clock likewise; they are done in the order of time, at equal times DRAM first. With `skip` only
/// edges at which something is due are visited, and the DRAM's later where no slice can see it (Controller);
/// without it all of them. The results are the same.
///
/// Counters: L2 accesses = hits + misses + mshr_merges, in sectors, each counted once. A hit is a sector that
/// has a place in the slice: readable, or for a write also partly written or on its way. A merge is a read of
/// a sector on its way; a miss of a read fetches, a miss of a write only takes a place. With two halves a
/// sector that the near slice does not have is counted by its home slice. DRAM row_misses are the first
/// column access after each activate.
class Partition final : public sim::Domain, public stats::CounterSource {
 public:
  Partition(const config::GpuConfig& config, icnt::Fabric& fabric, const AddressMap& map, std::uint32_t index,
            bool skip);
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle at) override;
  void dump(std::string& out) const override;

  void take_counters(std::uint8_t kernel, stats::KernelCounters& total) override;
  [[nodiscard]] bool quiescent() const override;
  /// Between windows: lines that are not in flight leave the L2, without traffic and without time.
  void empty_l2() {
    for (Slice& slice : slices_) slice.empty();
  }
  [[nodiscard]] LineLockCounters locks() const {
    LineLockCounters all;
    for (const Slice& slice : slices_) all.add(slice.locks());
    return all;
  }
  /// Those of all slices.
  void add_lock_changes(std::vector<LockChange>& to) const {
    for (const Slice& slice : slices_)
      to.insert(to.end(), slice.lock_changes().begin(), slice.lock_changes().end());
  }
  /// Of all slices.
  [[nodiscard]] Cycle oldest_lock() const {
    Cycle since = kNever;
    for (const Slice& slice : slices_) since = std::min(since, slice.oldest_lock());
    return since;
  }
  /// Locked lines, where dump() says nothing as nothing is under way.
  void dump_idle_locks(std::string& out) const;
  /// Slice::visible_entries() of all of them.
  void add_visible_entries(std::vector<icnt::EntryTime>& to) const {
    for (const Slice& slice : slices_)
      to.insert(to.end(), slice.visible_entries().begin(), slice.visible_entries().end());
  }
  /// Between windows: as Slice::touch(), for a slice of this partition.
  void touch(std::uint32_t slice, const Touch& t) { slices_[slice % slices_.size()].touch(t); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(fabric_), a.given(index_), a.given(skip_), a.given(l2_khz_), a.given(dram_khz_),
              a.given(core_to_l2_), a.given(core_to_dram_), a.given(l2_to_core_), a.given(dram_to_core_),
              a.given(dram_to_l2_), counters_, controller_, slices_);
  }

 private:
  void take_mail(Cycle l2_first);
  void run(Cycle l2_end, Cycle dram_end);
  void run_all(Cycle from, Cycle l2_end, Cycle dram_end);
  [[nodiscard]] Cycle next_l2_edge() const;
  [[nodiscard]] bool dram_first(Cycle dram_edge, Cycle l2_edge) const;
  void tick_l2(Cycle edge, bool visit_all);
  void announce_write_room(Cycle dram_edge);

  const icnt::Fabric* fabric_;
  std::uint32_t index_;
  bool skip_;
  std::uint64_t l2_khz_, dram_khz_;
  sim::ClockRatio core_to_l2_, core_to_dram_, l2_to_core_, dram_to_core_, dram_to_l2_;
  CounterTable counters_;
  Controller controller_;
  std::vector<Slice> slices_;
};

}  // namespace lockstep::mem
