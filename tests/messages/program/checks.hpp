// What the parts of the MPI program share.
#pragma once

#include <mpi.h>

#include <string>

namespace mpi_calls {

extern int me, size;  // of MPI_COMM_WORLD
void check(bool condition, const char* what);
/// The process that many places on, in a ring.
[[nodiscard]] inline int after(int by) { return (me + by + size) % size; }

void persistent_requests();
void matched_probes();
/// Those that mpi_calls.cpp itself does not make.
void other_collectives(MPI_Comm c);
void nonblocking_collectives(MPI_Comm c);
void neighborhoods();
void windows();
/// Operations on device memory: of 64 integers.
void window_of(void* memory);
/// Of process 0, for 20 ms between two calls: "mpi" or "cuda".
void computation(const std::string& between);

}  // namespace mpi_calls
