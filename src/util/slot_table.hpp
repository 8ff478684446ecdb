// Numbered slots for operations in flight.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace lockstep {

/// Numbers of freed slots are reused, the latest first: the same in every run.
template <class T>
class SlotTable {
 public:
  [[nodiscard]] std::uint32_t add(const T& what) {
    ++used_;
    if (free_.empty()) {
      slots_.push_back({what, true});
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index] = {what, true};
    return index;
  }
  /// Throws std::logic_error where no operation in flight has that number.
  [[nodiscard]] T& at(std::uint32_t index) {
    if (index >= slots_.size() || !slots_[index].taken) throw std::logic_error("a reply without a request");
    return slots_[index].what;
  }
  void free(std::uint32_t index) {
    slots_[index].taken = false;
    free_.push_back(index);
    --used_;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, slots_, free_, used_);
  }

 private:
  struct Slot {
    T what;
    bool taken;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
};

}  // namespace lockstep
