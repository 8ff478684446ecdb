#include <algorithm>

#include "link/framing.hpp"

namespace lockstep::link {
namespace {

/// A bound for what-if runs: requests and acknowledgements still take their turn, as one byte.
std::uint32_t data_bytes(const FramedMessage& m, const FramingBytes&) { return std::max(m.data, 1u); }

}  // namespace

constinit const FramingModel kIdeal{"ideal", "data alone: no headers, no bytes of stores or acknowledgements",
                                    data_bytes};

}  // namespace lockstep::link
