// The times of an earlier run's events, for a program that is executed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cuda {

class EventTimes {
 public:
  /// `path`: picoseconds, one a line, in the order in which the program records its events that have a time;
  /// empty: no run is shown. Throws UserError.
  explicit EventTimes(const std::string& path);

  /// The number of the record that the program makes now: from 0 on.
  std::uint64_t count_record() { return records_++; }
  /// From one record to another one. Nothing where the earlier run does not have both.
  [[nodiscard]] std::optional<float> milliseconds(std::uint64_t from, std::uint64_t to) const;

 private:
  std::vector<std::uint64_t> times_;
  std::uint64_t records_ = 0;
};

}  // namespace lockstep::cuda
