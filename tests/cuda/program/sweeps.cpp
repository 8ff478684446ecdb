// `sweeps PTX read|write|copy BYTES CTAS LAUNCHES`: launches a kernel of sweeps.ptx again and again on the
// same memory, each time between two events. Prints picoseconds of simulated time, a line for each launch.
#include <cstdlib>

#include "registration.hpp"

namespace {

// They stand for the kernels on the host.
int called = 0;
void read() { called = 1; }
void write() { called = 2; }
void copy() { called = 3; }

constexpr unsigned kThreads = 256;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &read, "sweep_read");
  register_kernel(handle, &write, "sweep_write");
  register_kernel(handle, &copy, "sweep_copy");
  __cudaRegisterFatBinaryEnd(handle);
  const std::string which = argv[2];
  const std::size_t bytes = std::strtoull(argv[3], nullptr, 10);
  std::size_t count = bytes / 16;
  void *from = nullptr, *to = nullptr, *found = nullptr, *stream = nullptr;
  if (cudaMalloc(&from, bytes) || cudaMalloc(&to, bytes) || cudaMalloc(&found, 4)) return 3;
  cudaMemset(from, 0, bytes);
  cudaMemset(to, 0, bytes);
  cudaStreamCreate(&stream);
  float value = 1.5f;
  void *reads[] = {&from, &count, &found}, *writes[] = {&to, &count, &value},
       *copies[] = {&from, &to, &count};
  const auto ctas = static_cast<unsigned>(std::atoi(argv[4]));
  for (int i = 0; i < std::atoi(argv[5]); ++i) {
    void* const begin = event_in(stream);
    if (which == "read") launch(&read, ctas, kThreads, reads, stream);
    if (which == "write") launch(&write, ctas, kThreads, writes, stream);
    if (which == "copy") launch(&copy, ctas, kThreads, copies, stream);
    void* const end = event_in(stream);
    cudaEventSynchronize(end);
    std::printf("%ld\n", nanoseconds(begin, end) * 1000);
  }
  return 0;
}
