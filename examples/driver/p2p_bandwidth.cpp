// How fast GPUs reach each other's memory, through CUDA's driver API: a host program that needs no CUDA
// compiler. Usage: p2p_bandwidth [MiB]. For each two GPUs prints the bandwidth of a copy, of copies both ways
// at once, and of a kernel that stores to the other GPU's memory, then how long a small one of each takes: of
// many in a row, 16 bytes each, as NVIDIA's p2pBandwidthLatencyTest measures it; at last how long a load
// takes that hits the other GPU's L2, from a chase of pointers, as nvbandwidth's
// device_to_device_latency_sm does. What a GPU does within its own memory stands on the diagonal. Prints PASS
// or FAIL: what the kernels have stored.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "driver.hpp"

namespace {

constexpr unsigned kThreads = 256;

// store: each thread stores its number, 16 bytes at once. chase: `loads` loads, each from where the one
// before says; the last pointer is stored.
constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 to)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 16;
  add.s64 %rd3, %rd1, %rd2;
  st.global.v4.u32 [%rd3], {%r4, %r4, %r4, %r4};
  ret;
}
.visible .entry chase(.param .u64 from, .param .u32 loads, .param .u64 last)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u32 %r1, [loads];
  ld.param.u64 %rd2, [last];
next:
  ld.volatile.global.u64 %rd1, [%rd1];
  sub.s32 %r1, %r1, 1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra next;
  st.global.u64 [%rd2], %rd1;
  ret;
}
)";

constexpr unsigned kInARow = 20;  // small copies and kernels; more change nothing where time is simulated
constexpr std::size_t kChased = 64, kStride = 256;  // pointers of the chase, and bytes from one to the next
constexpr unsigned kLoads = 512;                    // a multiple of kChased: the chase ends where it began

struct Gpu {
  void *context = nullptr, *store = nullptr, *chase = nullptr, *begin = nullptr, *end = nullptr,
       *side = nullptr, *done = nullptr;
  CUdeviceptr data = 0, target = 0;
};

Gpu open(int number, std::size_t bytes) {
  Gpu gpu;
  int device = 0;
  void* module = nullptr;
  check(cuDeviceGet(&device, number));
  check(cuCtxCreate_v2(&gpu.context, 0, device));
  check(cuModuleLoadData(&module, kPtx));
  check(cuModuleGetFunction(&gpu.store, module, "store"));
  check(cuModuleGetFunction(&gpu.chase, module, "chase"));
  check(cuEventCreate(&gpu.begin, 0));
  check(cuEventCreate(&gpu.end, 0));
  check(cuEventCreate(&gpu.done, 0));
  check(cuStreamCreate(&gpu.side, kNonBlocking));
  check(cuMemAlloc_v2(&gpu.data, bytes));
  check(cuMemAlloc_v2(&gpu.target, bytes));
  return gpu;
}

/// Milliseconds of what `work` puts into the default stream of the GPU.
template <class Work>
double time(const Gpu& gpu, Work&& work) {
  check(cuCtxSetCurrent(gpu.context));
  check(cuEventRecord(gpu.begin, nullptr));
  work();
  check(cuEventRecord(gpu.end, nullptr));
  check(cuEventSynchronize(gpu.end));
  float milliseconds = 0;
  check(cuEventElapsedTime(&milliseconds, gpu.begin, gpu.end));
  return static_cast<double>(milliseconds);
}

double gigabytes(std::size_t bytes, double milliseconds) {
  return static_cast<double>(bytes) / (milliseconds * 1e6);
}

void put_copy(const Gpu& from, const Gpu& to, std::size_t bytes, void* stream) {
  check(cuMemcpyPeerAsync(to.target, to.context, from.data, from.context, bytes, stream));
}

double copy(const Gpu& from, const Gpu& to, std::size_t bytes) {
  return gigabytes(bytes, time(from, [&] { put_copy(from, to, bytes, nullptr); }));
}

/// Of both together. The copy back has a stream of the other GPU, which the default stream waits for.
double both_ways(const Gpu& from, const Gpu& to, std::size_t bytes) {
  const double milliseconds = time(from, [&] {
    check(cuStreamWaitEvent(to.side, from.begin, 0));
    put_copy(from, to, bytes, nullptr);
    check(cuCtxSetCurrent(to.context));
    put_copy(to, from, bytes, to.side);
    check(cuEventRecord(to.done, to.side));
    check(cuCtxSetCurrent(from.context));
    check(cuStreamWaitEvent(nullptr, to.done, 0));
  });
  return gigabytes(2 * bytes, milliseconds);
}

