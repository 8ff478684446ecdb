// Where each value of a configuration comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "config/gpu_config.hpp"

namespace lockstep::config {

/// Where a value was last set.
struct Origin {
  enum class Kind : std::uint8_t {
    kDefault,     // not set; the default is v100's value, with v100's `note`
    kFile,        // a GPU model's file or the user's
    kAssignment,  // an assignment passed to resolve(), such as those from Accel-Sim's files
    kOption,      // --set
  };
  Kind kind = Kind::kDefault;
  std::string place;  // "configs/v100.ini:14", "my.ini:3", "--set"; "default"
  std::string note;   // the comment behind the value, which gives its source; may be empty
};
/// By canonical key. A resolved configuration has an entry for every parameter.
using Origins = std::map<std::string, Origin, std::less<>>;

/// A checked configuration that remembers where its values come from.
struct Resolved {
  GpuConfig config;
  Origins origins;
};

}  // namespace lockstep::config
