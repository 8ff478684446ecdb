// What the program asks of MPI. The module is a library of its own, compiled against the MPI that was there
// at build time and loaded when a process is started by mpirun or srun: one program serves with and without
// MPI.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Called from time to time while a call waits; if it returns not 0, the call gives up.
using LockstepMpiWaiting = int (*)(void* context);

/// All functions return null, or the reason why they failed; kGivenUp if `waiting` returned not 0. One thread
/// calls them.
struct LockstepMpi {
  std::uint64_t version;  // of this interface
  const char* (*start)(int* rank, int* size);
  /// `all`: of `bytes` times the number of ranks.
  const char* (*all_gather)(const void* mine, std::size_t bytes, void* all, LockstepMpiWaiting waiting,
                            void* context);
  /// By rank; messages without bytes are not sent.
  const char* (*messages)(const char* const* out, const std::size_t* out_bytes, char* const* in,
                          const std::size_t* in_bytes, LockstepMpiWaiting waiting, void* context);
  const char* (*finish)();
  /// Ends all ranks.
  void (*abandon)(int code);
  const char* given_up;  // returned by a call that has given up
};

/// The module's one symbol.
const LockstepMpi* lockstep_mpi();
}

namespace lockstep::ranks {
inline constexpr std::uint64_t kMpiVersion = 1;
inline constexpr const char* kMpiModule = "liblockstep_mpi.so";
}  // namespace lockstep::ranks
