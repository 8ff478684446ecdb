// What requests do to the devices' memories, and which of it counts as signals.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/device_memory.hpp"
#include "exec/signal_log.hpp"
#include "shmem/request.hpp"

namespace lockstep::shmem {

/// One write of `bytes` bytes that counts as a signal for each of its 4-byte words.
void write_signalling(exec::SignalLog& log, Address to, const void* from, std::size_t bytes);

/// Does what is asked for, all of it at once.
void perform(const Request& request, const exec::DeviceMemory& memory, exec::SignalLog& log);

}  // namespace lockstep::shmem
