// First in, first out; grows when full, so that it does not allocate once it has seen its largest load.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lockstep {

template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity = 16) : items_(capacity) {}  // a power of two

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const T& front() const { return items_[head_]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }

  [[nodiscard]] T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }
  [[nodiscard]] T& front() { return items_[head_]; }

  void push(const T& item) {
    if (count_ == items_.size()) grow();
    items_[(head_ + count_++) & (items_.size() - 1)] = item;
  }
  /// What is short stays at the beginning, and in the host's cache.
  void pop() { head_ = --count_ == 0 ? 0 : (head_ + 1) & (items_.size() - 1); }

  template <class A>
  void persist(A& a) {
    a.members(*this, items_, head_, count_);
  }

 private:
  void grow() {
    std::vector<T> larger(items_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) larger[i] = (*this)[i];
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_;
  std::size_t head_ = 0, count_ = 0;
};

}  // namespace lockstep
