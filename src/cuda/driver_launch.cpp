// Launches and occupancy.
#include <algorithm>
#include <array>

#include "cuda/driver.hpp"
#include "cuda/launch.hpp"

namespace lockstep::cuda {

namespace {

/// CUlaunchConfig: the runtime's but for the sizes, which are no dim3 there, and a 32-bit shared size.
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void* stream;
  abi::LaunchAttribute* attrs;
  unsigned count;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

}  // namespace

ArgumentBuffer arguments_in_buffer(Runtime& rt, const void* f, void** extra) {
  const std::byte* given = nullptr;
  std::size_t size = 0;
  for (; extra[0] != nullptr; extra += 2) {
    constexpr std::uintptr_t kBuffer = 1, kSize = 2;
    const auto key = reinterpret_cast<std::uintptr_t>(extra[0]);
    require(key == kBuffer || key == kSize);
    if (key == kBuffer) given = static_cast<const std::byte*>(extra[1]);
    if (key == kSize) size = *static_cast<const std::size_t*>(extra[1]);
  }
  const auto& parameters = rt.modules.kernel(f).function().parameters;
  ArgumentBuffer buffer;
  if (parameters.empty()) return buffer;
  require(given != nullptr && parameters.back().offset < size);
  buffer.bytes.resize(parameters.back().offset + parameters.back().size);
  std::copy_n(given, std::min(size, buffer.bytes.size()), buffer.bytes.begin());
  for (const auto& parameter : parameters) buffer.arguments.push_back(buffer.bytes.data() + parameter.offset);
  return buffer;
}

namespace {

int launch(void* f, KernelLaunch l, void** args, void** extra, void* stream) {
  return driver_api([&](Runtime& rt) {
    ArgumentBuffer buffer;
    if (args == nullptr && extra != nullptr) {
      buffer = arguments_in_buffer(rt, f, extra);
      args = buffer.arguments.data();
    }
    const auto handle = static_cast<abi::Stream>(stream);
    rt.submit(handle, rt.prepare(f, std::move(l), args));
  });
}

abi::LaunchConfig runtime_config(const LaunchConfig& c) {
  return {{c.grid[0], c.grid[1], c.grid[2]},
          {c.block[0], c.block[1], c.block[2]},
          c.shared,
          c.stream,
          c.attrs,
          c.count};
}

KernelLaunch geometry(const unsigned* grid, const unsigned* block, unsigned shared) {
  KernelLaunch l;
  l.grid = {grid[0], grid[1], grid[2]};
  l.block = {block[0], block[1], block[2]};
  l.dynamic_shared = shared;
  return l;
}

/// The CTA size with the most threads on an SM, the largest of equals: whole warps, and the largest size that
/// the kernel, the GPU and `limit` allow.
int best_block(int* grid, int* block, void* f, std::size_t (*dynamic)(int), std::size_t shared, int limit,
               unsigned flags) {
  return driver_api([&](Runtime& rt) {
    constexpr unsigned kDisableCachingOverride = 1;
    require(grid != nullptr && block != nullptr && flags <= kDisableCachingOverride);
    const Kernel& kernel = rt.modules.kernel(f);
    constexpr int kWarp = static_cast<int>(kWarpSize);
    int most = 0;
    const int allowed = static_cast<int>(std::min(max_threads_of(kernel), kMaxThreadsPerCta));
    const int widest = limit > 0 ? std::min(limit, allowed) : allowed;
    for (int threads = widest; threads > 0; threads = (threads - 1) / kWarp * kWarp) {
      KernelLaunch l;
      l.block.x = static_cast<unsigned>(threads);
      l.dynamic_shared = dynamic != nullptr ? dynamic(threads) : shared;
      const int ctas = static_cast<int>(ctas_per_sm(kernel, l, rt.settings.gpu));
      if (ctas * threads <= most) continue;
      most = ctas * threads;
      *block = threads;
      *grid = ctas * static_cast<int>(rt.settings.gpu.gpu.sms);
    }
    require(most > 0, Status::kErrorLaunchOutOfResources);
  });
}

}  // namespace

LOCKSTEP_CUDA_API cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, void* stream, void** args, void** extra) {
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch(f, geometry(grid, block, shared), args, extra, stream);
}
LOCKSTEP_CUDA_API cuLaunchCooperativeKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, void* stream,
                                            void** args) {
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  KernelLaunch l = geometry(grid, block, shared);
  l.cooperative = true;
  return launch(f, std::move(l), args, nullptr, stream);
}
LOCKSTEP_CUDA_API cuLaunchKernelEx(const LaunchConfig* c, void* f, void** args, void** extra) {
  if (c == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  if (args == nullptr && extra != nullptr)
    return launch(f, geometry(c->grid, c->block, c->shared), args, extra, c->stream);
  const abi::LaunchConfig config = runtime_config(*c);
  return driver([&] { return cudaLaunchKernelExC(&config, f, args); });
}
LOCKSTEP_CUDA_API cuLaunchHostFunc(void* stream, abi::HostFn call, void* data) {
  return driver([&] { return cudaLaunchHostFunc(static_cast<abi::Stream>(stream), call, data); });
}

LOCKSTEP_CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void* f, int threads,
                                                              std::size_t shared) {
  return driver([&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, f, threads, shared); });
}
LOCKSTEP_CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* ctas, void* f, int threads,
                                                                       std::size_t shared, unsigned flags) {
  return driver([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, f, threads, shared, flags);
  });
}
LOCKSTEP_CUDA_API cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* f, int ctas,
                                                          int threads) {
  return driver([&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, f, ctas, threads); });
}
LOCKSTEP_CUDA_API cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* f,
                                                   std::size_t (*dynamic)(int), std::size_t shared,
                                                   int limit) {
  return best_block(grid, block, f, dynamic, shared, limit, 0);
}
LOCKSTEP_CUDA_API cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void* f,
                                                            std::size_t (*dynamic)(int), std::size_t shared,
                                                            int limit, unsigned flags) {
  return best_block(grid, block, f, dynamic, shared, limit, flags);
}
LOCKSTEP_CUDA_API cuOccupancyMaxActiveClusters(int* clusters, void* f, const LaunchConfig* c) {
  if (c == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  const abi::LaunchConfig config = runtime_config(*c);
  return driver([&] { return cudaOccupancyMaxActiveClusters(clusters, f, &config); });
}
LOCKSTEP_CUDA_API cuOccupancyMaxPotentialClusterSize(int* ctas, void* f, const LaunchConfig* c) {
  if (c == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  const abi::LaunchConfig config = runtime_config(*c);
  return driver([&] { return cudaOccupancyMaxPotentialClusterSize(ctas, f, &config); });
}

}  // namespace lockstep::cuda
