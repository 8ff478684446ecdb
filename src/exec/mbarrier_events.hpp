// What the timing model must know of a CTA's mbarriers: it does not execute, so the record says for each
// arrival which mbarrier it goes to, and for each successful test how many events that mbarrier had had when
// the phase was complete.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace lockstep::exec {

/// Events are arrivals and completions of bulk copies by the CTA's own warps. What other CTAs of its cluster
/// do at its mbarriers does not count: the timing model does not wait for it.
class MbarrierEvents {
 public:
  struct Mbarrier {
    std::uint32_t number = 0;     // from 1 on, in the order in which the CTA used them first
    std::uint32_t events = 0;     // so far; more objects at the same place go on counting
    std::uint32_t completed = 0;  // when the last phase was complete
  };
  void clear() { mbarriers_.clear(); }
  /// `offset`: in shared memory.
  Mbarrier& at(std::uint64_t offset) {
    Mbarrier& found = mbarriers_[offset];
    if (found.number == 0) found.number = static_cast<std::uint32_t>(mbarriers_.size());
    return found;
  }

 private:
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;
};

}  // namespace lockstep::exec
