// Network operations in compact traces: docs/trace-format.md.
#pragma once

#include "trace/compact_bytes.hpp"
#include "trace/net_operation.hpp"

namespace lockstep::trace {

void encode_net_operation(const NetOperation& operation, Bytes& out);
/// Throws BrokenBlock.
[[nodiscard]] NetOperation decode_net_operation(ByteReader& in);

}  // namespace lockstep::trace
