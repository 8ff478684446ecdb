// The pending request table: memory instructions with sectors outstanding beyond the SM.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::core {

/// A load, atomic or async copy takes its entry with the first sector that leaves the L1 and keeps it until
/// the last one is back; a store or reduction until the last acknowledgement.
class LsuPending {
 public:
  static constexpr std::uint16_t kNone = 0xffff;
  struct Entry {
    Cycle ready = 0;  // result not before: what the L1 itself takes
    std::uint32_t handle = 0;
    std::uint32_t sectors = 0;  // outstanding
    std::uint16_t after = 0;    // cycles from the last sector's arrival to the result
    bool store = false;         // ends with an acknowledgement instead of a result
    bool issuing = false;       // lines are still to be looked up
  };

  explicit LsuPending(std::uint32_t entries) : entries_(entries), free_(entries) {
    assert(entries < kNone);
    for (std::uint32_t i = 0; i < entries; ++i) free_[i] = static_cast<std::uint16_t>(entries - 1 - i);
  }

  [[nodiscard]] bool full() const { return free_.empty(); }
  [[nodiscard]] std::size_t used() const { return entries_.size() - free_.size(); }
  [[nodiscard]] std::uint16_t take() {
    assert(!full());
    const std::uint16_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(std::uint16_t index) { free_.push_back(index); }
  [[nodiscard]] Entry& operator[](std::uint16_t index) { return entries_[index]; }

  template <class A>
  void persist(A& a) {
    a.members(*this, entries_, free_);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> free_;
};

}  // namespace lockstep::core
