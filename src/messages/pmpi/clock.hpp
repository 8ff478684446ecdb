// The times of an earlier run, for a program that is executed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep_pmpi {

/// Times of one process in the order in which it reads its clock.
class ShownClock {
 public:
  static constexpr double kSecondsOfPs = 1e-12;

  /// Reads the file that the environment names, if it names one: picoseconds, one a line.
  void begin();
  [[nodiscard]] bool is_shown() const { return shown_; }
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  [[nodiscard]] bool at_end() const { return next_ == times_.size(); }
  /// In seconds. Precondition: not at the end.
  double next() { return static_cast<double>(times_[next_++]) * kSecondsOfPs; }
  /// The latest one that was read; at first 0.
  [[nodiscard]] double last() const {
    return next_ == 0 ? 0 : static_cast<double>(times_[next_ - 1]) * kSecondsOfPs;
  }

 private:
  bool shown_ = false;
  std::vector<std::uint64_t> times_;
  std::size_t next_ = 0;
};

}  // namespace lockstep_pmpi
