// The parameters in a system's sections: one row each, from which reader and writer are made.
#pragma once

#include <cstdint>
#include <vector>

#include "config/schema.hpp"
#include "config/system_config.hpp"

namespace lockstep::config {

/// A parameter of a kind of link.
struct LinkField {
  Parameter parameter;
  std::uint64_t (*get)(const LinkKind&);
  void (*set)(LinkKind&, std::uint64_t);
  bool optional = false;  // may be omitted
};
[[nodiscard]] const std::vector<LinkField>& link_fields();

/// A parameter of [port].
struct PortField {
  Parameter parameter;
  std::uint32_t SystemConfig::*field;
};
[[nodiscard]] const std::vector<PortField>& port_fields();

}  // namespace lockstep::config
