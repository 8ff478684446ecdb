// Tasks of hosts in compact traces: docs/trace-format.md.
#pragma once

#include "trace/compact_bytes.hpp"
#include "trace/host_task.hpp"

namespace lockstep::trace {

/// Its kind and whether it is within a call, as traces say them: below kHostTaskCodes.
[[nodiscard]] std::uint64_t code_of(const HostTask& task);
void set_code(HostTask& task, std::uint64_t code);
inline constexpr std::uint64_t kHostTaskCodes = 2 * HostTask::kKinds;
/// Precondition: the kind is set. False: the number is more than that kind may have.
[[nodiscard]] bool set_instructions(HostTask& task, std::uint64_t number);

void encode_host_task(const HostTask& task, Bytes& out);
/// Throws BrokenBlock.
[[nodiscard]] HostTask decode_host_task(ByteReader& in);

}  // namespace lockstep::trace
