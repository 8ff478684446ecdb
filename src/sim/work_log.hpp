// What each window of a run consisted of: the ground of bench/scaling, which schedules it on more threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network.hpp"

namespace lockstep::sim {

/// Filled by an engine of one thread. Takes about 8 bytes for each domain and window.
class WorkLog {
 public:
  /// A window begins; before it the leader alone worked for so long.
  void window(double serial_seconds) {
    serial_.push_back(nanoseconds(serial_seconds));
    first_item_.push_back(items_.size());
  }
  /// What the window did next: a task, or a domain.
  void task(double seconds) { items_.push_back({kTask, nanoseconds(seconds)}); }
  void domain(DomainId id, double seconds) { items_.push_back({id, nanoseconds(seconds)}); }

  [[nodiscard]] std::size_t windows() const { return serial_.size(); }
  [[nodiscard]] std::size_t items() const { return items_.size(); }

  /// A line for each window, in ns: its serial part, then tasks as NS and domains as ID:NS.
  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t w = 0; w < serial_.size(); ++w) {
      out += std::to_string(serial_[w]);
      const std::size_t end = w + 1 < first_item_.size() ? first_item_[w + 1] : items_.size();
      for (std::size_t i = first_item_[w]; i < end; ++i) {
        out += ' ';
        if (items_[i].id != kTask) out += std::to_string(items_[i].id) + ':';
        out += std::to_string(items_[i].nanoseconds);
      }
      out += '\n';
    }
    return out;
  }

 private:
  static std::uint32_t nanoseconds(double seconds) {
    constexpr double kMaxNanoseconds = 4e9;
    return static_cast<std::uint32_t>(seconds * 1e9 < kMaxNanoseconds ? seconds * 1e9 : kMaxNanoseconds);
  }

  static constexpr DomainId kTask = 0xffffffff;
  struct Item {
    DomainId id;
    std::uint32_t nanoseconds;
  };

  std::vector<std::uint32_t> serial_;
  std::vector<Item> items_;
  std::vector<std::size_t> first_item_;
};

}  // namespace lockstep::sim
