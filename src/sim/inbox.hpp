// A destination's calendar of messages that are under way to it.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/network.hpp"
#include "util/types.hpp"

namespace lockstep::sim {

/// Core cycles that a window may have at most, as far as inboxes go.
inline constexpr Cycle kInboxWindow = 1024;

/// Span of the inbox of a domain in the core clock whose messages are under way for `latency` core cycles.
/// What is sent at the end of the longest window arrives that much after its beginning, and the receiver may
/// not have come further; one cycle more for the rounding at either end.
[[nodiscard]] constexpr Cycle inbox_span(Cycle latency) { return latency + kInboxWindow + 2; }

/// Messages in the order (arrival, source, order of sending), whatever the order of insertion. All times are
/// edges of the receiver's clock. Arrivals may lie at most `span` edges ahead of the receiver.
template <class T>
class Inbox {
 public:
  explicit Inbox(Cycle span = 64) { resize(span); }

  void resize(Cycle span) {
    most_ = std::bit_ceil(span + 2);
    buckets_.assign(std::min(most_, kBuckets), kEnd);
    occupied_.assign((buckets_.size() + 63) / 64, 0);
  }

  /// Takes the mail of the window before. `first_edge` is the receiver's first edge in this window: mail that
  /// should have been there earlier breaks the window's contract.
  void gather(const Network<T>& network, std::uint32_t destination, Cycle first_edge) {
    if (base_ < first_edge) base_ = first_edge;
    network.collect(destination, [&](std::uint32_t source, Cycle arrival, const T& message) {
      if (arrival < first_edge) {
        if (!late_allowed_)
          throw std::logic_error("channel '" + network.name() + "' is shorter than the window");
        arrival = first_edge;
      }
      insert(source, arrival, message);
    });
  }

  void insert(std::uint32_t source, Cycle arrival, const T& message) {
    if (arrival < base_ || arrival - base_ >= buckets_.size()) grow(arrival);
    const std::uint32_t node = allocate();
    nodes_[node].source = source;
    nodes_[node].message = message;
    const std::size_t b = arrival & (buckets_.size() - 1);
    std::uint32_t* link = &buckets_[b];
    while (*link != kEnd && nodes_[*link].source <= source) link = &nodes_[*link].next;
    nodes_[node].next = *link;
    *link = node;
    occupied_[b / 64] |= std::uint64_t{1} << b % 64;
    ++size_;
    if (arrival < next_) next_ = arrival;
  }

  /// f(source, message) for everything that has arrived by edge `now`, in order.
  template <class F>
  void drain(Cycle now, F&& f) {
    while (next_ <= now) {
      const std::size_t b = next_ & (buckets_.size() - 1);
      std::uint32_t node = buckets_[b];
      buckets_[b] = kEnd;
      occupied_[b / 64] &= ~(std::uint64_t{1} << b % 64);
      base_ = next_ + 1;
      while (node != kEnd) {
        f(nodes_[node].source, nodes_[node].message);
        const std::uint32_t following = nodes_[node].next;
        nodes_[node].next = free_;
        free_ = node;
        node = following;
        --size_;
      }
      next_ = find_next();
    }
  }

  /// Edge of the earliest message; kNever when empty.
  [[nodiscard]] Cycle next_arrival() const { return next_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Tests only: accept mail that comes too late, as a machine with a zero-latency channel would.
  void allow_late(bool allowed) { late_allowed_ = allowed; }

  template <class A>
  void persist(A& a) {
    a.members(*this, nodes_, buckets_, occupied_, a.given(most_), free_, size_, base_, next_,
              a.given(late_allowed_));
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  // To begin with. The calendar is gone round and round, so that one which is as short as the messages under
  // way allow stays in the host's cache.
  static constexpr std::size_t kBuckets = 64;
  struct alignas(kEntryAlign<T>) Node {
    std::uint32_t next, source;
    T message;
  };

  /// Until `arrival` has its place. All messages of a bucket have the same arrival.
  void grow(Cycle arrival) {
    if (arrival < base_ || arrival - base_ >= most_)
      throw std::logic_error("message outside the inbox's span");
    std::vector<std::uint32_t> old(std::bit_ceil(arrival - base_ + 1), kEnd);
    old.swap(buckets_);
    occupied_.assign((buckets_.size() + 63) / 64, 0);
    if (size_ == 0) return;
    for (std::size_t ahead = 0; ahead < old.size(); ++ahead) {
      const Cycle at = next_ + ahead;
      const std::uint32_t first = old[at & (old.size() - 1)];
      if (first == kEnd) continue;
      const std::size_t b = at & (buckets_.size() - 1);
      buckets_[b] = first;
      occupied_[b / 64] |= std::uint64_t{1} << b % 64;
    }
  }

  std::uint32_t allocate() {
    if (free_ == kEnd) {
      nodes_.emplace_back();
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = nodes_[node].next;
    return node;
  }

  [[nodiscard]] Cycle find_next() const {
    if (size_ == 0) return kNever;
    const std::size_t mask = buckets_.size() - 1;
    const std::size_t start = base_ & mask;
    // One turn of the ring from `start`; the first word is seen twice, its high part first.
    const std::size_t words = occupied_.size();
    for (std::size_t i = 0; i <= words; ++i) {
      const std::size_t w = (start / 64 + i) & (words - 1);  // powers of two: buckets, and their words
      std::uint64_t bits = occupied_[w];
      if (i == 0) bits &= ~std::uint64_t{0} << start % 64;
      if (bits) {
        const std::size_t b = w * 64 + static_cast<unsigned>(std::countr_zero(bits));
        return base_ + ((b - start) & mask);
      }
    }
    return kNever;
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> buckets_;
  std::vector<std::uint64_t> occupied_;
  std::size_t most_ = 0;  // buckets
  std::uint32_t free_ = kEnd;
  std::size_t size_ = 0;
  Cycle base_ = 0, next_ = kNever;
  bool late_allowed_ = false;
};

}  // namespace lockstep::sim
