// The sub-cores' local queues and the arbiter that takes from them into the units they share.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/lsu_operation.hpp"

namespace lockstep::core {

/// What an operation needs once it leaves its sub-core.
enum class LsuUnit : std::uint8_t {
  kMemory,   // the load/store unit: shared memory, L1
  kTexture,  // the load/store unit behind the texture unit
  kShuffle,
  kSpecial,  // special registers, and what carries no addresses
  kConstant,
  kBulk,
  kTextureOnly,  // texture without addresses in the trace
  kCount
};
inline constexpr unsigned kLsuUnits = static_cast<unsigned>(LsuUnit::kCount);

/// Cycle from which each unit takes an operation; kNever: not before something else happens.
using LsuUnitTimes = std::array<Cycle, kLsuUnits>;

/// First in, first out for each sub-core. An operation stays `residence` cycles at least (operand read,
/// address calculation); a sub-core gives one up at most each mio.dispatch_interval cycles, all sub-cores
/// together one a cycle, in turn.
class LsuQueue {
 public:
  static constexpr unsigned kMaxSubcores = 4, kNone = kMaxSubcores;
  /// Entries that the hardware has beside mio.queue_entries: the latch in front of the address calculation
  /// (Huerta et al., MICRO 2025: four entries, five instructions are taken before the sixth waits).
  static constexpr unsigned kLatch = 1;

  LsuQueue(const config::MioGroup& mio, Cycle residence)
      : capacity_(mio.queue_entries + kLatch),
        shift_(static_cast<unsigned>(std::bit_width(capacity_ - 1))),
        residence_(residence),
        interval_(std::max(1u, mio.dispatch_interval)),
        items_(std::size_t{kMaxSubcores} << shift_) {
    head_from_.fill(kNever);
  }

  [[nodiscard]] bool can_accept(unsigned subcore) const { return side_[subcore].count < capacity_; }
  [[nodiscard]] bool empty() const { return total_ == 0; }
  [[nodiscard]] unsigned size(unsigned subcore) const { return side_[subcore].count; }

  /// The place of the next operation, which push() makes its last one. Precondition: can_accept.
  [[nodiscard]] MioOperation& next(unsigned subcore) {
    return at(subcore, side_[subcore].head + side_[subcore].count).operation;
  }
  /// Returns the cycle from which it may be picked; kNever while others of the sub-core stand before it.
  Cycle push(Cycle now, unsigned s, LsuUnit unit) {
    Side& side = side_[s];
    Item& item = at(s, side.head + side.count);
    item.from = now + residence_;
    item.unit = unit;
    ++total_;
    if (side.count++ > 0) return kNever;
    expose(s);
    return head_from_[s];
  }

  /// The sub-core whose turn it is among those whose first operation may go at `now`; kNone.
  [[nodiscard]] unsigned pick(Cycle now, const LsuUnitTimes& units) const {
    for (unsigned i = 1; i <= kMaxSubcores; ++i) {
      const unsigned s = (last_ + i) % kMaxSubcores;
      if (head_from_[s] <= now && units[head_unit_[s]] <= now) return s;
    }
    return kNone;
  }

  [[nodiscard]] const MioOperation& front(unsigned subcore) const {
    return items_[(std::size_t{subcore} << shift_) + (side_[subcore].head & ((1u << shift_) - 1))].operation;
  }
  [[nodiscard]] LsuUnit front_unit(unsigned subcore) const {
    return static_cast<LsuUnit>(head_unit_[subcore]);
  }

  void pop(Cycle now, unsigned subcore) {
    Side& side = side_[subcore];
    side.free_from = now + interval_;
    ++side.head;
    --total_;
    last_ = subcore;
    if (--side.count > 0) {
      expose(subcore);
    } else {
      head_from_[subcore] = kNever;
    }
  }

  /// Earliest cycle at which pick() finds something while the units stay as they are; may be in the past.
  [[nodiscard]] Cycle next_event(const LsuUnitTimes& units) const {
    Cycle next = kNever;
    for (unsigned s = 0; s < kMaxSubcores; ++s)
      next = std::min(next, std::max(head_from_[s], units[head_unit_[s]]));
    return next;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(capacity_), a.given(shift_), a.given(residence_), a.given(interval_), last_,
              total_, head_from_, head_unit_, side_, a.given(items_));
  }

 private:
  struct Item {
    Cycle from = 0;
    MioOperation operation;
    LsuUnit unit = LsuUnit::kMemory;
  };
  struct Side {
    std::uint32_t head = 0, count = 0;
    Cycle free_from = 0;
  };

  [[nodiscard]] Item& at(unsigned subcore, std::uint32_t position) {
    return items_[(std::size_t{subcore} << shift_) + (position & ((1u << shift_) - 1))];
  }
  void expose(unsigned subcore) {
    const Item& item = at(subcore, side_[subcore].head);
    head_from_[subcore] = std::max(item.from, side_[subcore].free_from);
    head_unit_[subcore] = static_cast<std::uint8_t>(item.unit);
  }

  std::uint32_t capacity_;
  unsigned shift_;
  Cycle residence_, interval_;
  unsigned last_ = kMaxSubcores - 1, total_ = 0;
  std::array<Cycle, kMaxSubcores> head_from_{};  // kNever: empty
  std::array<std::uint8_t, kMaxSubcores> head_unit_{};
  std::array<Side, kMaxSubcores> side_{};
  std::vector<Item> items_;  // a ring for each sub-core
};

}  // namespace lockstep::core
