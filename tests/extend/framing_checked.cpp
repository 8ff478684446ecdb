#include "link/framing.hpp"

namespace lockstep::link {
namespace {

constexpr std::uint32_t kChecksum = 4;  // bytes behind every message

std::uint32_t checked_bytes(const FramedMessage& m, const FramingBytes& of) {
  return kPackets.bytes(m, of) + kChecksum;
}

}  // namespace

extern const FramingModel kChecked;
constinit const FramingModel kChecked{"checked", "as packets, with a checksum behind each message",
                                      checked_bytes};

}  // namespace lockstep::link
