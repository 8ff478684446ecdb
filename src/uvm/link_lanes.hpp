// Both directions of the host link, as used by migrations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "uvm/host_link.hpp"
#include "uvm/link.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

/// Lines that begin to cross the link.
struct Move {
  Direction direction = Direction::kToDevice;
  bool discard = false;  // nothing is copied: the pages' lines only leave the L2
  bool keep = false;     // copied to the host, but they stay
  TreeId tree = 0;
  std::uint16_t first = 0, pages = 0;
  Cycle cycles = 0;  // on the link
};

/// A direction carries one transfer at a time. The transfer ends when its time on the link is over and, if
/// the owner moves the lines, moved() has been called for it.
class LinkLanes {
 public:
  explicit LinkLanes(bool owner_moves) : owner_moves_(owner_moves) {}

  /// Before the run: other users share the link.
  void share(HostLink& link) { host_link_ = &link; }
  [[nodiscard]] bool may_begin(Direction d) const {
    return !host_link_ || host_link_->migration_may_begin(d);
  }
  /// Precondition: not busy.
  void begin(Direction d, Cycle now, Cycle cycles) { lane(d) = {true, now, now + cycles, false}; }
  /// The owner is to move the transfer's lines, if it does that.
  void move(Move move) {
    if (!owner_moves_) return;
    Lane& l = lane(move.direction);
    l.moving = true;
    move.cycles = l.end - l.start;
    moves_.push_back(move);
  }
  void moved(Direction d) { lane(d).moving = false; }
  void end(Direction d) { lane(d).busy = false; }
  /// The transfer under way ends later; false if there is none.
  bool delay(Direction d, Cycle cycles) {
    if (!lane(d).busy || cycles == 0) return false;
    lane(d).end += cycles;
    return true;
  }

  [[nodiscard]] bool busy(Direction d) const { return lane(d).busy; }
  [[nodiscard]] bool moving(Direction d) const { return lane(d).moving; }
  [[nodiscard]] Cycle start(Direction d) const { return lane(d).start; }
  [[nodiscard]] bool over(Direction d, Cycle now) const { return next_end(d) <= now; }
  /// When the transfer under way ends; kNever if there is none, or if moved() has to be called first.
  [[nodiscard]] Cycle next_end(Direction d) const {
    return lane(d).busy && !lane(d).moving ? lane(d).end : kNever;
  }
  /// Reports to the link what migrations do and need; it decides. True if its decision has changed.
  bool arbitrate(Direction d, bool wanted, Cycle now) {
    host_link_->say(d, HostLink::Migrations{lane(d).busy, wanted, lane(d).start});
    return host_link_->decide(d, now);
  }

  /// Transfers that have begun since the list was last cleared.
  [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }
  void clear_moves() { moves_.clear(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(owner_moves_), lanes_, moves_, a.given(host_link_));
  }

 private:
  struct Lane {
    bool busy = false;
    Cycle start = 0, end = 0;
    bool moving = false;  // the owner has not moved all of its lines
  };
  [[nodiscard]] Lane& lane(Direction d) { return lanes_[static_cast<unsigned>(d)]; }
  [[nodiscard]] const Lane& lane(Direction d) const { return lanes_[static_cast<unsigned>(d)]; }

  bool owner_moves_;
  std::array<Lane, 2> lanes_;
  std::vector<Move> moves_;
  HostLink* host_link_ = nullptr;  // null: only migrations use the link
};

}  // namespace lockstep::uvm
