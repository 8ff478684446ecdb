// The numbers of a system's sections about networking: one row for each, from which reader, writer and
// document are made.
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
  std::string source;   // of the default
  std::uint32_t& (*field)(NetworkConfig&);
  [[nodiscard]] std::uint32_t get(const NetworkConfig& config) const {
    return field(const_cast<NetworkConfig&>(config));
  }
};
/// By section; sections in one run each. [node] and its `design` are not among them.
[[nodiscard]] const std::vector<NetworkField>& network_fields();

[[nodiscard]] bool is_network_section(std::string_view section);
/// Throws UserError, as number_of() does, and with what is near where there is no such key.
void set_network_value(NetworkConfig& to, std::string_view section, const std::string& key,
                       const std::string& value);

/// The values that do not fit each other: throws UserError naming the keys.
void check_network(const NetworkConfig& config);

/// The rows as a table of Markdown: key, default, unit and range, meaning, source.
[[nodiscard]] std::string network_markdown();

}  // namespace lockstep::config
