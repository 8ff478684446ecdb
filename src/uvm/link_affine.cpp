#include <algorithm>

#include "uvm/link.hpp"

namespace lockstep::uvm {
namespace {

/// Picoseconds: a fixed part, and `per_kib` for each KiB.
std::uint64_t time_of(std::uint64_t bytes, std::uint64_t fixed, std::uint64_t per_kib) {
  return fixed + (bytes / 1024) * per_kib + bytes % 1024 * per_kib / 1024;
}

}  // namespace

/// Migrations of managed pages on a GTX 1080 Ti as nvprof reports them (UVMSmart): max(1.75, 0.72 + 0.0840 a
/// KB) us to the device, within 0.7 % of seven points; 0.85 + 0.0745 a KB us to the host.
constinit const LinkModel kAffineLink{
    "um_affine", "measured migrations over PCIe 3 x16 (nvprof)",
    [](std::uint64_t bytes, Direction direction, const LinkParameters& parameters) {
      const std::uint64_t ps = direction == Direction::kToDevice
                                   ? std::max<std::uint64_t>(1750000, time_of(bytes, 720000, 84000))
                                   : time_of(bytes, 850000, 74500);
      return cycles_of_ps(ps, parameters);
    }};

}  // namespace lockstep::uvm
