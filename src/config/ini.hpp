// The INI reader: text to assignments, without knowing what the keys mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// `key = value`; the key is prefixed with its section. `note`: the comment behind the value.
struct Assignment {
  std::string key, value, note;
  std::string file;
  std::uint64_t line = 0;
};

struct IniText {
  std::vector<Assignment> includes;     // key "include"; they stand before everything else
  std::vector<Assignment> assignments;  // in the order of the file
};

/// Lines are empty, `[group]`, `key = value` or `include = NAME`; `;` or `#` starts a comment, at the start
/// of a line or after a blank. `file` is the name for errors. Throws InputError.
[[nodiscard]] IniText parse_ini(std::string_view text, const std::string& file);

/// The content of a file of at most 1 MiB. Throws UserError / InputError, which says that `what` is expected.
[[nodiscard]] std::string read_text_file(const std::string& file, std::string_view what = "an INI file");

}  // namespace lockstep::config
