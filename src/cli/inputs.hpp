// Files that a command reads, and therefore must not write.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::cli {

/// Whether both name the same existing file, by whatever paths.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// Whether `file` exists and belongs to the trace at `trace`: the file itself, or the list or a kernel in its
/// folder.
[[nodiscard]] bool is_file_of_trace(const std::string& file, const std::string& trace);

/// Whether `file` exists and is one of those that a run writes into its folder of results.
[[nodiscard]] bool is_file_of_results(const std::string& file, const std::string& folder);

/// Throws UserError if `is_input`: `option` names a file that the command reads.
void refuse_overwriting(std::string_view option, const std::string& file, bool is_input);

}  // namespace lockstep::cli
