// The consistency rules between values. resolve() applies all of them, so the simulator may rely on them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/gpu_config.hpp"
#include "util/types.hpp"

namespace lockstep::config {

struct Inconsistency {
  std::vector<std::string_view> keys;  // the keys whose values disagree
  std::string message;                 // what was expected
};
/// The first rule that the configuration breaks.
[[nodiscard]] std::optional<Inconsistency> first_inconsistency(const GpuConfig& config);

/// The smallest latency of a channel between domains, in whole core cycles.
[[nodiscard]] Cycle shortest_channel(const GpuConfig& config);

}  // namespace lockstep::config
