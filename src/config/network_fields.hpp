// The parameters in a system's networking sections: one row each, from which reader, writer and documentation
// are made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/network_config.hpp"
#include "config/schema.hpp"

namespace lockstep::config {

struct NetworkField {
  std::string section;
  Parameter parameter;  // with its help
  std::string source;   // where the default comes from
  std::uint32_t& (*field)(NetworkConfig&);
  [[nodiscard]] std::uint32_t get(const NetworkConfig& config) const {
    return field(const_cast<NetworkConfig&>(config));
  }
};
/// All rows, grouped by section. [node] and its `design` are not included.
[[nodiscard]] const std::vector<NetworkField>& network_fields();

[[nodiscard]] bool is_network_section(std::string_view section);
/// Throws UserError, as number_of() does, and with what is near where there is no such key.
void set_network_value(NetworkConfig& to, std::string_view section, const std::string& key,
                       const std::string& value);

/// Checks values against each other: throws UserError naming the keys that disagree.
void check_network(const NetworkConfig& config);

/// The rows as a Markdown table: key, default, unit and range, meaning, source.
[[nodiscard]] std::string network_markdown();

}  // namespace lockstep::config
