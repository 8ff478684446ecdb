// A warp: the loop that executes its operations. Internal to src/exec.
//
// Its components work on one WarpState: divergence (warp_divergence.hpp), call frames (warp_frame.hpp), loads
// and stores (warp_memory.hpp), and one function for each other group of instructions.
//
// Progress (independent thread scheduling). A split that reads the same value from the same place kSpinLimit
// times is *spinning*: others of its warp run, then other warps, then other CTAs. When that does not help,
// lanes that wait at a reconvergence point continue without the spinning ones (Warp::release_reconvergence);
// also where otherwise every thread would wait at a barrier or for lanes of its warp, as for `if (thread ==
// 0) { ...; bar.sync; }` or a shuffle there: in machine code the other lanes exit. All of this counts
// operations, never time, so results are the same in every run.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/warp_divergence.hpp"
#include "exec/warp_fixed.hpp"
#include "exec/warp_groups.hpp"
#include "exec/warp_memory.hpp"
#include "exec/warp_sync.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::exec {

inline constexpr std::int64_t kTurn = 1 << 18;  // operations per warp runs at most before others do

enum class Turn : std::uint8_t { kDone, kBlocked, kSpinning, kTurnOver, kSliced, kYields };

class Cta;

class Warp {
 public:
  void start(Machine& machine, Cta& cta, std::uint32_t index, WarpRecord* record);
  /// Runs until every lane has exited, is blocked or spins, or for kTurn operations, or for a slice of them
  /// (RunOptions::interleave), or until it yields.
  Turn run();

  [[nodiscard]] bool done() const { return state_.live == 0; }
  [[nodiscard]] LaneMask live() const { return state_.live; }
  /// See Divergence::release_reconvergence().
  bool release_reconvergence(Divergence::Hold hold);
  /// A barrier of the CTA is complete: its splits go on.
  void release_barrier(std::uint32_t barrier, const Reduced& reduced);
  /// Have all lanes that are left arrived at the cluster's barrier?
  [[nodiscard]] bool arrived_at_cluster() const { return groups_.arrived_at_cluster(state_.live); }
  void release_cluster();
  /// Groups of products that it has committed.
  [[nodiscard]] std::uint32_t committed() const { return groups_.committed(); }
  /// Whether all warps of its warpgroup have committed that many.
  void release_warpgroup(std::uint32_t groups);
  /// Where a blocked or spinning lane stands, for messages.
  struct Standing {
    std::uint32_t pc, lane;
  };
  [[nodiscard]] Standing standing() const;
  /// Adds all state that determines what the warp does next, except memory that others can access.
  void add_to(Fingerprint& print) const;

 private:
  enum class Stop : std::uint8_t {
    kGone,
    kBlocked,
    kSpun,
    kTurnOver,
    kWaits,  // all of the warp
    kSliced,
    kYields  // before the operation at which it stands
  };
  /// When other warps run in between.
  enum class Others : std::uint8_t { kLater, kAfterSlice, kAtTurnsOfSharing };

  /// `kChecked`: each operation is reported to the launch's checks first.
  template <bool kChecked, Others kOthers>
  Stop run_split();
  template <bool kChecked>
  [[nodiscard]] Stop run_split_as_asked();
  [[nodiscard]] bool yields_before(const Operation& op, SharedAccess access, LaneMask active);
  [[nodiscard]] bool pick();
  [[nodiscard]] bool any_can_run() const;
  void prepare(const Operation& op);
  void step_lane(const Operation& op, LaneMask active);
  [[nodiscard]] Stop spun() const;
  Stop step_async(const Operation& op, LaneMask active, bool& stop);
  Stop step_control(const Operation& op, LaneMask active, bool& stop);
  Stop step_groups(const Operation& op, LaneMask active, bool& stop);
  [[nodiscard]] bool barrier(const Operation& op, LaneMask active);
  void note_slow_path(const Operation& op, LaneMask active);
  void note_cluster_arrival(LaneMask active);
  void kill(LaneMask lanes);
  [[nodiscard]] std::uint64_t print_now() const;

  Cta* cta_ = nullptr;
  WarpState state_;
  Divergence paths_;
  LoadStore memory_;
  WarpGroups groups_;
  FixedRegisters fixed_;
  trace::BulkRuns runs_;              // of the bulk copy at hand, where it is recorded
  std::int64_t budget_ = 0;           // operations that are left of its turn, which slices are parts of
  std::uint32_t slice_ = 0;           // operations
  bool sliced_ = false;               // its turn goes on
  bool yielded_ = false;              // and so does the split that ran last, which is no other of `paths_`
  Sharing sharing_ = Sharing::kNone;  // what it did last, since it last waited at a barrier
  const SharedAccess* shared_accesses_ = nullptr;  // by operation
  mutable std::optional<std::uint64_t> print_;     // of its state, where that is as at the last add_to()
};

}  // namespace lockstep::exec
