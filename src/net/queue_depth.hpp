// How many are in a queue, over time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "util/ring.hpp"

namespace lockstep::net {

/// Depth of one queue, or of several of the same kind. Times in ps.
struct DepthCounters {
  static constexpr std::size_t kBuckets = 16;
  std::uint64_t queues = 0, entered = 0;
  std::uint64_t most = 0;      // at a time in one queue
  std::uint64_t total_ps = 0;  // depth integrated over time: by Little's law the sum of all stays
  std::array<std::uint64_t, kBuckets>
      times{};  // b: with 2^b to less than 2^(b+1) in the queue; the last: more

  void add(const DepthCounters& other) {
    queues += other.queues;
    entered += other.entered;
    most = std::max(most, other.most);
    total_ps += other.total_ps;
    for (std::size_t b = 0; b < kBuckets; ++b) times[b] += other.times[b];
  }
};

/// For a queue both of whose ends one component sees. Precondition: times do not decrease from call to call.
class QueueDepth {
 public:
  void enter(std::uint64_t ps) {
    pass(counters_, ps);
    since_ = ps;
    ++depth_;
    ++counters_.entered;
    counters_.most = std::max(counters_.most, depth_);
  }
  /// Precondition: something is there.
  void leave(std::uint64_t ps) {
    pass(counters_, ps);
    since_ = ps;
    --depth_;
  }
  /// The counters at `ps`, with the entries that are still in the queue.
  [[nodiscard]] DepthCounters counters(std::uint64_t ps) const {
    DepthCounters all = counters_;
    pass(all, ps);
    all.queues = 1;
    return all;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, depth_, since_, counters_);
  }

 private:
  void pass(DepthCounters& counters, std::uint64_t ps) const {
    if (depth_ == 0 || ps <= since_) return;
    counters.total_ps += depth_ * (ps - since_);
    const auto bucket = static_cast<std::size_t>(std::bit_width(depth_)) - 1;
    counters.times[std::min(bucket, DepthCounters::kBuckets - 1)] += ps - since_;
  }

  std::uint64_t depth_ = 0, since_ = 0;
  DepthCounters counters_;
};

/// For a first-in-first-out queue of which only the reader reports: for each entry that it takes, in order,
/// it says when that had arrived. Entries that have not been taken do not count.
class StayDepth {
 public:
  void stay(std::uint64_t from, std::uint64_t to) {
    for (; !left_.empty() && left_.front() <= from; left_.pop()) depth_.leave(left_.front());
    depth_.enter(from);
    left_.push(std::max(from, to));
  }
  [[nodiscard]] DepthCounters counters(std::uint64_t ps) const {
    QueueDepth all = depth_;
    for (std::size_t i = 0; i < left_.size(); ++i) all.leave(left_[i]);
    return all.counters(ps);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, depth_, left_);
  }

 private:
  QueueDepth depth_;
  Ring<std::uint64_t> left_;  // when the entries left that were in the queue when the latest one arrived
};

}  // namespace lockstep::net
