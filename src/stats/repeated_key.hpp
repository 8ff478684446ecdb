// Objects of JSON that have a key twice: a parser keeps one of the values without a word.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::stats {

/// The path of the first key that its object has already ("total.l1.hits"; lists have no part in it).
/// Precondition: `text` is valid JSON.
[[nodiscard]] std::optional<std::string> repeated_key(std::string_view text);

}  // namespace lockstep::stats
