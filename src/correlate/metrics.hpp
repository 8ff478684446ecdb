// What a profiler's metric is called in stats.json: a table, one row per metric.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace lockstep::correlate {

struct Metric {
  std::string_view profiler;  // Nsight Compute's name, of the raw page or of its sections
  std::string_view counter;   // ours, of a kernel in stats.json, or one of kDerived
};
[[nodiscard]] std::span<const Metric> metrics();

/// Our name of a profiler's metric; nullopt: it has no counterpart.
[[nodiscard]] std::optional<std::string_view> counter_of(std::string_view profiler);

/// Not in stats.json, but a sum of what is: launch_cycles + cycles.
inline constexpr std::string_view kElapsedCycles = "elapsed_cycles";

}  // namespace lockstep::correlate
