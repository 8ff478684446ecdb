// Numbers for requests in flight.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace lockstep {

/// Freed numbers are reused, the latest first: the same in every run.
template <class T>
class RequestTable {
 public:
  [[nodiscard]] std::uint32_t add(const T& what) {
    ++used_;
    if (free_.empty()) {
      entries_.push_back({what, true});
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    entries_[index] = {what, true};
    return index;
  }
  /// Throws std::logic_error where no operation in flight has that number.
  [[nodiscard]] T& at(std::uint32_t index) {
    if (index >= entries_.size() || !entries_[index].taken)
      throw std::logic_error("a reply without a request");
    return entries_[index].what;
  }
  void free(std::uint32_t index) {
    entries_[index].taken = false;
    free_.push_back(index);
    --used_;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, entries_, free_, used_);
  }

 private:
  // A small one lies in one cache line: many wait for long, and each is touched a few times.
  struct alignas(sizeof(T) < 16 ? 16 : sizeof(T) < 32 ? 32 : alignof(T)) Entry {
    T what;
    bool taken;
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
};

}  // namespace lockstep
