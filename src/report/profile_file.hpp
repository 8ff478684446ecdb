// Reads profile.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stats/profile.hpp"

namespace lockstep::report {

struct LaunchProfile {
  std::size_t kernel = 0;  // index in stats.json's kernels
  std::size_t code = 0;    // index of Profile::codes
  stats::KernelProfile counts;
};

struct Profile {
  std::string trace_hash, config_hash;
  std::vector<stats::ProfiledCode> codes;
  std::vector<LaunchProfile> kernels;
};

/// `text`: the content of `file`, the name for messages. Throws InputError unless it is a profile.json of
/// schema 1.
[[nodiscard]] Profile parse_profile(const std::string& text, const std::string& file);

}  // namespace lockstep::report
