// The GPU models, and the INI texts of configs/ that are compiled into the program.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace lockstep::config {

/// A configuration within the program: of a GPU or a system.
struct BundledConfig {
  std::string_view name, title;
};
/// The registry: to add a GPU model, write configs/NAME.ini and add a line in gpu_models.cpp.
[[nodiscard]] std::span<const BundledConfig> gpu_models();

/// The text of configs/NAME.ini, including files that are not models themselves but parts to include.
[[nodiscard]] std::optional<std::string_view> embedded_ini(std::string_view name);

struct EmbeddedIni {
  std::string_view name, text;
};
/// All of configs/*.ini; the definition is generated at build time (build.cmake).
[[nodiscard]] std::span<const EmbeddedIni> embedded_inis();

/// Likewise for systems/NAME.ini.
[[nodiscard]] std::span<const EmbeddedIni> embedded_system_inis();
[[nodiscard]] std::optional<std::string_view> embedded_system(std::string_view name);

}  // namespace lockstep::config
