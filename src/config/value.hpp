// Converts values between text and configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema.hpp"

namespace lockstep::config {

/// Sets the parameter from what a user wrote: "1380 MHz", "128 KiB", "true", "fma, fma2", "0, 8, 16".
/// `scale`: the unit of a number without one, if an alias of the key was used. Throws UserError (without a
/// place, which the caller adds) and leaves the configuration unchanged.
void set_value(const Parameter& parameter, GpuConfig& config, std::string_view text,
               const std::optional<Suffix>& scale = std::nullopt);

/// The number that a user wrote for an integer parameter. Throws UserError, as set_value().
[[nodiscard]] std::uint64_t number_of(const Parameter& parameter, std::string_view text);

/// The value in its one canonical form, without unit: "1380000", "true", "fma,fma2", "0,8,16".
[[nodiscard]] std::string value_text(const Parameter& parameter, const GpuConfig& config);
/// Whether two configurations have the same value of the parameter.
[[nodiscard]] bool same_value(const Parameter& parameter, const GpuConfig& a, const GpuConfig& b);

/// The canonical value with its unit, which set_value() reads back: "1380000 kHz".
[[nodiscard]] std::string value_with_unit(const Parameter& parameter, const GpuConfig& config);

/// The accepted values, as text: "1 to 512", "true or false", "gto, lrr or cggty".
[[nodiscard]] std::string expected_text(const Parameter& parameter);

/// The index of a text in a list of names. Throws UserError that lists them.
[[nodiscard]] std::uint32_t index_of(std::span<const std::string_view> names, std::string_view text);

/// A form safe to print: control and non-ASCII bytes as \xNN, cut at 60 characters.
[[nodiscard]] std::string printable(std::string_view text);

[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Splits a text at separators and trims the parts; at least one.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace lockstep::config
