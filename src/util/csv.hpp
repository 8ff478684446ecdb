// Text in comma-separated values.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// `text` as a field: in quotes where it must be (RFC 4180).
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace lockstep
