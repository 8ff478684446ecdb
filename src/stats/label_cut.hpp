// Long texts cut so that those that differ stay different.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::stats {

/// Where each text stands, in the order of the texts.
[[nodiscard]] std::map<std::string, std::vector<std::size_t>> positions_by_text(
    const std::vector<std::string>& texts);

/// Each of `texts` in at most `width` characters (at least 8); "~" marks what is left out. Of texts that
/// would look the same, those parts are shown in which they differ. Where there is no room for all of these,
/// or the texts are the same, a number follows ("scale#2").
[[nodiscard]] std::vector<std::string> cut(const std::vector<std::string>& texts, std::size_t width);

}  // namespace lockstep::stats
