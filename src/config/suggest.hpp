// What a user meant who wrote a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// "a, b, c".
[[nodiscard]] std::string list_of(std::span<const std::string_view> names);

/// "; did you mean 'l1.ways'?", or empty where no candidate is near. For names of one word: by edit distance.
[[nodiscard]] std::string suggestion(std::string_view text, std::span<const std::string_view> candidates);

/// Throws UserError: no key of this name, and what is near.
[[noreturn]] void unknown_key(std::string_view key, const std::vector<std::string_view>& names);

/// The same for dotted keys: by their words first ("l1.size" is 'l1.bytes', "l2.bytes" is 'l2.slice_bytes'),
/// then by edit distance.
[[nodiscard]] std::string key_suggestion(std::string_view text, std::span<const std::string_view> keys);

}  // namespace lockstep::config
