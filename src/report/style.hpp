// How the page looks, and the little that it does.
#pragma once

#include <string_view>

namespace lockstep::report {

[[nodiscard]] std::string_view page_style();
/// Sorting of tables and, before printing, unfolding; the page is whole without.
[[nodiscard]] std::string_view page_script();

}  // namespace lockstep::report
