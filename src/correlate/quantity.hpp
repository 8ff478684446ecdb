// Numbers with units as profilers write them.
#pragma once

#include <optional>
#include <string_view>

namespace lockstep::correlate {

/// "1234", "1,234.5", "1.2e6": groups of three digits may be separated by commas. nullopt: no finite number.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// What one of `unit` is in base units: nanoseconds, bytes, hertz, or plain counts. Prefixes are decimal, as
/// Nsight Compute's are ("Kbyte" is 1000 bytes); "us", "usecond" and "microsecond" are 1000 ns; "%" is 1. An
/// unknown word is a count of its own kind ("sector"): 1. With a prefix in capitals in front of a known count
/// ("Msector"): that.
[[nodiscard]] double unit_factor(std::string_view unit);

}  // namespace lockstep::correlate
