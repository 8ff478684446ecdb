// Text in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// `text` as it stands in a cell of a table: bars do not end the cell.
[[nodiscard]] inline std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace lockstep
