// What the timing model must know of a CTA's mbarriers: it does not execute, so the record says for each
// arrival which mbarrier it goes to, and for each successful test how many events that mbarrier had had when
// the phase was complete.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace lockstep::exec {

/// Events are arrivals, completions of bulk copies, and bytes that st.async and red.async have brought from
/// other CTAs of the cluster.
class MbarrierEvents {
 public:
  struct Mbarrier {
    std::uint32_t number = 0;     // see MbarrierNumbers
    std::uint32_t events = 0;     // so far; more objects at the same place go on counting
    std::uint32_t completed = 0;  // when the last phase was complete
  };
  void clear() { mbarriers_.clear(); }
  /// `offset`: in shared memory.
  Mbarrier& at(std::uint64_t offset) { return mbarriers_[offset]; }

 private:
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;
};

/// From 1 on, in the order in which mbarriers were used first. Those at the same place of the shared memory
/// of several CTAs of a cluster have one number.
class MbarrierNumbers {
 public:
  void clear() { numbers_.clear(); }
  [[nodiscard]] std::uint32_t of(std::uint64_t offset) {
    std::uint32_t& number = numbers_[offset];
    if (number == 0) number = static_cast<std::uint32_t>(numbers_.size());
    return number;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

}  // namespace lockstep::exec
