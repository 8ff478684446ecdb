#include <algorithm>

#include "config/gpu_models.hpp"
#include "config/system_config.hpp"

namespace lockstep::config {
namespace {

constexpr BundledConfig kSystems[] = {
    {"dgx_a100", "DGX A100: 8 A100, 12 links of NVLink 3 each to NVSwitches"},
    {"hgx_a100_4", "HGX A100 4-GPU: 4 A100, 4 links of NVLink 3 between any two"},
    {"dgx_h100", "DGX H100: 8 H100 SXM, 18 links of NVLink 4 each to NVSwitches"},
    {"gh200_4", "4 GH200, 6 links of NVLink 4 between any two, NVLink-C2C to the host"},
    {"dgx1_v100", "DGX-1: 8 V100 SXM2, hybrid cube mesh of NVLink 2"},
    {"pcie_4", "4 A100 in PCIe 4.0 x16 slots of two switches"},
    {"compnet_8", "8 nodes of ComP-Net (PACT 2018): GPU, programmable command processor, NIC"},
    {"compnet_64", "the same with 64 nodes"},
    {"compnet_apu_8", "compnet_8, but each with a host on the GPU's die that serves the network"},
    {"h100_nodes", "8 nodes with an H100 SXM and a ConnectX-7 of 400 Gb/s each, on one PCIe 5 switch"},
};

}  // namespace

std::span<const BundledConfig> systems() { return kSystems; }

bool is_system(std::string_view name) {
  return std::ranges::any_of(kSystems, [&](const BundledConfig& s) { return s.name == name; });
}

std::optional<std::string_view> embedded_system(std::string_view name) {
  for (const EmbeddedIni& ini : embedded_system_inis())
    if (ini.name == name) return ini.text;
  return std::nullopt;
}

}  // namespace lockstep::config
