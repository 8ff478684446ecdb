// Timing wheel: handles of operations by the cycle of their result.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::core {

/// Results lie at most `span` cycles ahead. Those of one cycle come out in the order of add().
class LsuWheel {
 public:
  explicit LsuWheel(Cycle span)
      : buckets_(std::bit_ceil(span + 1 < 64 ? Cycle{64} : span + 1), Bucket{kEnd, kEnd}),
        occupied_(buckets_.size() / 64, 0) {
    nodes_.reserve(512);
  }

  void add(Cycle now, Cycle due, std::uint32_t handle) {
    assert(due >= now && due - now < buckets_.size());
    (void)now;
    const std::uint32_t node = allocate();
    nodes_[node] = {handle, kEnd};
    Bucket& bucket = buckets_[due & (buckets_.size() - 1)];
    if (bucket.head == kEnd) {
      bucket.head = node;
      const std::size_t b = due & (buckets_.size() - 1);
      occupied_[b / 64] |= std::uint64_t{1} << b % 64;
    } else {
      nodes_[bucket.tail].next = node;
    }
    bucket.tail = node;
    ++size_;
    if (due < next_) next_ = due;
  }

  /// Earliest due cycle; kNever when empty.
  [[nodiscard]] Cycle next() const { return next_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// f(handle) for everything due at `now`; precondition: next() >= now.
  template <class F>
  void drain(Cycle now, F&& f) {
    assert(next_ >= now);
    if (next_ != now) return;
    const std::size_t b = now & (buckets_.size() - 1);
    std::uint32_t node = buckets_[b].head;
    buckets_[b].head = kEnd;
    occupied_[b / 64] &= ~(std::uint64_t{1} << b % 64);
    while (node != kEnd) {
      f(nodes_[node].handle);
      const std::uint32_t following = nodes_[node].next;
      nodes_[node].next = free_;
      free_ = node;
      node = following;
      --size_;
    }
    next_ = size_ == 0 ? kNever : find_next(now + 1);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, buckets_, occupied_, nodes_, free_, size_, next_);
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  struct Node {
    std::uint32_t handle, next;
  };
  struct Bucket {
    std::uint32_t head, tail;
  };

  std::uint32_t allocate() {
    if (free_ == kEnd) {
      nodes_.emplace_back();
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = nodes_[node].next;
    return node;
  }

  [[nodiscard]] Cycle find_next(Cycle from) const {
    const std::size_t mask = buckets_.size() - 1, start = from & mask, words = occupied_.size();
    std::uint64_t bits = occupied_[start / 64] & (~std::uint64_t{0} << start % 64);
    for (std::size_t i = 0;; ++i) {  // something is there: after at most one turn it is found
      const std::size_t w = (start / 64 + i) & (words - 1);
      if (i > 0) bits = occupied_[w];
      if (bits) return from + ((w * 64 + static_cast<unsigned>(std::countr_zero(bits)) - start) & mask);
    }
  }

  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> occupied_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kEnd;
  std::size_t size_ = 0;
  Cycle next_ = kNever;
};

}  // namespace lockstep::core
