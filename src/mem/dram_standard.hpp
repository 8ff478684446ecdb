// The registry of DRAM standards: which rules hold between commands, and how they reach the device. A
// standard is a file, a line in kDramStandards, and its name in the configuration (config::DramStandard).
// Cycles and banks are the configuration's (dram.*).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/gpu_config.hpp"

namespace lockstep::mem {

enum class DramCommand : std::uint8_t { kActivate, kPrecharge, kRead, kWrite, kCount };
enum class DramScope : std::uint8_t { kBank, kGroup, kChannel };

/// If the earliest of the last `count` commands `first` in a scope was at t, `then` may follow in the same
/// scope from t + `cycles` on. With `count` 1 this is the distance between two commands, otherwise a window
/// that contains at most `count` of them (tFAW: four activates). All times in command-clock edges.
struct DramRule {
  DramCommand first, then;
  DramScope scope;
  std::uint32_t cycles;
  std::uint32_t count = 1;  // at least 1
};

struct DramStandard {
  std::vector<DramRule> (*rules)(const config::DramGroup&);
  /// Row commands (activate, precharge) and column commands (read, write) share one command bus, which
  /// carries one command per cycle; else each kind has a bus of its own.
  bool one_command_bus;
};

[[nodiscard]] const DramStandard& dram_standard(config::DramStandard standard);

/// The rules that all standards so far have in common: bank state, bank groups, data bus, four-activate
/// window.
[[nodiscard]] std::vector<DramRule> common_dram_rules(const config::DramGroup& dram);

extern const DramStandard kHbm, kGddr;

}  // namespace lockstep::mem
