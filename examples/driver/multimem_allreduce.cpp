// An all-reduce by multimem instructions, which the switch carries out (NVLS), through CUDA's driver API: a
// host program that needs no CUDA compiler. Usage: multimem_allreduce [KiB of each GPU]. Each GPU sums one
// part of the array over all GPUs by loads that reduce, and stores the sums to all of them. Prints time,
// bandwidth and PASS or FAIL: whether each GPU has the sums.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "driver.hpp"

namespace {

constexpr unsigned kThreads = 512, kCtasOfGpu = 128, kVectorBytes = 16;
constexpr int kRounds = 2;                // the last is timed
constexpr int kMulticastSupported = 132;  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED

constexpr const char* kPtx = R"(
.version 8.1
.target sm_90
.address_size 64
.visible .entry reduce(.param .u64 part, .param .u32 vectors)
{
  .reg .pred %p1;
  .reg .b32 %r<7>;
  .reg .b64 %rd<4>;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [part];
  ld.param.u32 %r1, [vectors];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %nctaid.x;
  mul.lo.u32 %r6, %r6, %r3;
loop:
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.u32 %rd2, %r5, 16;
  add.s64 %rd3, %rd1, %rd2;
  multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];
  multimem.st.relaxed.sys.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};
  add.u32 %r5, %r5, %r6;
  bra loop;
done:
  ret;
}
)";

struct Gpu {
  void *context = nullptr, *reduce = nullptr, *begin = nullptr, *end = nullptr;
  CUhandle memory = 0;
  CUdeviceptr data = 0;
};

CUdeviceptr map(CUhandle handle, std::size_t bytes, int devices, int first = 0) {
  CUdeviceptr at = 0;
  check(cuMemAddressReserve(&at, bytes, 0, 0, 0));
  check(cuMemMap(at, bytes, 0, handle, 0));
  std::vector<CUmemAccessDesc> access(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) access[static_cast<std::size_t>(i)].location_id = first + i;
  check(cuMemSetAccess(at, bytes, access.data(), access.size()));
  return at;
}

Gpu open(int number, std::size_t bytes) {
  Gpu gpu;
  int can = 0;
  void* module = nullptr;
  check(cuDeviceGetAttribute(&can, kMulticastSupported, number));
  if (!can) fail("a GPU is at no switch that multicasts");
  check(cuCtxCreate_v2(&gpu.context, 0, number));
  check(cuModuleLoadData(&module, kPtx));
  check(cuModuleGetFunction(&gpu.reduce, module, "reduce"));
  check(cuEventCreate(&gpu.begin, 0));
  check(cuEventCreate(&gpu.end, 0));
  CUmemAllocationProp properties;
  properties.location_id = number;
  check(cuMemCreate(&gpu.memory, bytes, &properties, 0));
  gpu.data = map(gpu.memory, bytes, 1, number);
  return gpu;
}

/// One window to the memory of all.
CUdeviceptr join(const std::vector<Gpu>& gpus, CUmulticastObjectProp properties) {
  CUhandle object = 0;
  check(cuMulticastCreate(&object, &properties));
  for (std::size_t i = 0; i < gpus.size(); ++i) check(cuMulticastAddDevice(object, static_cast<int>(i)));
  for (const Gpu& gpu : gpus) check(cuMulticastBindMem(object, 0, gpu.memory, 0, properties.bytes, 0));
  return map(object, properties.bytes, static_cast<int>(gpus.size()));
}

/// GPU i has i + 1 + (place modulo 8).
void fill(const std::vector<Gpu>& gpus, std::size_t numbers) {
  std::vector<float> values(numbers);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t at = 0; at < numbers; ++at) values[at] = static_cast<float>(i + 1 + at % 8);
    check(cuCtxSetCurrent(gpus[i].context));
    check(cuMemcpyHtoD_v2(gpus[i].data, values.data(), numbers * sizeof(float)));
  }
}

