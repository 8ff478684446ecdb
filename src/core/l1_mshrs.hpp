// Miss-status registers of the L1: lines with sectors under way, and the operations that wait for them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "util/bits.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// Registers are found by line through a small hash table with linear probing. Their memory grows with the
/// most that are in use at a time, which is far less than there are in most kernels.
class L1Mshrs {
 public:
  static constexpr std::uint16_t kNone = 0xffff;

  explicit L1Mshrs(std::uint32_t count)
      : count_(count), table_(std::bit_ceil(std::size_t{count} * 2 + 2), kNone) {
    assert(count < kNone);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(table_.size()));
  }

  [[nodiscard]] bool full() const { return used() == count_; }
  [[nodiscard]] std::size_t used() const { return registers_.size() - free_.size(); }

  /// The line's register; kNone.
  [[nodiscard]] std::uint16_t find(Address line) const {
    for (std::size_t i = hash(line);; i = next(i)) {
      const std::uint16_t r = table_[i];
      if (r == kNone || registers_[r].line == line) return r;
    }
  }
  [[nodiscard]] SectorMask pending(std::uint16_t r) const { return registers_[r].pending; }

  /// Whether a fill of a line of [first, first + bytes) is under way.
  [[nodiscard]] bool any_in(Address first, Address bytes) const {
    return std::any_of(registers_.begin(), registers_.end(),
                       [&](const Register& r) { return r.pending != 0 && r.line - first < bytes; });
  }

  [[nodiscard]] std::uint16_t take(Address line) {
    assert(!full() && find(line) == kNone);
    const std::uint16_t r = free_register();
    registers_[r] = {line, kEnd, 0};
    std::size_t i = hash(line);
    while (table_[i] != kNone) i = next(i);
    table_[i] = r;
    return r;
  }

  /// The operation with pending-table entry `entry` waits for `sectors`, of which `asked` have just been
  /// asked for.
  void wait(std::uint16_t r, SectorMask sectors, SectorMask asked, std::uint16_t entry) {
    Register& m = registers_[r];
    m.pending |= asked;
    std::uint32_t node = free_waiter_;
    if (node == kEnd) {
      node = static_cast<std::uint32_t>(waiters_.size());
      waiters_.emplace_back();
    } else {
      free_waiter_ = waiters_[node].next;
    }
    waiters_[node] = {m.waiters, entry, sectors};
    m.waiters = node;
  }

  /// Sectors have arrived: arrived(entry, number of its sectors), newest waiter first. The register is free
  /// again when nothing is pending. Returns the line.
  template <class F>
  Address fill(std::uint16_t r, SectorMask sectors, F&& arrived) {
    Register& m = registers_[r];
    const Address line = m.line;
    for (std::uint32_t* link = &m.waiters; *link != kEnd;) {
      Waiter& w = waiters_[*link];
      const auto mine = static_cast<SectorMask>(w.sectors & sectors);
      w.sectors = static_cast<SectorMask>(w.sectors & ~sectors);
      const std::uint16_t entry = w.entry;
      if (w.sectors == 0) {
        const std::uint32_t node = *link;
        *link = w.next;
        waiters_[node].next = free_waiter_;
        free_waiter_ = node;
      } else {
        link = &w.next;
      }
      if (mine) arrived(entry, bit_count(mine));
    }
    m.pending = static_cast<SectorMask>(m.pending & ~sectors);
    if (m.pending == 0) release(r);
    return line;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(count_), registers_, free_, table_, waiters_, free_waiter_, a.given(shift_));
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  struct Register {
    Address line = 0;
    std::uint32_t waiters = kEnd;
    SectorMask pending = 0;
  };
  struct Waiter {
    std::uint32_t next = kEnd;
    std::uint16_t entry = 0;
    SectorMask sectors = 0;
  };

  [[nodiscard]] std::uint16_t free_register() {
    if (free_.empty()) {
      registers_.emplace_back();
      return static_cast<std::uint16_t>(registers_.size() - 1);
    }
    const std::uint16_t r = free_.back();
    free_.pop_back();
    return r;
  }
  [[nodiscard]] std::size_t hash(Address line) const {
    return (line / kLineBytes * 0x9e3779b97f4a7c15u) >> shift_;
  }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (table_.size() - 1); }

  void release(std::uint16_t r) {
    std::size_t hole = hash(registers_[r].line);
    while (table_[hole] != r) hole = next(hole);
    // Close the gap: whatever was pushed past it moves back.
    for (std::size_t i = next(hole); table_[i] != kNone; i = next(i)) {
      const std::size_t home = hash(registers_[table_[i]].line), mask = table_.size() - 1;
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        table_[hole] = table_[i];
        hole = i;
      }
    }
    table_[hole] = kNone;
    free_.push_back(r);
  }

  std::uint32_t count_;
  std::vector<Register> registers_;  // that have ever been in use
  std::vector<std::uint16_t> free_;  // of these
  std::vector<std::uint16_t> table_;
  std::vector<Waiter> waiters_;
  std::uint32_t free_waiter_ = kEnd;
  unsigned shift_ = 0;
};

}  // namespace lockstep::core
