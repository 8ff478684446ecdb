// The page's style sheet and script.
#pragma once

#include <string_view>

namespace lockstep::report {

[[nodiscard]] std::string_view page_style();
/// Sorts tables and expands all parts before printing; the page is complete without it.
[[nodiscard]] std::string_view page_script();

}  // namespace lockstep::report
