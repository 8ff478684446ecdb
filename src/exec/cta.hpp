// A CTA: its warps in a fixed order, shared memory, barriers. Internal to src/exec.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/cta_state.hpp"
#include "exec/warp.hpp"
#include "exec/warp_places.hpp"

namespace lockstep::exec {

struct CtaCheck;

class Cta {
 public:
  Cta();
  ~Cta();
  Cta(const Cta&) = delete;  // its warps point to it
  Cta& operator=(const Cta&) = delete;

  enum class State : std::uint8_t {
    kDone,
    kTurnOver,  // Machine::turns: another one may run
    kBlocked,   // every warp waits at a barrier: only another CTA of the cluster can help
    kSpinning,  // it polls something that others must change
    kInterrupted,
  };

  void start(Machine& machine, std::uint64_t index, CtaRecord* record);
  State run();

  /// Adds all state, except memory, that determines what it does next.
  void add_to(Fingerprint& print) const;

  [[nodiscard]] std::uint64_t index() const { return state_.index; }
  [[nodiscard]] CtaRecord* record() const { return record_; }
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  /// Throws a fault at the first thread that has not ended.
  void fault(FaultKind kind, const std::string& detail) const;
  /// Adds each warp that has not ended.
  void add_places(WarpPlaces& places) const;
  /// The CTAs of its cluster by rank, itself included; one where there are no clusters.
  void join(const std::vector<Cta*>& cluster);

  // Called by warps.
  /// What they share.
  [[nodiscard]] CtaState& state() { return state_; }
  /// Lanes of warp number `warp` have arrived at a barrier. Returns by how many threads that brings it
  /// further.
  std::uint32_t arrive(const Arrival& arrival, std::uint32_t warp);
  /// Where the barrier is complete, those that wait go on.
  void settle(std::uint32_t barrier);
  void lanes_exited();
  /// Completes the phase of the cluster's barrier where every thread that is left has arrived.
  void settle_cluster();
  /// Groups of wgmma that all warps of a warpgroup have committed that have not ended.
  [[nodiscard]] std::uint32_t committed(std::uint32_t warpgroup) const;
  /// Warps that waited for what these warps have committed go on.
  void settle_warpgroup(std::uint32_t warpgroup);
  /// One warp alone runs, until it meets others at a barrier or its turn ends.
  [[nodiscard]] bool one_runs() const { return one_runs_; }

 private:
  struct Barrier {
    std::uint32_t threads = 0;
    bool pending = false;
    bool all = true;
    std::uint64_t yes = 0;
    std::vector<LaneMask> arrived;  // by warp
    // PTX counts arrivals, not threads: one that has arrived and then waits counts twice.
    std::vector<LaneMask> latest;  // by warp: arrived since those that `earlier` counts
    std::uint32_t earlier = 0;     // threads
    std::uint64_t total = 0;       // of threads that have arrived, in all phases
    [[nodiscard]] std::uint32_t count(std::size_t warp, LaneMask live) const;
  };
  [[nodiscard]] std::span<const Warp> warpgroup(std::uint32_t number) const;
  [[nodiscard]] bool complete(const Barrier& barrier) const;
  /// What the warps did in the round that is under way.
  struct Round {
    bool further = false, spinning = false, tired = false;
    bool sliced = false, rested = false;    // one goes on next time; one has ended or come to a barrier
    std::size_t running = 0, yielding = 0;  // warps that have run since all could last, and want to go on
  };
  bool finish_round();
  bool run_in_turn(std::size_t warp);
  void notify_observer() const;
  bool release(Divergence::Hold hold);
  [[nodiscard]] bool is_livelocked(LivelockDetector& still, std::uint64_t instructions) const;

  Machine* machine_ = nullptr;
  CtaRecord* record_ = nullptr;
  CtaState state_;
  std::uint32_t threads_ = 0;
  std::vector<Warp> warps_;
  std::array<Barrier, kBarriers> barriers_;
  Round round_;
  std::size_t next_ = 0;                 // warp of the round
  std::vector<std::uint8_t> turn_over_;  // by warp: it goes on in the next round
  std::vector<Cta*> cluster_;
  std::unique_ptr<CtaCheck> checked_;
  bool one_runs_ = false;
  bool stuck_ = false;  // spun since it last got further, and others have run in between
};

}  // namespace lockstep::exec
