// Tasks of hosts in compact traces: docs/trace-format.md.
#pragma once

#include "trace/compact_bytes.hpp"
#include "trace/host_task.hpp"

namespace lockstep::trace {

void encode_host_task(const HostTask& task, Bytes& out);
/// Throws BrokenBlock.
[[nodiscard]] HostTask decode_host_task(ByteReader& in);

}  // namespace lockstep::trace
