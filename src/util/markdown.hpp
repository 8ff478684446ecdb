// Text in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// `text` as it stands in a cell of a table: bars do not end the cell, nor line breaks the row.
[[nodiscard]] inline std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') {
      const std::size_t last = out.find_last_not_of('\\');
      out.append(out.size() - (last == std::string::npos ? 0 : last + 1),
                 '\\');  // those before it stay as they are
      out.push_back('\\');
    }
    out.push_back(c == '\n' || c == '\r' ? ' ' : c);
  }
  return out;
}

}  // namespace lockstep
