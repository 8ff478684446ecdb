#include "config/gpu_models.hpp"

namespace lockstep::config {
namespace {

constexpr BundledConfig kGpuModels[] = {
    {"v100", "Tesla V100 PCIe 16 GB at 1380 MHz (Volta, sm_70)"},
    {"rtx3080ti", "GeForce RTX 3080 Ti at 1365 MHz (Ampere GA102, sm_86)"},
    {"a100", "A100 80 GB at 1410 MHz (Ampere GA100, sm_80)"},
    {"h100_pcie", "H100 PCIe 80 GB at 1755 MHz (Hopper, sm_90)"},
    {"v100_sxm2", "Tesla V100 SXM2 16 GB at 1530 MHz (Volta, sm_70)"},
    {"qv100", "Quadro GV100 at 1132 MHz, as Accel-Sim's SM7_QV100 (Volta, sm_70)"},
    {"gtx1080ti", "GeForce GTX 1080 Ti at 1481 MHz, as in UVMSmart (Pascal GP102, sm_61)"},
    {"rtx2080ti", "GeForce RTX 2080 Ti at 1545 MHz (Turing TU102, sm_75)"},
    {"rtxa6000", "RTX A6000 at 1800 MHz (Ampere GA102, sm_86)"},
    {"h100_sxm", "H100 SXM 80 GB at 1980 MHz (Hopper, sm_90)"},
    {"gh200", "GPU of a GH200 with 96 GB at 1980 MHz (Hopper, sm_90)"},
    {"h200", "H200 SXM 141 GB at 1980 MHz (Hopper, sm_90)"},
    {"rtx4090", "GeForce RTX 4090 at 2235 MHz (Ada AD102, sm_89)"},
    {"rtx5090", "GeForce RTX 5090 at 2407 MHz (Blackwell GB202, sm_120)"},
    {"l40", "L40 at 2490 MHz (Ada AD102, sm_89)"},
    {"rtx3070", "GeForce RTX 3070 at 1725 MHz (Ampere GA104, sm_86)"},
    {"t4", "Tesla T4 at 1590 MHz (Turing TU104, sm_75)"},
    {"sst_v100", "V100 of the SST-GPU experiments: 84 SMs at 1312 MHz (Volta, sm_70)"},
    {"sst_p100", "P100 of the SST-GPU experiments: 56 SMs at 1328 MHz (Pascal GP100, sm_60)"},
};

}  // namespace

std::span<const BundledConfig> gpu_models() { return kGpuModels; }

std::optional<std::string_view> embedded_ini(std::string_view name) {
  for (const EmbeddedIni& ini : embedded_inis()) {
    if (ini.name == name) return ini.text;
  }
  return std::nullopt;
}

}  // namespace lockstep::config
