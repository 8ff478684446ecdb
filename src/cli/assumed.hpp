// `lockstep config --assumed`: a GPU's parameters that have not been measured, and their influence.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/origin.hpp"

namespace lockstep::cli {

struct AssumedRequest {
  config::Resolved resolved;
  /// The configuration with one more assignment, "key=value", behind all others. Throws UserError.
  std::function<config::GpuConfig(const std::string& assignment)> with;
  std::vector<std::string> traces;  // to simulate with half and double of each value; empty: none
  bool json = false;
};

/// Prints the list: in the order of the schema, with traces those of the greatest influence first. Throws
/// UserError.
void print_assumed(const AssumedRequest& request);

}  // namespace lockstep::cli
