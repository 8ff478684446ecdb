// Does a launch get any further, or does it wait for a write from outside? Internal to src/exec.
//
// The executor is deterministic: where its whole state comes back, and no memory has changed in between, it
// will come back for ever, unless somebody else changes what it has read meanwhile. To know that costs a look
// at all registers, so it is asked rarely, and accesses are only watched in between.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "util/types.hpp"

namespace lockstep::exec {

/// What all of a launch do while somebody asks.
struct Watch {
  struct Value {
    std::uint32_t bytes = 0;
    std::uint64_t bits = 0;
  };
  unsigned askers = 0;
  std::uint64_t changes = 0;        // of memory but threads' own, and of the world outside
  std::uint64_t reads = 0;          // of global memory
  std::map<Address, Value> values;  // what these found last, since there were no askers

  [[nodiscard]] bool on() const { return askers != 0; }
  /// To be called before the read: a write that comes between is then seen as one that comes later.
  void read(Address address, std::uint32_t bytes);
};

/// A number that differs, in practice, where states do.
class Fingerprint {
 public:
  void add(std::uint64_t word) { value_ = (std::rotl(value_, 5) ^ word) * 0x9e3779b97f4a7c15; }
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Asks, round by round, whether a state has come back.
class StandStill {
 public:
  /// Before the first look: so many rounds, or so many instructions.
  StandStill(Watch& watch, std::uint64_t rounds, std::uint64_t instructions)
      : watch_(watch), patience_(rounds), long_(instructions) {}
  ~StandStill() { stop(); }
  StandStill(const StandStill&) = delete;
  StandStill& operator=(const StandStill&) = delete;

  /// The state has been changed from outside: asks anew, as patiently as at first.
  void restart() {
    stop();
    rounds_ = 0;
  }

  enum class Answer : std::uint8_t {
    kUnknown,
    kBegun,   // from here on it is watched
    kStands,  // as it was at the last kBegun, and so for ever if what was read stays as it is
    kDead,    // as kStands, and nothing was read that anybody else could write
  };
  /// After a round. `instructions`: executed since the first one began. `print()`: of the state now.
  template <class Print>
  [[nodiscard]] Answer round(std::uint64_t instructions, Print&& print) {
    ++rounds_;
    if (watching_) {
      const bool quiet = watch_.changes == changes_;
      if (quiet && print() == kept_) return stop(), watch_.reads != reads_ ? Answer::kStands : Answer::kDead;
      if (quiet && ++compared_ < kLongestPeriod) return Answer::kUnknown;
      stop();
    }
    if (!std::has_single_bit(rounds_) || (rounds_ < patience_ && instructions < long_))
      return Answer::kUnknown;
    begin(print());
    return Answer::kBegun;
  }

 private:
  static constexpr unsigned kLongestPeriod = 8;  // rounds
  void begin(std::uint64_t print);
  void stop();

  Watch& watch_;
  std::uint64_t patience_, long_, rounds_ = 0, kept_ = 0, changes_ = 0, reads_ = 0;
  unsigned compared_ = 0;
  bool watching_ = false;
};

}  // namespace lockstep::exec
