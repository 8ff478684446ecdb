// Divergence and reconvergence of a warp's lanes. Internal to src/exec.
//
// The lanes that run together are a *split*: one operation index, a mask, a call frame. A branch that divides
// a split adds a *reconvergence point* at the immediate post-dominator: splits that get there wait until all
// expected lanes have arrived or exited, then continue as one. Splits form a stack: the fall-through path
// runs first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/warp_frame.hpp"

namespace lockstep::exec {

/// All splits of a warp except the running one (WarpState::now), and the reconvergence points.
class Divergence {
 public:
  /// All lanes that are live begin at `pc`.
  void start(LaneMask live, std::uint32_t pc);
  /// Takes the next split that can run, together with those that stand at the same place. False: there is
  /// none.
  [[nodiscard]] bool pick(WarpState& warp);
  /// Sets what depends on the running split's frame and reconvergence point.
  void enter(WarpState& warp) {
    enter_frame(warp);
    const ReconvergencePoint& point = points_[warp.now.point];
    reconvergence_pc_ = point.frame == warp.now.frame && point.at != kAtReturn ? point.at : kNowhere;
  }
  /// The operation at which the running split must stop and call arrive().
  [[nodiscard]] std::uint32_t reconvergence_pc() const { return reconvergence_pc_; }
  /// True: all expected lanes have arrived, and the split continues with them.
  [[nodiscard]] bool arrive(WarpState& warp);

  void branch(WarpState& warp, const Operation& op, LaneMask taken);
  void branch_table(WarpState& warp, const Operation& op, LaneMask active);
  /// The running split's lanes shall reconverge at `at`; no effect where they already shall.
  void add_reconvergence_point(WarpState& warp, std::uint32_t at);
  /// `lanes` of the running split continue at `pc` as a split of their own, once the others have stopped.
  void split_off(WarpState& warp, LaneMask lanes, std::uint32_t pc);
  /// One more split, the next to run.
  void add(const Split& split) { splits_.push_back(split); }
  /// Some lanes of the running split (`lanes`) have reached the function's end and wait for the others.
  void wait_at_return(WarpState& warp, LaneMask lanes);
  /// Does the split reconverge with others at the end of the function?
  [[nodiscard]] bool reconverges_at_return(const Split& split) const {
    const ReconvergencePoint& point = points_[split.point];
    return point.at == kAtReturn && point.frame == split.frame;
  }
  /// These lanes have exited; releases splits that were waiting only for them.
  void kill(WarpState& warp, LaneMask lanes);

  /// `lanes` of the split that runs wait at its operation; the others go on. True: some are left to go on.
  [[nodiscard]] bool block(WarpState& warp, Split::State state, LaneMask lanes, LaneMask members,
                           std::uint32_t barrier);
  /// The splits that do not run: the first is the last to run.
  [[nodiscard]] std::span<Split> others() { return splits_; }
  [[nodiscard]] std::span<const Split> others() const { return splits_; }
  /// A split that waits goes on behind its operation.
  static void release(Split& waiting) {
    waiting.state = Split::State::kReady;
    ++waiting.pc;
  }
  /// The same, of those of split number i that are among `lanes`; the others of it wait on.
  void release_lanes(std::size_t i, LaneMask lanes);
  /// What runs is put back as the last to run.
  void put_back(const Split& split) { splits_.insert(splits_.begin(), split); }
  /// None counts as spun. True: one did.
  bool forget_spun();

  /// What keeps lanes from the reconvergence point at which others wait for them.
  enum class Hold : std::uint8_t {
    kLock,  // they try to take a lock
    kSpin,
    kBarrier  // of the warp or the CTA
  };
  /// Releases lanes that wait at a reconvergence point for lanes held up like this. False: there were none.
  bool release_reconvergence(WarpState& warp, Hold hold);

  void add_to(Fingerprint& print) const;

 private:
  struct ReconvergencePoint {
    std::uint32_t at = kNowhere;  // operation, or kAtReturn
    std::uint32_t frame = 0, parent = 0;
    LaneMask expected = 0, arrived = 0;  // expected 0: not in use
  };
  void go_on(WarpState& warp, std::uint32_t point, LaneMask lanes, Split& split) const;
  void settle_reconvergence(WarpState& warp);

  std::vector<Split> splits_;  // the next to run last
  std::vector<ReconvergencePoint> points_;
  std::uint32_t reconvergence_pc_ = kNowhere;
};

}  // namespace lockstep::exec
