// One line in the L1: tags, miss registers, and the requests for what is not there.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/instruction_profile.hpp"
#include "core/l1_cache.hpp"
#include "core/l1_mshrs.hpp"
#include "core/lsu_access.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_results.hpp"
#include "stats/counters.hpp"

namespace lockstep::core {

/// Write-through. A line takes a way when it is requested, from which others may evict it before its data
/// arrive, or with l1.allocate_on_miss = false when they do. A load's sectors hit, merge with a fill under
/// way, or miss; a line's missing sectors are one request. Stores hit or miss; sectors written whole
/// become valid in the L1 when l1.allocate_on_store is set and none of them is being filled. Local memory
/// is cached the same way (written through). Loads that bypass the L1, atomics and reductions count as misses
/// and make the SM's own copy invalid.
class L1Lookup {
 public:
  L1Lookup(const config::L1Group& config, LsuPort& port, LsuResults& results,
           std::vector<stats::SmCounters>& counters)
      : port_(&port),
        results_(&results),
        counters_(&counters),
        allocate_on_miss_(config.allocate_on_miss),
        allocate_on_store_(config.allocate_on_store),
        cache_(config),
        mshrs_(config.mshrs) {}

  /// Also reports what operations look up to `to`, which must outlive it; null: does not.
  void profile(InstructionProfile* to) { profile_ = to; }

  /// `bytes`: of a store, and of what signals. What the line lacks to go on; then nothing has changed.
  [[nodiscard]] Blocked look_up(Cycle now, LsuAccess& access, const LineAccess& line,
                                const StoredBytes& bytes);
  /// Sectors of a request of look_up's have arrived.
  void receive(Cycle now, const icnt::Reply& reply);

  /// The L1 loses the lines of [first, first + bytes). False, and nothing has changed: a fill of one of them
  /// is under way.
  [[nodiscard]] bool drop(Address first, Address bytes) {
    if (mshrs_.any_in(first, bytes)) return false;
    cache_.drop_range(first, bytes);
    return true;
  }
  [[nodiscard]] L1Cache& cache() { return cache_; }
  [[nodiscard]] const L1Cache& cache() const { return cache_; }
  /// Lines with sectors under way.
  [[nodiscard]] std::size_t missing() const { return mshrs_.used(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(results_), a.given(counters_), a.given(profile_),
              a.given(allocate_on_miss_), a.given(allocate_on_store_), cache_, mshrs_);
  }

 private:
  /// Tags of load replies: a miss register, or with this bit a pending-table entry.
  static constexpr std::uint32_t kDirectTag = 0x80000000u;

  [[nodiscard]] Blocked load(Cycle now, LsuAccess& access, const LineAccess& line);
  [[nodiscard]] Blocked store(Cycle now, LsuAccess& access, const LineAccess& line, const StoredBytes& bytes);
  [[nodiscard]] Blocked direct(Cycle now, LsuAccess& access, const LineAccess& line,
                               const StoredBytes& bytes);
  [[nodiscard]] Blocked room_for(const LsuAccess& access, bool request) const;
  void write_whole_sectors(const LineAccess& line, const StoredBytes& bytes, SectorMask valid);
  void prefetch(Cycle now, const LsuAccess& access, const LineAccess& line);
  void book(const LsuAccess& access, bool read, unsigned hits, unsigned misses, unsigned merges,
            bool line_there);
  [[nodiscard]] static icnt::Request request_of(const LsuAccess& access, Address line, SectorMask sectors,
                                                std::uint32_t tag, icnt::AccessKind kind);

  LsuPort* port_;
  LsuResults* results_;
  std::vector<stats::SmCounters>* counters_;
  InstructionProfile* profile_ = nullptr;
  bool allocate_on_miss_, allocate_on_store_;
  L1Cache cache_;
  L1Mshrs mshrs_;
};

}  // namespace lockstep::core
