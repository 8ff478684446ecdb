// The registry of issue policies: which of the warps that could issue goes first. A policy is one file, with
// a type whose pick() chooses who issues and whose fetch() who is fetched for, and one line here.
#pragma once

#include "config/gpu_config.hpp"
#include "core/scheduler_cggty.hpp"
#include "core/scheduler_gto.hpp"
#include "core/scheduler_lrr.hpp"

namespace lockstep::core {

/// chosen(policy's type). A function of the sub-core's every cycle: a switch that is inlined, no call.
template <class F>
[[gnu::always_inline]] inline unsigned with_scheduler(config::SchedulerPolicy policy, F&& chosen) {
  switch (policy) {
    case config::SchedulerPolicy::kGto:
      return chosen(GreedyThenOldest{});
    case config::SchedulerPolicy::kLrr:
      return chosen(LooseRoundRobin{});
    case config::SchedulerPolicy::kCggty:
      return chosen(GreedyThenYoungest{});
  }
  __builtin_unreachable();  // the configuration's reader knows no others
}

/// Which warp issues. Precondition: candidates is not empty.
inline unsigned pick(config::SchedulerPolicy policy, WarpSet16 candidates, const SchedulerView& view) {
  return with_scheduler(policy, [&](auto scheduler) { return scheduler.pick(candidates, view); });
}

/// Which of the warps with room in their instruction buffers is fetched for: the one that the policy prefers
/// among those that did not issue last, so that a warp gets instructions as it gets issue slots. On an H100
/// PCIe n warps of dependent FFMA a sub-core take as long as the next multiple of four does (ncu,
/// h100_pcie_kernels.csv, derived rows): four run at full rate, the others wait; fetching in turn, or for the
/// warp that issued last, does not give that. Precondition: candidates is not empty.
inline unsigned pick_fetch(config::SchedulerPolicy policy, WarpSet16 candidates, const SchedulerView& view) {
  return with_scheduler(policy, [&](auto scheduler) { return scheduler.fetch(candidates, view); });
}

}  // namespace lockstep::core
