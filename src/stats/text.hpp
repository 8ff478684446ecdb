// Numbers and strings as text, the same on every host and in every locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/types.hpp"

namespace lockstep::stats {

/// numerator * scale / denominator, rounded down; 0 where the denominator is.
[[nodiscard]] std::uint64_t quotient(std::uint64_t numerator, std::uint64_t scale, std::uint64_t denominator);

/// numerator / denominator with `decimals` digits after the point, rounded half up, in exact integer
/// arithmetic. 0 where the denominator is 0. `scale` multiplies the numerator; 128 bits hold the product.
[[nodiscard]] std::string fixed_ratio(std::uint64_t numerator, std::uint64_t denominator, unsigned decimals,
                                      std::uint64_t scale = 1);

/// `cycles` of a clock of `khz` in nanoseconds with three decimals.
[[nodiscard]] std::string cycles_to_ns(Cycle cycles, std::uint64_t khz);

/// 64-bit hash as 16 hexadecimal digits.
[[nodiscard]] std::string hex16(std::uint64_t value);

/// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);

/// "1.23M": three digits and a decimal prefix (k, M, G, T).
[[nodiscard]] std::string scaled(double value);

/// `text` without control characters and non-ASCII bytes: names in traces are not ours.
[[nodiscard]] std::string printable(std::string_view text);

/// A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace lockstep::stats