void put_store(const Gpu& from, const Gpu& to, unsigned ctas, unsigned threads) {
  CUdeviceptr target = to.target;
  void* parameters[] = {&target};
  check(cuLaunchKernel(from.store, ctas, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
}

double store(const Gpu& from, const Gpu& to, std::size_t bytes) {
  const double milliseconds =
      time(from, [&] { put_store(from, to, static_cast<unsigned>(bytes / (16 * kThreads)), kThreads); });
  std::vector<std::uint32_t> stored(bytes / 4);
  check(cuCtxSetCurrent(to.context));
  check(cuMemcpyDtoH_v2(stored.data(), to.target, bytes));
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (stored[i] != i / 4) fail("what was stored is not what is there");
  return gigabytes(bytes, milliseconds);
}

/// Microseconds of each of many in a row.
template <class Put>
double each(const Gpu& gpu, Put&& put) {
  const double milliseconds = time(gpu, [&] {
    for (unsigned i = 0; i < kInARow; ++i) put();
  });
  return milliseconds * 1e3 / kInARow;
}

double chase(const Gpu& from, const Gpu& at, unsigned loads) {
  CUdeviceptr first = at.data, last = from.target;
  void* parameters[] = {&first, &loads, &last};
  return time(from,
              [&] { check(cuLaunchKernel(from.chase, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr)); });
}

/// Nanoseconds of a load by `from` of what is in the L2 of `at`.
double load(const Gpu& from, const Gpu& at) {
  std::vector<CUdeviceptr> ring(kChased * kStride / sizeof(CUdeviceptr));
  for (std::size_t i = 0; i < kChased; ++i)
    ring[i * kStride / sizeof(CUdeviceptr)] = at.data + (i + 1) % kChased * kStride;
  check(cuCtxSetCurrent(at.context));
  check(cuMemcpyHtoD_v2(at.data, ring.data(), kChased * kStride));
  chase(from, at, kChased);  // brings them into the L2
  const double milliseconds = chase(from, at, 2 * kLoads) - chase(from, at, kLoads);
  CUdeviceptr last = 0;
  check(cuMemcpyDtoH_v2(&last, from.target, sizeof(last)));
  if (last != at.data) fail("the chase of pointers did not end where it began");
  return milliseconds * 1e6 / kLoads;
}

template <class Measure>
void table(const char* title, const std::vector<Gpu>& gpus, Measure&& measure) {
  std::printf("%s; from the GPU of the row to that of the column\n     ", title);
  for (std::size_t j = 0; j < gpus.size(); ++j) std::printf("%9zu", j);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::printf("\n%5zu", i);
    for (std::size_t j = 0; j < gpus.size(); ++j) {
      int can = 1;
      if (i != j) check(cuDeviceCanAccessPeer(&can, static_cast<int>(i), static_cast<int>(j)));
      if (can) {
        std::printf("%9.2f", measure(gpus[i], gpus[j]));
      } else {
        std::printf("        -");
      }
    }
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int mib = argc > 1 ? std::atoi(argv[1]) : 4;
  if (argc > 2 || mib <= 0 || mib > 1024) fail("usage: p2p_bandwidth [MiB], 1 to 1024");
  const std::size_t bytes = static_cast<std::size_t>(mib) << 20;
  int count = 0;
  check(cuInit(0));
  check(cuDeviceGetCount(&count));
  std::vector<Gpu> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(open(i, bytes));
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j) {
      int can = 0;
      if (i == j) continue;
      check(cuDeviceCanAccessPeer(&can, i, j));
      if (!can) continue;
      check(cuCtxSetCurrent(gpus[static_cast<std::size_t>(i)].context));
      check(cuCtxEnablePeerAccess(gpus[static_cast<std::size_t>(j)].context, 0));
    }
  table("copies, GB/s", gpus, [&](const Gpu& from, const Gpu& to) { return copy(from, to, bytes); });
  table("stores of a kernel, GB/s", gpus,
        [&](const Gpu& from, const Gpu& to) { return store(from, to, bytes); });
  table("copies both ways, GB/s together", gpus,
        [&](const Gpu& from, const Gpu& to) { return both_ways(from, to, bytes); });
  table("a copy of 16 bytes, us", gpus,
        [](const Gpu& from, const Gpu& to) { return each(from, [&] { put_copy(from, to, 16, nullptr); }); });
  table("a kernel that stores 16 bytes, us", gpus,
        [](const Gpu& from, const Gpu& to) { return each(from, [&] { put_store(from, to, 1, 1); }); });
  table("a load from the L2, ns", gpus, load);
  std::puts("PASS");
}
