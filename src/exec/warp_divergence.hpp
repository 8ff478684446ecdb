// How the lanes of a warp part and meet again. Internal to src/exec.
//
// The lanes that run together are a *split*: one operation index, a mask, a call frame. A branch that divides
// a split opens a *meeting* at the immediate post-dominator: splits that get there wait until all lanes that
// are expected have come or exited, then go on as one. Splits form a stack: the fall-through path runs first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/warp_frame.hpp"

namespace lockstep::exec {

/// All splits of a warp but the one that runs, which is WarpState::now, and where they meet.
class Divergence {
 public:
  /// All lanes that are live begin at `pc`.
  void start(LaneMask live, std::uint32_t pc);
  /// Takes the next split that can run, together with those that stand at the same place. False: there is
  /// none.
  [[nodiscard]] bool pick(WarpState& warp);
  /// What depends on the frame and the meeting of the split that runs.
  void enter(WarpState& warp) {
    enter_frame(warp);
    const Meeting& meeting = meetings_[warp.now.meeting];
    meet_ = meeting.frame == warp.now.frame && meeting.at != kAtReturn ? meeting.at : kNowhere;
  }
  /// Where the split that runs must stop, in its frame: arrive() there.
  [[nodiscard]] std::uint32_t meet() const { return meet_; }
  /// True: all are there, and it goes on with them.
  [[nodiscard]] bool arrive(WarpState& warp);

  void branch(WarpState& warp, const Operation& op, LaneMask taken);
  void branch_table(WarpState& warp, const Operation& op, LaneMask active);
  /// The lanes of the split that runs are to meet at `at`; nothing to do where they already are.
  void open_meeting(WarpState& warp, std::uint32_t at);
  /// `lanes` of it go on at `pc` as a split of their own, after the others of it stopped.
  void split_off(WarpState& warp, LaneMask lanes, std::uint32_t pc);
  /// One more split, the next to run.
  void add(const Split& split) { splits_.push_back(split); }
  /// `lanes` of it, but not all, have come to the end of the function, where they wait for the others.
  void wait_at_return(WarpState& warp, LaneMask lanes);
  /// Is it to meet others at the end of the function?
  [[nodiscard]] bool meets_at_return(const Split& split) const {
    const Meeting& meeting = meetings_[split.meeting];
    return meeting.at == kAtReturn && meeting.frame == split.frame;
  }
  /// These lanes have exited. Others may have waited for them only.
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

  /// What lanes do for which others wait at a meeting.
  enum class Hold : std::uint8_t {
    kLock,  // they try to take a lock
    kSpin,
    kBarrier  // of the warp or the CTA
  };
  /// Lets lanes that wait at a meeting for such ones go on. False: there are none.
  bool release_meetings(WarpState& warp, Hold hold);

  void add_to(Fingerprint& print) const;

 private:
  struct Meeting {
    std::uint32_t at = kNowhere;  // operation, or kAtReturn
    std::uint32_t frame = 0, parent = 0;
    LaneMask expected = 0, arrived = 0;  // expected 0: not in use
  };
  void go_on(WarpState& warp, std::uint32_t meeting, LaneMask lanes, Split& split) const;
  void settle_meetings(WarpState& warp);

  std::vector<Split> splits_;  // the next to run last
  std::vector<Meeting> meetings_;
  std::uint32_t meet_ = kNowhere;
};

}  // namespace lockstep::exec
