// The values of a configuration that nobody has measured or published: the comment behind each, its source,
// says "assumed".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/origin.hpp"
#include "config/schema.hpp"

namespace lockstep::config {

/// Whether a value's source says that there is none. A value that the user sets without a comment is not
/// assumed.
[[nodiscard]] bool is_assumed(const Origin& origin);

struct AssumedValue {
  const Parameter* parameter = nullptr;
  Origin origin;
};
/// In the order of the schema.
[[nodiscard]] std::vector<AssumedValue> assumed_values(const Resolved& resolved);

/// A multiple of a value: the text to assign, with its unit, or the reason why there is none.
struct Multiple {
  std::string value;   // empty where there is none
  std::string reason;  // empty where there is one
};
/// `numerator / denominator` of the value, rounded down. Says nothing of values that disagree with others.
[[nodiscard]] Multiple multiple(const Parameter& parameter, const GpuConfig& config, std::uint64_t numerator,
                                std::uint64_t denominator);

}  // namespace lockstep::config
