// Suggestions for misspelt names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// "a, b, c".
[[nodiscard]] std::string list_of(std::span<const std::string_view> names);

/// "; did you mean 'l1.ways'?", or empty if no candidate is close. For single words: by edit distance.
[[nodiscard]] std::string suggestion(std::string_view text, std::span<const std::string_view> candidates);

/// Throws UserError that the key does not exist, with a suggestion.
[[noreturn]] void unknown_key(std::string_view key, const std::vector<std::string_view>& names);

/// The same for dotted keys: first by their words ("l1.size" gives 'l1.bytes', "l2.bytes" 'l2.slice_bytes'),
/// then by edit distance.
[[nodiscard]] std::string key_suggestion(std::string_view text, std::span<const std::string_view> keys);

}  // namespace lockstep::config
