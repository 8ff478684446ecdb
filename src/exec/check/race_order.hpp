// What is ordered before what: the happens-before relation of a launch. Internal to src/exec.
//
// Within a CTA it is exact, warp by warp: barriers order what their warps did before it before what they do
// after it, an mbarrier the arrivals before the waits for it, fences those before it in the execution before
// those after it. Within a warp the relation of lanes is kept twice: `explicit` by instructions that
// synchronise lanes (bar.warp.sync, shfl.sync, ...), `implicit` by lanes' running together. Between CTAs
// the relation is over-approximated: a fence or release of one CTA orders all that the CTA did
// before it before what another one does after a fence or acquire that is executed later. The
// variable used is ignored, so that no correctly synchronised program is reported.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "exec/check/race_cells.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::exec {

/// Up to which time the accesses of one lane of a warp are ordered before those of another.
class LaneOrder {
 public:
  /// The accesses of the lanes of `mask` until `now` are ordered before their later ones. `live`: lanes that
  /// have not exited.
  void join(LaneMask mask, LaneMask live, std::uint64_t now);
  [[nodiscard]] bool ordered(std::uint8_t from, std::uint8_t to, std::uint64_t time) const {
    return all_ >= time || (pairs_ && (*pairs_)[to][from] >= time);
  }
  void reset() { all_ = 0, pairs_.reset(); }

 private:
  using Pairs = std::array<std::array<std::uint64_t, 32>, 32>;
  std::uint64_t all_ = 0;
  std::unique_ptr<Pairs> pairs_;  // of partial joins
};

/// The order of events of a CTA's warps.
class CtaOrder {
 public:
  void reset(std::uint32_t warps);

  // Warp `w` at `now`.
  void arrive(std::uint32_t barrier, std::uint32_t w, std::uint64_t now) {
    release(barriers_[barrier], w, now);
  }
  /// The barrier is complete: warps of `arrived`, by warp, go on. `whole`: it is one of all of the CTA, for
  /// which those that have exited count as arrived.
  void complete(std::uint32_t barrier, const std::vector<LaneMask>& arrived, bool whole);
  void signal(std::uint64_t mbarrier, std::uint32_t w, std::uint64_t now) {
    release(mbarriers_[mbarrier], w, now);
  }
  void wait(std::uint64_t mbarrier, std::uint32_t w);
  void fence(std::uint32_t w, std::uint64_t now) { release(fences_, w, now), acquire(fences_, w); }
  void exit(std::uint32_t w, std::uint64_t now) { release(exited_, w, now); }
  void join_all(std::uint64_t now);

  LaneOrder& explicit_lanes(std::uint32_t w) { return lanes_[2 * w]; }
  LaneOrder& implicit_lanes(std::uint32_t w) { return lanes_[2 * w + 1]; }
  /// What another warp of the CTA did, before what `w` does now.
  [[nodiscard]] bool ordered(const RaceEvent& before, std::uint32_t w) const {
    return known_[w * warps_ + before.warp] >= before.time;
  }

 private:
  using Clock = std::vector<std::uint64_t>;  // by warp: until when its accesses are known
  void release(Clock& to, std::uint32_t w, std::uint64_t now);
  void acquire(const Clock& from, std::uint32_t w);

  std::uint32_t warps_ = 0;
  Clock known_;  // of warp w: [w * warps_, ...)
  std::array<Clock, 16> barriers_;
  Clock fences_, exited_;
  std::unordered_map<std::uint64_t, Clock> mbarriers_;  // by offset
  std::vector<LaneOrder> lanes_;
};

/// The order of events of a launch's CTAs.
class GridOrder {
 public:
  /// `cta` has accessed memory.
  void access(std::uint32_t cta) { ctas_[cta].fresh = true; }
  /// A fence or an operation that acquires or releases.
  void fence(std::uint32_t cta, std::uint64_t now);
  [[nodiscard]] bool ordered(const RaceEvent& before, std::uint32_t cta) const;

 private:
  struct Cta {
    std::vector<std::uint64_t> releases;
    std::uint64_t acquired = 0;
    bool fresh = false;  // accesses since the last release
  };
  std::unordered_map<std::uint32_t, Cta> ctas_;
};

}  // namespace lockstep::exec
