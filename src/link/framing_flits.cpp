#include "link/framing.hpp"

namespace lockstep::link {
namespace {

/// What `packets` gives, in whole flits: nothing shares a flit, not even an acknowledgement.
std::uint32_t flit_bytes(const FramedMessage& m, const FramingBytes& of) {
  return (kPackets.bytes(m, of) + of.flit - 1) / of.flit * of.flit;
}

}  // namespace

constinit const FramingModel kFlits{"flits", "as packets, each message in whole flits of flit_bytes",
                                    flit_bytes};

}  // namespace lockstep::link
