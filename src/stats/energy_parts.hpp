// Energy by component, as energy::Model works it out and the writers show it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::stats {

enum class EnergyPart : std::uint8_t {
  kInstructions,
  kRegisterFile,
  kInt,
  kFp,
  kFp64,
  kSfu,
  kTensor,
  kTexture,
  kConstant,
  kL1,
  kShared,
  kL2,
  kCrossbar,
  kDram,
  kActiveSms,
  kIdleSms,
  kBoard,
  kCount
};
inline constexpr unsigned kEnergyParts = static_cast<unsigned>(EnergyPart::kCount);

struct EnergyParts {
  std::array<std::uint64_t, kEnergyParts> picojoules{};

  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t pj : picojoules) sum += pj;
    return sum;
  }
  EnergyParts& operator+=(const EnergyParts& other) {
    for (unsigned i = 0; i < kEnergyParts; ++i) picojoules[i] += other.picojoules[i];
    return *this;
  }
  friend bool operator==(const EnergyParts&, const EnergyParts&) = default;
};

struct EnergyRow {
  std::string_view name, help;  // key in stats.json
};
/// By EnergyPart.
[[nodiscard]] std::span<const EnergyRow, kEnergyParts> energy_rows();

}  // namespace lockstep::stats
