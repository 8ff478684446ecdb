// Does a warp wait in a loop with several polls, at many places, on paths that part and meet? Internal to
// src/exec.
//
// All polls of the warp are one sequence, whichever split makes them. Where a stretch of it (place, lanes,
// addresses, values) comes again and again, the warp waits. The stretch begins where a certain poll, the
// anchor, comes again; where it does not, later polls become the anchor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "exec/watch.hpp"

namespace lockstep::exec {

class PollCycle {
 public:
  /// After a poll by `lanes` lanes. True: the warp waits, and no poll of its loop has more lanes: those that
  /// part in the loop are together here.
  [[nodiscard]] bool add(std::uint64_t poll, unsigned lanes) {
    sum_ = (sum_ ^ poll) * 0x9e3779b97f4a7c15;
    widest_ = std::max(widest_, lanes);
    ++length_;
    ++since_;
    if (poll == anchor_)
      close();
    else if (equal_ > 0 && length_ > period_)
      forget();
    if (equal_ == 0 && since_ >= patience_) move_to(poll);
    return equal_ >= enough() && lanes >= cycle_widest_;
  }
  /// Others have run since: a last round or a few polls decide whether it waits again.
  void ask_again() {
    if (equal_ > 0) equal_ = std::min(equal_, enough() - std::max(kAgain, period_));
  }
  void forget() { *this = {}; }
  void add_to(Fingerprint& print) const {
    for (const std::uint64_t word : {anchor_, sum_, cycle_sum_}) print.add(word);
    for (const unsigned word : {length_, period_, since_, patience_, equal_, widest_, cycle_widest_})
      print.add(std::uint64_t{word});
  }

 private:
  static constexpr unsigned kEqual = 16;      // polls that are alike before it counts as waiting,
  static constexpr unsigned kRounds = 4;      // and rounds of them
  static constexpr unsigned kAgain = 4;       // polls
  static constexpr unsigned kLongest = 2047;  // polls with one anchor, within which it comes again twice

  [[nodiscard]] unsigned enough() const { return std::max(kEqual, kRounds * period_); }
  /// The anchor has come again.
  void close() {
    const bool same = sum_ == cycle_sum_ && length_ == period_;
    if (!same && equal_ > 0) return forget();
    equal_ = same ? std::min(equal_ + period_, enough()) : 0;
    since_ = equal_ > 0 ? 0 : since_;
    cycle_sum_ = sum_;
    period_ = length_;
    cycle_widest_ = widest_;
    sum_ = 0;
    length_ = widest_ = 0;
  }
  void move_to(std::uint64_t poll) {
    const unsigned patience = std::min(2 * patience_ + 1, kLongest);
    *this = {};
    anchor_ = poll;
    patience_ = patience;
  }

  std::uint64_t anchor_ = 0, sum_ = 0, cycle_sum_ = 0;  // of the round that is under way, of the one before
  unsigned length_ = 0, period_ = 0;                    // polls of these
  unsigned widest_ = 0, cycle_widest_ = 0;              // most lanes of a poll in these
  unsigned since_ = 0, patience_ = 1;                   // polls with this anchor that led nowhere, and may
  unsigned equal_ = 0;                                  // polls in rounds that were like the one before
};

}  // namespace lockstep::exec
