// The assumed values of a configuration, neither measured nor published: the comment behind each, which gives
// its source, says "assumed".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/origin.hpp"
#include "config/schema.hpp"

namespace lockstep::config {

/// Whether the source of a value says that it is assumed. A value that the user sets without a comment does
/// not count as assumed.
[[nodiscard]] bool is_assumed(const Origin& origin);

struct AssumedValue {
  const Parameter* parameter = nullptr;
  Origin origin;
};
/// All of them, in the order of the schema.
[[nodiscard]] std::vector<AssumedValue> assumed_values(const Resolved& resolved);

/// A multiple of a value: the text to assign, with its unit, or the reason why it cannot be given.
struct Multiple {
  std::string value;   // empty if there is a reason
  std::string reason;  // empty if there is a value
};
/// `numerator / denominator` of the value, rounded down. Does not check it against other values.
[[nodiscard]] Multiple multiple(const Parameter& parameter, const GpuConfig& config, std::uint64_t numerator,
                                std::uint64_t denominator);

}  // namespace lockstep::config
