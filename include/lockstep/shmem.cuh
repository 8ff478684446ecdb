// GPU-initiated networking for CUDA programs: a subset of OpenSHMEM whose functions kernels can call.
// docs/networking.md says how to write a program. Header-only; nvcc compiles it as it is, and any C++17
// compiler compiles the host part.
#pragma once

#include "shmem/collectives.cuh"
#include "shmem/context.cuh"
#include "shmem/host.h"
#include "shmem/host_process.h"

namespace lockstep::shmem {

inline Handle handle(int pe, unsigned first) {
  detail::require_state();
  const detail::State& s = detail::state();
  const PeMemory& own = s.pes.at(static_cast<std::size_t>(pe));
  return {pe,
          n_pes(),
          s.options.work_groups,
          s.options.queue_entries,
          first,
          static_cast<std::byte*>(own.heap),
          own.entries,
          own.controls};
}

}  // namespace lockstep::shmem
