// Computation on the host, by the CPU time that it takes.
#include <time.h>

#include <string>
#include <vector>

#include "../../cuda/program/registration.hpp"
#include "checks.hpp"

namespace mpi_calls {
namespace {

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void compute_20_ms() {
  const double begin = cpu_seconds();
  while (cpu_seconds() < begin + 0.02) {
  }
}

}  // namespace

void computation(const std::string& between) {
  void* memory = nullptr;
  cudaMalloc(&memory, 1 << 16);
  std::vector<int> values(32, me);
  cudaMemcpy(memory, values.data(), 128, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (between == "cuda") cudaMemcpy(memory, values.data(), 128, 1);
  if (me == 0) compute_20_ms();
  if (between == "cuda") cudaMemcpy(values.data(), memory, 128, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  check(values[31] == me, "what was copied");
  (void)MPI_Wtime();
}

}  // namespace mpi_calls
