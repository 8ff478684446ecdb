// The pages on parameters, generated.
#pragma once

#include <string>

#include "config/config.hpp"

namespace lockstep::config {

/// docs/config/NAME.md: every key of one GPU, with its value and where that comes from. markdown(), in
/// config.hpp, is the page on what the keys mean.
[[nodiscard]] std::string markdown_of(const Resolved& resolved, std::string_view title);

}  // namespace lockstep::config
