#include "uvm/link.hpp"

namespace lockstep::uvm {
namespace {

/// Fixed cost of a migration over PCIe, from the fit of `um_affine`; assumed for the other links too.
constexpr std::uint64_t kFixedPs = 720000;

/// Fixed cost plus size over bandwidth, in bytes a microsecond.
Cycle flat(std::uint64_t bytes, std::uint64_t bytes_per_us, const LinkParameters& parameters) {
  const std::uint64_t us = bytes / bytes_per_us, rest = bytes % bytes_per_us;
  return cycles_of_ps(kFixedPs + us * 1000000 + rest * 1000000 / bytes_per_us, parameters);
}

}  // namespace

// PCIe x16. V100, PCIe 3: 12.35 GB/s of large copies measured (gpu-benches), 78.4 % of the raw 15.75 GB/s;
// the same share of 31.5 and 63.0 GB/s is assumed for PCIe 4 and 5.
constinit const LinkModel kPcie3Link{
    "pcie3", "PCIe 3 x16: 12.35 GB/s each way",
    [](std::uint64_t bytes, Direction, const LinkParameters& p) { return flat(bytes, 12350, p); }};
constinit const LinkModel kPcie4Link{
    "pcie4", "PCIe 4 x16: 24.7 GB/s each way",
    [](std::uint64_t bytes, Direction, const LinkParameters& p) { return flat(bytes, 24700, p); }};
constinit const LinkModel kPcie5Link{
    "pcie5", "PCIe 5 x16: 49.4 GB/s each way",
    [](std::uint64_t bytes, Direction, const LinkParameters& p) { return flat(bytes, 49400, p); }};

/// Measured on a GH200: 375 GB/s to the device, 297 GB/s to the host (Schieffer et al., ICPP 2024).
constinit const LinkModel kC2cLink{"nvlink_c2c", "NVLink-C2C: 375 GB/s to the device, 297 GB/s to the host",
                                   [](std::uint64_t bytes, Direction direction, const LinkParameters& p) {
                                     return flat(bytes, direction == Direction::kToDevice ? 375000 : 297000,
                                                 p);
                                   }};

}  // namespace lockstep::uvm
