// A system's INI text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/ini.hpp"
#include "config/system_config.hpp"

namespace lockstep::config {

/// `folder`: the file's, to which paths of device files are relative. `overrides`: for every device. Throws
/// UserError and InputError.
void read_system(SystemConfig& to, const IniText& ini, const std::filesystem::path& folder,
                 const std::vector<std::string>& overrides);

}  // namespace lockstep::config
