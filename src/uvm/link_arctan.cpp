#include <cmath>
#include <numbers>

#include "uvm/link.hpp"

namespace lockstep::uvm {

/// UVMSmart's curve: speed (2a/pi) * atan(0.07292 * KB) GiB/s, a = 12, 24, 48 for 16, 32, 64 GB/s. To be
/// exact to the cycle the speed is rounded to single precision, everything else is double.
constinit const LinkModel kArctanLink{
    "arctan", "UVMSmart's arctangent curve (uvm.link_gib)",
    [](std::uint64_t bytes, Direction, const LinkParameters& parameters) {
      const auto whole = parameters.nominal_gib * 3 / 4;
      const auto a = static_cast<float>(whole);
      const float kibibytes = static_cast<float>(bytes) / 1024.0f;
      const auto speed = static_cast<float>(2.0 * static_cast<double>(a) / std::numbers::pi *
                                            std::atan(static_cast<double>(0.07292f * kibibytes)));
      const double hertz = static_cast<double>(parameters.core_khz) * 1000.0;
      return static_cast<Cycle>(static_cast<double>(static_cast<float>(bytes)) * hertz /
                                static_cast<double>(speed) / 1073741824.0);
    }};

}  // namespace lockstep::uvm
