// Lines in flight of an L2 slice, and the requests that wait for them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "icnt/messages.hpp"
#include "mem/tag_array.hpp"
#include "util/aligned.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// A request that waits for sectors.
struct Waiter {
  icnt::Request request;
  SectorMask awaited = 0;  // sectors still to come
  bool from_far = false;   // came from the other half
};

/// Found without a search: a line in flight knows its entry. `merges` requests may wait for a line of this
/// half, `far_merges` for data of the other half.
class MshrFile {
 public:
  MshrFile(std::uint32_t entries, std::uint32_t merges, std::uint32_t far_merges)
      : merges_{merges, far_merges}, entries_(entries) {
    for (std::uint32_t i = 0; i < entries; ++i) free_.push_back(static_cast<std::uint16_t>(entries - 1 - i));
  }

  [[nodiscard]] bool full() const { return free_.empty(); }
  [[nodiscard]] std::size_t in_use() const { return entries_.size() - free_.size(); }
  [[nodiscard]] bool room_to_merge(std::uint16_t mshr, bool far) const {
    return entries_[mshr].waiters < merges_[far];
  }
  [[nodiscard]] LineIndex index(std::uint16_t mshr) const { return entries_[mshr].index; }

  [[nodiscard]] std::uint16_t allocate(LineIndex index) {
    const std::uint16_t mshr = free_.back();
    free_.pop_back();
    entries_[mshr] = {index, kEnd, kEnd, 0};
    return mshr;
  }
  void release(std::uint16_t mshr) { free_.push_back(mshr); }

  void wait(std::uint16_t mshr, const Waiter& waiter) {
    std::uint32_t node = free_node_;
    if (node == kEnd) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_node_ = nodes_[node].next;
    }
    nodes_[node] = {waiter, kEnd};
    Entry& e = entries_[mshr];
    (e.tail == kEnd ? e.head : nodes_[e.tail].next) = node;
    e.tail = node;
    ++e.waiters;
  }

  /// Sectors of the line have come: f(request, those that it waited for, all are here, from_far) for each
  /// request concerned, in the order of arrival; who has all leaves.
  template <class F>
  void serve(std::uint16_t mshr, SectorMask sectors, F&& f) {
    Entry& e = entries_[mshr];
    std::uint32_t previous = kEnd;
    for (std::uint32_t n = e.head; n != kEnd;) {
      Waiter& w = nodes_[n].waiter;
      const auto got = static_cast<SectorMask>(w.awaited & sectors);
      const std::uint32_t next = nodes_[n].next;
      w.awaited = static_cast<SectorMask>(w.awaited & ~got);
      if (got) f(w.request, got, w.awaited == 0, w.from_far);
      if (got && w.awaited == 0) {
        (previous == kEnd ? e.head : nodes_[previous].next) = next;
        if (next == kEnd) e.tail = previous;
        nodes_[n].next = free_node_;
        free_node_ = n;
        --e.waiters;
      } else {
        previous = n;
      }
      n = next;
    }
  }

  /// f(mshr, index, waiting requests) for every line in flight, for the deadlock report.
  template <class F>
  void for_each(const TagArray& tags, F&& f) const {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (tags[entries_[i].index].mshr == i && entries_[i].waiters > 0)
        f(static_cast<std::uint16_t>(i), entries_[i].index, entries_[i].waiters);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(merges_), entries_, free_, nodes_, free_node_);
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  struct Entry {
    LineIndex index = 0;
    std::uint32_t head = kEnd, tail = kEnd, waiters = 0;
  };
  struct Node {
    Waiter waiter;
    std::uint32_t next = kEnd;
  };

  std::array<std::uint32_t, 2> merges_;  // by whether the line is a copy of the other half's
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> free_;
  AlignedVector<Node> nodes_;  // a pool; free ones are linked
  std::uint32_t free_node_ = kEnd;
};

}  // namespace lockstep::mem
