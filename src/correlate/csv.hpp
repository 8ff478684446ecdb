// Comma-separated values as tools write them (RFC 4180): quoted fields with commas, quotes and line breaks, a
// byte order mark, lines that end with CR LF.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::correlate {

struct CsvRow {
  std::uint64_t line = 0;  // where it begins
  std::vector<std::string> fields;
};

/// Empty lines are passed over. Throws InputError for a quote that is not closed, and for what follows a
/// closing quote. `file` is the name for errors, `first_line` the number of the text's first line in it.
[[nodiscard]] std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file,
                                            std::uint64_t first_line = 1);

}  // namespace lockstep::correlate
