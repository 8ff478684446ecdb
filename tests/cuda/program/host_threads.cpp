// A CUDA program with one host thread for each GPU, which work without regard for each other: `host_threads
// PTX`. Between calls each thread takes a time that differs from run to run.
#include <chrono>
#include <random>
#include <thread>

#include "registration.hpp"

extern "C" {
int cudaGetDevice(int*);
int cudaGetDeviceCount(int*);
int cudaSetDevice(int);
}

namespace {

constexpr unsigned kRounds = 4;

void put() {}

void dawdle() {
  static thread_local std::minstd_rand random(std::random_device{}());
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 2000);
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

/// Adds up what its kernels have put: round r puts 100 * device + r.
unsigned work(int device) {
  cudaSetDevice(device);
  unsigned* at = nullptr;
  const std::size_t bytes = 4096 * static_cast<std::size_t>(device + 1);
  cudaMalloc(reinterpret_cast<void**>(&at), bytes);
  unsigned sum = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    unsigned what = 100 * static_cast<unsigned>(device) + round, got = 0;
    void* args[] = {&at, &what};
    dawdle();
    cudaMemset(at, 0, bytes);
    launch(&put, 1 + static_cast<unsigned>(device), 32 * (round + 1), args);
    dawdle();
    cudaDeviceSynchronize();
    cudaMemcpy(&got, at, sizeof got, 2);
    sum += got;
  }
  cudaFree(at);
  return sum;
}

/// Destroyed after all that the main thread and the runtime have.
struct Last {
  void* memory = nullptr;
  ~Last() {
    int device = -1;
    cudaGetDevice(&device);
    std::printf("%d %d\n", device, cudaFree(memory));
  }
} last;

}  // namespace

int main(int argc, char** argv) {
  void** const handle = argc > 1 ? register_ptx(argv[1]) : nullptr;
  if (handle == nullptr) return 3;
  register_kernel(handle, &put, "put");
  __cudaRegisterFatBinaryEnd(handle);
  int devices = 0;
  cudaGetDeviceCount(&devices);
  std::vector<unsigned> sums(static_cast<std::size_t>(devices));
  std::vector<std::thread> workers;
  for (int d = 0; d < devices; ++d)
    workers.emplace_back([&sums, d] { sums[static_cast<std::size_t>(d)] = work(d); });
  for (std::thread& worker : workers) worker.join();
  for (const unsigned sum : sums) std::printf("%u ", sum);
  std::puts("");
  cudaSetDevice(devices - 1);
  cudaMalloc(&last.memory, 1);
  return 0;
}
