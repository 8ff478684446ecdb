// A system's INI text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/ini.hpp"
#include "config/system_config.hpp"

namespace lockstep::config {

/// `folder`: of the file, from where it names files of devices. `overrides`: of every device. Throws
/// UserError and InputError.
void read_system(SystemConfig& to, const IniText& ini, const std::filesystem::path& folder,
                 const std::vector<std::string>& overrides);

}  // namespace lockstep::config
