// Accel-Sim's configuration files as they are: gpgpusim.config and trace.config (`-option value`), and the
// BookSim file of its interconnect (`key = value;`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::accelsim {

/// One setting with its place. `name` has its dash in option files and none in BookSim files.
struct Option {
  std::string name, value;
  std::string file;
  std::uint64_t line = 0;
};

/// The settings of one file in its order; `file` is the name for errors. Which of the two forms it has is
/// seen from its first token. `#` and `//` start comments in option and BookSim files; a quoted value may go
/// over several lines, which count as blanks. Throws InputError.
[[nodiscard]] std::vector<Option> parse_options(std::string_view text, const std::string& file);

/// All files, one after the other; of each at most 1 MiB. Throws UserError / InputError.
[[nodiscard]] std::vector<Option> read_files(const std::vector<std::string>& files);

}  // namespace lockstep::accelsim
