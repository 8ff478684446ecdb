// Pairs of a measured and a simulated value from a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "correlate/match.hpp"

namespace lockstep::correlate {

/// `text`: CSV with the columns `hardware` and `simulated`, where they are known `program`, `kernel`,
/// `launch`, `instances` and `counter` (else "value"), as to_csv() writes it; others are passed over. Values
/// are finite. Throws InputError naming the line and what was expected.
[[nodiscard]] std::vector<Pair> parse_pairs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<Pair> read_pairs(const std::string& file);

}  // namespace lockstep::correlate
