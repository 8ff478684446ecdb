// All-reduce of floats by NCCL, which is not part of this project, on all GPUs of one process:
//   nccl_allreduce GPUS ITERATIONS BYTES...
// Prints the time of one call for each size, from events around ITERATIONS calls in a row after one to warm
// up, of the GPU that takes longest; and checks all results. To build: see tools/results/links.py.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(int result, const char* text) {
  if (result == 0) return;
  std::fprintf(stderr, "%s: error %d\n", text, result);
  std::exit(1);
}
#define CHECK(call) check(static_cast<int>(call), #call)

struct Gpu {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  float *from = nullptr, *to = nullptr;
};

void all_reduce(std::vector<Gpu>& gpus, std::size_t count) {
  CHECK(ncclGroupStart());
  for (Gpu& gpu : gpus)
    CHECK(ncclAllReduce(gpu.from, gpu.to, count, ncclFloat, ncclSum, gpu.comm, gpu.stream));
  CHECK(ncclGroupEnd());
}

template <class Body>
void for_gpus(std::vector<Gpu>& gpus, Body body) {
  for (std::size_t d = 0; d < gpus.size(); ++d) {
    CHECK(cudaSetDevice(static_cast<int>(d)));
    body(gpus[d], d);
  }
}

/// GPU d gives d + i % 3 as element i, so that each sum is a whole number.
bool is_right(std::vector<Gpu>& gpus, std::size_t count) {
  const std::size_t n = gpus.size();
  bool right = true;
  std::vector<float> got(count);
  for_gpus(gpus, [&](Gpu& gpu, std::size_t) {
    CHECK(cudaMemcpy(got.data(), gpu.to, 4 * count, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i)
      right &= got[i] == static_cast<float>(n * (n - 1) / 2 + n * (i % 3));
  });
  return right;
}

double microseconds(std::vector<Gpu>& gpus, std::size_t count, int iterations) {
  all_reduce(gpus, count);
  for_gpus(gpus, [](Gpu& gpu, std::size_t) { CHECK(cudaStreamSynchronize(gpu.stream)); });
  for_gpus(gpus, [](Gpu& gpu, std::size_t) { CHECK(cudaEventRecord(gpu.begin, gpu.stream)); });
  for (int i = 0; i < iterations; ++i) all_reduce(gpus, count);
  for_gpus(gpus, [](Gpu& gpu, std::size_t) { CHECK(cudaEventRecord(gpu.end, gpu.stream)); });
  float longest = 0;
  for_gpus(gpus, [&](Gpu& gpu, std::size_t) {
    CHECK(cudaStreamSynchronize(gpu.stream));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, gpu.begin, gpu.end));
    longest = std::max(longest, ms);
  });
  return 1e3 * longest / iterations;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: nccl_allreduce GPUS ITERATIONS BYTES...\n");
    return 2;
  }
  std::vector<Gpu> gpus(static_cast<std::size_t>(std::atoi(argv[1])));
  const int iterations = std::atoi(argv[2]);
  std::vector<std::size_t> counts;
  for (int i = 3; i < argc; ++i) counts.push_back(std::max(std::stoul(argv[i]) / 4, 1ul));
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  std::vector<ncclComm_t> comms(gpus.size());
  CHECK(ncclCommInitAll(comms.data(), static_cast<int>(gpus.size()), nullptr));
  std::vector<float> values(most);
  for_gpus(gpus, [&](Gpu& gpu, std::size_t d) {
    gpu.comm = comms[d];
    for (std::size_t i = 0; i < most; ++i) values[i] = static_cast<float>(d + i % 3);
    CHECK(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&gpu.begin));
    CHECK(cudaEventCreate(&gpu.end));
    CHECK(cudaMalloc(reinterpret_cast<void**>(&gpu.from), 4 * most));
    CHECK(cudaMalloc(reinterpret_cast<void**>(&gpu.to), 4 * most));
    CHECK(cudaMemcpy(gpu.from, values.data(), 4 * most, cudaMemcpyHostToDevice));
  });
  bool right = true;
  for (const std::size_t count : counts) {
    const double us = microseconds(gpus, count, iterations);
    const bool good = is_right(gpus, count);
    right &= good;
    std::printf("%zu bytes: %.2f us%s\n", 4 * count, us, good ? "" : ", wrong");
    std::fflush(stdout);
  }
  for (const Gpu& gpu : gpus) ncclCommDestroy(gpu.comm);
  std::printf("%s\n", right ? "Test PASSED" : "Test FAILED");
  return right ? 0 : 1;
}
