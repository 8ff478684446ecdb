// Values between text and configuration.
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
/// `scale`: what a number without unit counts, where an alias of the key was used. Throws UserError (without
/// a place; the caller knows it) and leaves the configuration as it was.
void set_value(const Parameter& parameter, GpuConfig& config, std::string_view text,
               const std::optional<Suffix>& scale = std::nullopt);

/// The number that a user wrote for an integer parameter. Throws UserError, as set_value().
[[nodiscard]] std::uint64_t number_of(const Parameter& parameter, std::string_view text);

/// The value in its one canonical form, without unit: "1380000", "true", "fma,fma2", "0,8,16".
[[nodiscard]] std::string value_text(const Parameter& parameter, const GpuConfig& config);
/// Whether two configurations have one value of the parameter.
[[nodiscard]] bool same_value(const Parameter& parameter, const GpuConfig& a, const GpuConfig& b);

/// The canonical value with its unit, which set_value() reads back: "1380000 kHz".
[[nodiscard]] std::string value_with_unit(const Parameter& parameter, const GpuConfig& config);

/// What may be written: "1 to 512", "true or false", "gto, lrr or cggty".
[[nodiscard]] std::string expected_text(const Parameter& parameter);

/// The place of a text among names. Throws UserError, which lists them.
[[nodiscard]] std::uint32_t index_of(std::span<const std::string_view> names, std::string_view text);

/// Safe to print: control and non-ASCII bytes as \xNN, cut at 60 characters.
[[nodiscard]] std::string printable(std::string_view text);

[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The parts between separators, trimmed; at least one.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace lockstep::config
