// Where the values of a product come from: the comments behind them in its INI file.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockstep::config {

using Sources = std::map<std::string, std::string>;  // canonical key -> comment

/// Empty where `product` is none.
[[nodiscard]] Sources sources_of(std::string_view product);

}  // namespace lockstep::config
