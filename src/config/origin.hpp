// Where each value of a configuration comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "config/gpu_config.hpp"

namespace lockstep::config {

/// Where a value was set last.
struct Origin {
  enum class Kind : std::uint8_t {
    kDefault,     // nothing sets it; the default is v100's value, `note` that of v100
    kFile,        // of a product or of the user
    kAssignment,  // of the assignments given to resolve(), such as those of Accel-Sim's files
    kOption,      // --set
  };
  Kind kind = Kind::kDefault;
  std::string place;  // "configs/v100.ini:14", "my.ini:3", "--set"; "default"
  std::string note;   // the comment behind the value: its source. Empty: none
};
/// By canonical key. Of a resolved configuration: of every parameter.
using Origins = std::map<std::string, Origin, std::less<>>;

/// A checked configuration that remembers where its values come from.
struct Resolved {
  GpuConfig config;
  Origins origins;
};

}  // namespace lockstep::config
