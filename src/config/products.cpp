#include "config/products.hpp"

namespace lockstep::config {
namespace {

constexpr Product kProducts[] = {
    {"v100", "Tesla V100 PCIe 16 GB at 1380 MHz (Volta, sm_70)"},
    {"rtx3080ti", "GeForce RTX 3080 Ti at 1365 MHz (Ampere GA102, sm_86)"},
    {"a100", "A100 80 GB at 1410 MHz (Ampere GA100, sm_80)"},
    {"h100_pcie", "H100 PCIe 80 GB at 1755 MHz (Hopper, sm_90)"},
};

}  // namespace

std::span<const Product> products() { return kProducts; }

std::optional<std::string_view> embedded_ini(std::string_view name) {
  for (const EmbeddedIni& ini : embedded_inis()) {
    if (ini.name == name) return ini.text;
  }
  return std::nullopt;
}

}  // namespace lockstep::config