bool is_right(const std::vector<Gpu>& gpus, std::size_t numbers) {
  const std::size_t n = gpus.size();
  std::size_t more = 1;  // a round sums what the one before has left
  for (int round = 1; round < kRounds; ++round) more *= n;
  std::vector<float> values(numbers);
  for (const Gpu& gpu : gpus) {
    check(cuCtxSetCurrent(gpu.context));
    check(cuMemcpyDtoH_v2(values.data(), gpu.data, numbers * sizeof(float)));
    for (std::size_t at = 0; at < numbers; ++at)
      if (values[at] != static_cast<float>(more * (n * (n + 1) / 2 + n * (at % 8)))) return false;
  }
  return true;
}

/// Each GPU begins when all have done what they had before: as the host launches ahead, at the same time.
void launch(const std::vector<Gpu>& gpus, CUdeviceptr window, std::size_t bytes) {
  const std::size_t part = bytes / gpus.size();
  auto vectors = static_cast<unsigned>(part / kVectorBytes);
  for (const Gpu& gpu : gpus) {
    check(cuCtxSetCurrent(gpu.context));
    for (const Gpu& other : gpus) check(cuStreamWaitEvent(nullptr, other.end, 0));
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    CUdeviceptr own = window + i * part;
    void* parameters[] = {&own, &vectors};
    check(cuCtxSetCurrent(gpus[i].context));
    check(cuEventRecord(gpus[i].begin, nullptr));
    const unsigned ctas = std::clamp(vectors / kThreads, 1u, kCtasOfGpu);
    check(cuLaunchKernel(gpus[i].reduce, ctas, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr));
    check(cuEventRecord(gpus[i].end, nullptr));
  }
}

/// Milliseconds of the slowest GPU, in the last of kRounds.
float reduce(const std::vector<Gpu>& gpus, CUdeviceptr window, std::size_t bytes) {
  for (int round = 0; round < kRounds; ++round) launch(gpus, window, bytes);
  float slowest = 0;
  for (const Gpu& gpu : gpus) {
    float milliseconds = 0;
    check(cuEventSynchronize(gpu.end));
    check(cuEventElapsedTime(&milliseconds, gpu.begin, gpu.end));
    slowest = std::max(slowest, milliseconds);
  }
  return slowest;
}

}  // namespace

int main(int argc, char** argv) {
  const int kib = argc > 1 ? std::atoi(argv[1]) : 1024;
  if (argc > 2 || kib <= 0 || kib > 1 << 20)
    fail("usage: multimem_allreduce [KiB of each GPU], 1 to 1048576");
  int count = 0;
  check(cuInit(0));
  check(cuDeviceGetCount(&count));
  // Each GPU has a part of as many whole vectors.
  const std::size_t unit = static_cast<std::size_t>(count) * kVectorBytes;
  const std::size_t bytes = ((static_cast<std::size_t>(kib) << 10) + unit - 1) / unit * unit;
  CUmulticastObjectProp properties;
  properties.devices = static_cast<unsigned>(count);
  properties.bytes = bytes;
  std::size_t granularity = 0;
  check(cuMulticastGetGranularity(&granularity, &properties, 0));
  properties.bytes = (bytes + granularity - 1) / granularity * granularity;
  std::vector<Gpu> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(open(i, properties.bytes));
  const CUdeviceptr window = join(gpus, properties);
  fill(gpus, bytes / sizeof(float));
  const double seconds = static_cast<double>(reduce(gpus, window, bytes)) / 1e3;
  const double bus = 2.0 * (count - 1) / count * static_cast<double>(bytes) / seconds;
  std::printf("%d GPUs, %zu bytes each: %.1f us, bus bandwidth %.1f GB/s\n", count, bytes, seconds * 1e6,
              bus / 1e9);
  if (!is_right(gpus, bytes / sizeof(float))) fail("the sums are wrong");
  std::puts("PASS");
}
