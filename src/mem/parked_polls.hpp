// Polls of warps that wait for signals, which a slice keeps until their word has had them.
#pragma once

#include <cstdint>
#include <vector>

#include "icnt/messages.hpp"
#include "mem/signal_counts.hpp"
#include "sim/clock.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// A waiting warp polls its word (core::SignalWaits). Once its polls come at a steady rate, one that would
/// fail is parked here, and the warp sends no further ones. When the word has had its signals, the parked
/// poll is served at the edge at which the first successful poll would have been served: waiting costs no
/// simulation time, and the number of elided polls is known. Times are edges of the slice's clock.
class ParkedPolls {
 public:
  /// A poll whose turn has come, and the number of those before it that were not sent.
  struct Due {
    icnt::Request poll;
    bool far = false;
    std::uint64_t elided = 0;
  };

  /// `core_khz`, `khz`: of the clock in which polls say their rate, and of the slice's.
  ParkedPolls(std::uint64_t core_khz, std::uint64_t khz) : core_khz_(core_khz), khz_(khz) {}

  /// The most that are parked for the other half, where each occupies an entry.
  static constexpr std::uint32_t kMaxFar = 128;
  [[nodiscard]] bool takes(const icnt::Request& poll, bool far) const {
    return poll.may_park() && (!far || far_ < kMaxFar);
  }
  /// Precondition: takes(). `set`: of its line.
  void park(const icnt::Request& poll, bool far, std::uint32_t set, Cycle now);
  /// Words of the line have had signals at edge `now`.
  void signalled(Address line, const SignalCounts& signals, Cycle now);

  [[nodiscard]] bool empty() const { return polls_.empty(); }
  /// Edge from which front() may be served; kNever.
  [[nodiscard]] Cycle due() const { return due_; }
  [[nodiscard]] Due front() const;
  void pop();

  /// f(line) for those of the set.
  template <class F>
  void each_line(std::uint32_t set, F&& f) const {
    for (const Parked& parked : polls_)
      if (parked.set == set) f(parked.poll.line);
  }
  /// f(poll, since) for all.
  template <class F>
  void each(F&& f) const {
    for (const Parked& parked : polls_) f(parked.poll, parked.since);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(core_khz_), a.given(khz_), polls_, far_, due_, first_);
  }

 private:
  struct Parked {
    std::uint32_t set = 0;
    bool far = false;
    Cycle since = 0, due = kNever;
    std::uint64_t elided = 0;
    icnt::Request poll;
  };
  void time(Parked& parked, Cycle now) const;
  void find_due();

  std::uint64_t core_khz_, khz_;
  std::vector<Parked> polls_;  // in the order in which they came
  std::uint32_t far_ = 0;
  Cycle due_ = kNever;
  std::uint32_t first_ = 0;  // whose that is
};

}  // namespace lockstep::mem
