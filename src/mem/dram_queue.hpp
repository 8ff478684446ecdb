// Transactions of a DRAM channel, in a list for each bank and direction, oldest first.
#pragma once

#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::mem {

/// Who gets a read's data.
struct FillTarget {
  std::uint16_t slice = 0;  // in the partition
  std::uint16_t mshr = 0;
  SectorMask sectors = 0;
};

/// Column accesses to one row for one line.
struct DramTransaction {
  std::uint64_t row = 0;
  std::uint16_t bank = 0;
  std::uint8_t bursts = 0;  // still to do
  std::uint8_t kernel = 0;
  bool write = false;
  FillTarget fill;  // reads
};

class DramQueue {
 public:
  static constexpr std::uint16_t kNone = 0xffff;
  struct Node {
    DramTransaction work;
    std::uint64_t age = 0;  // ascending in the order of arrival
    std::uint16_t next = kNone, previous = kNone;
  };

  DramQueue(std::uint32_t banks, std::uint32_t capacity) : lists_(banks * 2), nodes_(capacity) {
    for (std::uint32_t i = 0; i < capacity; ++i)
      free_.push_back(static_cast<std::uint16_t>(capacity - 1 - i));
  }

  [[nodiscard]] std::uint16_t head(std::uint32_t bank, bool write) const {
    return lists_[bank * 2 + write].head;
  }
  [[nodiscard]] Node& operator[](std::uint16_t i) { return nodes_[i]; }
  [[nodiscard]] const Node& operator[](std::uint16_t i) const { return nodes_[i]; }
  [[nodiscard]] std::uint32_t reads() const { return count_[0]; }
  [[nodiscard]] std::uint32_t writes() const { return count_[1]; }

  /// The oldest transaction in the bank's list for this row; kNone if the list is empty.
  [[nodiscard]] std::uint16_t find_row(std::uint32_t bank, bool write, std::uint64_t row) const {
    std::uint16_t i = head(bank, write);
    while (i != kNone && nodes_[i].work.row != row) i = nodes_[i].next;
    return i;
  }

  std::uint16_t push(const DramTransaction& work) {
    const std::uint16_t i = free_.back();
    free_.pop_back();
    List& list = lists_[work.bank * 2u + work.write];
    nodes_[i] = {work, ++ages_, kNone, list.tail};
    (list.tail == kNone ? list.head : nodes_[list.tail].next) = i;
    list.tail = i;
    ++count_[work.write];
    return i;
  }

  void remove(std::uint16_t i) {
    const Node& n = nodes_[i];
    List& list = lists_[n.work.bank * 2u + n.work.write];
    (n.previous == kNone ? list.head : nodes_[n.previous].next) = n.next;
    (n.next == kNone ? list.tail : nodes_[n.next].previous) = n.previous;
    --count_[n.work.write];
    free_.push_back(i);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, lists_, nodes_, free_, ages_, count_);
  }

 private:
  struct List {
    std::uint16_t head = kNone, tail = kNone;
  };
  std::vector<List> lists_;  // bank * 2 + write
  std::vector<Node> nodes_;
  std::vector<std::uint16_t> free_;
  std::uint64_t ages_ = 0;
  std::uint32_t count_[2] = {};
};

}  // namespace lockstep::mem
