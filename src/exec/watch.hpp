// Does a launch make progress, or does it wait for a write from outside? Internal to src/exec.
//
// The executor is deterministic: if its whole state repeats and no memory has changed in between, it repeats
// for ever, unless a write from outside changes what it has read. Comparing states means hashing all
// registers, so it is done rarely. Watching accesses makes them several times slower, so it begins only once
// the registers alone have repeated.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "util/types.hpp"

namespace lockstep::exec {

/// The memory accesses of a launch while a LivelockDetector is watching.
struct Watch {
  struct Value {
    std::uint32_t bytes = 0;
    std::uint64_t bits = 0;
  };
  unsigned askers = 0;
  unsigned comparers = 0;           // detectors that compare states: clocks that only pace a wait stand still
  std::uint64_t changes = 0;        // of memory other than the threads' own, and of the world outside
  std::uint64_t reads = 0;          // of global memory
  std::map<Address, Value> values;  // last value read, since watching began

  [[nodiscard]] bool on() const { return askers != 0; }
  [[nodiscard]] bool compares() const { return comparers != 0; }
  /// To be called before the read, so that a write in between counts as a later one.
  void read(Address address, std::uint32_t bytes);
};

/// A hash of a state.
class Fingerprint {
 public:
  void add(std::uint64_t word) { value_ = (std::rotl(value_, 5) ^ word) * 0x9e3779b97f4a7c15; }
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Checks, round by round, whether a state repeats.
class LivelockDetector {
 public:
  /// The first check comes after `rounds` rounds or `instructions` instructions.
  LivelockDetector(Watch& watch, std::uint64_t rounds, std::uint64_t instructions)
      : watch_(watch), patience_(rounds), long_(instructions) {}
  ~LivelockDetector() { stop(); }
  LivelockDetector(const LivelockDetector&) = delete;
  LivelockDetector& operator=(const LivelockDetector&) = delete;

  /// The state has been changed from outside: starts again with the first check.
  void restart() {
    stop();
    rounds_ = 0;
  }

  enum class Verdict : std::uint8_t {
    kUnknown,
    kBegun,   // watching begins here
    kStands,  // equals the state at the last kBegun: repeats for ever unless memory that was read changes
    kDead,    // as kStands, and no memory was read that anything else could write
  };
  /// After a round. `instructions`: executed since the first one began. `print()`: of the state now.
  template <class Print>
  [[nodiscard]] Verdict round(std::uint64_t instructions, Print&& print) {
    ++rounds_;
    if (watching_) {
      const bool quiet = watch_.changes == changes_;
      if (quiet && print() == kept_)
        return stop(), watch_.reads != reads_ ? Verdict::kStands : Verdict::kDead;
      if (quiet && ++compared_ < kLongestPeriod) return Verdict::kUnknown;
      stop();
    }
    if (comparing_ && !watching_) {
      if (print() == kept_) return begin(kept_), Verdict::kBegun;
      if (++compared_ == kLongestPeriod) stop();
    } else if (std::has_single_bit(rounds_) && (rounds_ >= patience_ || instructions >= long_)) {
      kept_ = print();
      comparing_ = true;
      ++watch_.comparers;
      compared_ = 0;
    }
    return Verdict::kUnknown;
  }

 private:
  static constexpr unsigned kLongestPeriod = 8;  // rounds
  void begin(std::uint64_t print);
  void stop();

  Watch& watch_;
  std::uint64_t patience_, long_, rounds_ = 0, kept_ = 0, changes_ = 0, reads_ = 0;
  unsigned compared_ = 0;
  bool comparing_ = false;  // states, and without watching until one has come back
  bool watching_ = false;
};

}  // namespace lockstep::exec
