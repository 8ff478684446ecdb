// CTAs of an SM from their launch to their end, and their barriers (sm_ctas.cpp). Internal to src/core.
#pragma once

#include "core/sm_warps.hpp"
#include "trace/barrier_events.hpp"

namespace lockstep::core {

struct SmCtas : SmWarps {
  using SmWarps::SmWarps;

  void start_cta(const icnt::LaunchCta& launch, Cycle now);
  void start_warp(unsigned w, unsigned cta, unsigned number, Tick at);
  [[nodiscard]] unsigned free_warp_slot() const;
  [[nodiscard]] unsigned free_cta_slot();
  void find_barrier_members(Cta& cta, const std::array<std::uint8_t, kMaxWarps>& slots);
  void note_arrival(const Warp& warp, unsigned id, Cycle now);
  void barrier(unsigned w, const IssueInst& inst, Cycle now);
  [[gnu::noinline]] void counted_barrier(unsigned w, const IssueInst& inst,
                                         const trace::BarrierEvents& events, Cycle now);
  void release_from_barrier(unsigned w, Cycle since, Cycle now);
  void release_barrier_if_complete(Cta& cta, unsigned id, Cycle now);
  void wait_for_mbarrier(Warp& warp, const MbarrierEvents& wanted);
  void notify_mbarrier(Cta& cta, const MbarrierEvents& events, Cycle now);
  /// In the CTAs that `events` names.
  void signal(unsigned cta, const MbarrierEvents& events, Cycle now);

  // --- Clusters (sm_clusters.cpp) ---
  void join_cluster(unsigned slot, const icnt::ClusterPlace& place);
  void signal_others(unsigned cta, const MbarrierEvents& events, std::uint32_t filled, Cycle now);
  void cluster_barrier(unsigned w, const IssueInst& inst, Cycle now);
  void leave_cluster(unsigned w, Cycle now);
  void settle_cluster(unsigned slot, Cycle now);
  void release_cluster(Cta& cta, Cycle now);
  void receive_of_cluster(const icnt::ClusterMessage& message, Cycle now);

  void end_warp(unsigned w, Cycle now);
  void free_warp_if_done(unsigned w, Cycle now);
  void free_cta(Cta& cta, Cycle now);
  void free_held_ctas(Cycle now);
  void report(Cta& cta, icnt::CtaEvent::Kind kind, Cycle now);
  [[nodiscard]] Cycle earliest_cta_end(Cycle now) const;
  void count_residency(std::uint8_t kernel, Cycle now);
  void release_cta_slot_if_drained(Cta& cta, Cycle now);

  void note_issued(unsigned w);

  void dump(std::string& out) const;
};

}  // namespace lockstep::core
