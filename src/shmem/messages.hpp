// Messages between the processes of hosts: functionally, and as tasks of the trace.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "exec/device_memory.hpp"
#include "lockstep/shmem/layout.h"
#include "shmem/agent.hpp"
#include "trace/host_task.hpp"

namespace lockstep::shmem {

/// A message is copied when it is sent; it can be received from then on.
class Messages {
 public:
  /// Both must outlive this.
  Messages(exec::DeviceMemory& memory, const Agent& agent) : memory_(memory), agent_(agent) {}

  /// As the trace says it. `device`: whose stream it is put into. Throws UserError where no PEs are attached,
  /// or it does not fit them.
  [[nodiscard]] trace::HostTask check(const HostTask& task, unsigned device) const;
  /// A task of the device's process. False: it receives what has not been sent yet.
  [[nodiscard]] bool perform(const trace::HostTask& task, unsigned device);

 private:
  exec::DeviceMemory& memory_;
  const Agent& agent_;
  std::map<std::pair<unsigned, unsigned>, std::uint64_t>
      waiting_;  // by sender and receiver: sent, not received
};

}  // namespace lockstep::shmem
