// Kernel launches, attributes of kernels, occupancy.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/access_window.hpp"
#include "cuda/api.hpp"
#include "cuda/cluster.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/launch_attributes.hpp"

namespace lockstep::cuda {

namespace {

void launch(Runtime& rt, const void* function, KernelLaunch launch, void** args, abi::Stream stream) {
  rt.submit(stream, rt.prepare(function, std::move(launch), args));
}

int launch_plain(const void* function, abi::dim3 grid, abi::dim3 block, void** args, std::size_t shared,
                 abi::Stream stream, bool cooperative = false) {
  return api([&](Runtime& rt) {
    KernelLaunch l;
    l.grid = grid;
    l.block = block;
    l.dynamic_shared = shared;
    l.cooperative = cooperative;
    launch(rt, function, std::move(l), args, stream);
  });
}

KernelLaunch extended(Runtime& rt, const abi::LaunchConfig* config) {
  require(config != nullptr && (config->numAttrs == 0 || config->attrs != nullptr));
  KernelLaunch l;
  l.grid = config->gridDim;
  l.block = config->blockDim;
  l.dynamic_shared = config->dynamicSmemBytes;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const auto& given = config->attrs[i];
    const auto& cluster = given.val.clusterDim;
    if (given.id == abi::kLaunchAttributeCooperative)
      l.cooperative = given.val.cooperative != 0;
    else if (given.id == abi::kLaunchAttributeClusterDimension)
      l.cluster = abi::dim3{cluster.x, cluster.y, cluster.z};
    else if (given.id == attribute::kAccessPolicyWindow)
      l.l2 = window_of(given.val, rt.settings.gpu.gpu.arch);
    else
      rt.warnings.once(fmt::format("launch attribute {} has no effect", given.id));
  }
  return l;
}

int launch_extended(const abi::LaunchConfig* config, const void* function, void** args) {
  return api([&](Runtime& rt) {
    KernelLaunch l = extended(rt, config);
    launch(rt, function, std::move(l), args, static_cast<abi::Stream>(config->stream));
  });
}

/// "sm_90a": 90. What cudaFuncAttributes calls the PTX version is this, and not that of the language.
int virtual_architecture(const std::string& target) {
  int number = 0;
  for (const char c : target)
    if (c >= '0' && c <= '9') number = 10 * number + (c - '0');
  return number;
}

enum FunctionAttribute {
  kMaxDynamicShared = 8,
  kSharedCarveout = 9,
  kLargeClusters = 14,
  kClusterPolicy = 15
};

}  // namespace

LOCKSTEP_CUDA_API __cudaLaunchKernel(void* kernel, abi::dim3 g, abi::dim3 b, void** args, std::size_t shared,
                                     abi::Stream s) {
  return launch_plain(kernel, g, b, args, shared, s);
}
LOCKSTEP_CUDA_API __cudaLaunchKernel_ptsz(void* kernel, abi::dim3 g, abi::dim3 b, void** args,
                                          std::size_t shared, abi::Stream s) {
  return launch_plain(kernel, g, b, args, shared, s);
}
LOCKSTEP_CUDA_API cudaLaunchKernel(const void* f, abi::dim3 g, abi::dim3 b, void** args, std::size_t shared,
                                   abi::Stream s) {
  return launch_plain(f, g, b, args, shared, s);
}
LOCKSTEP_CUDA_API cudaLaunchKernel_ptsz(const void* f, abi::dim3 g, abi::dim3 b, void** args,
                                        std::size_t shared, abi::Stream s) {
  return launch_plain(f, g, b, args, shared, s);
}
LOCKSTEP_CUDA_API cudaLaunchCooperativeKernel(const void* f, abi::dim3 g, abi::dim3 b, void** args,
                                              std::size_t shared, abi::Stream s) {
  return launch_plain(f, g, b, args, shared, s, true);
}
LOCKSTEP_CUDA_API cudaLaunchCooperativeKernel_ptsz(const void* f, abi::dim3 g, abi::dim3 b, void** args,
                                                   std::size_t shared, abi::Stream s) {
  return launch_plain(f, g, b, args, shared, s, true);
}
LOCKSTEP_CUDA_API cudaLaunchKernelExC(const abi::LaunchConfig* c, const void* f, void** args) {
  return launch_extended(c, f, args);
}
LOCKSTEP_CUDA_API cudaLaunchKernelExC_ptsz(const abi::LaunchConfig* c, const void* f, void** args) {
  return launch_extended(c, f, args);
}

LOCKSTEP_CUDA_API cudaFuncGetAttributes(abi::FuncAttributes* attributes, const void* function) {
  return api([&](Runtime& rt) {
    require(attributes != nullptr);
    const Kernel& kernel = rt.modules.kernel(function);
    *attributes = {};
    attributes->sharedSizeBytes = static_shared_bytes(kernel);
    const CubinKernel* const code = kernel.machine_code();
    attributes->localSizeBytes = code != nullptr ? code->frame_bytes : kernel.executable().local_bytes();
    attributes->numRegs = static_cast<int>(registers_of(kernel, rt.settings.gpu, read_register_choice()));
    attributes->maxThreadsPerBlock = static_cast<int>(max_threads_of(kernel));
    const auto& module = kernel.module->program().modules.at(kernel.function().module);
    attributes->ptxVersion = virtual_architecture(module.target);
    attributes->binaryVersion = static_cast<int>(rt.settings.gpu.gpu.arch);
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(kernel.max_dynamic_shared);
    attributes->preferredShmemCarveout = kernel.carveout;
    const auto& cluster = kernel.function().directives.reqnctapercluster;
    attributes->clusterDimMustBeSet = kernel.function().directives.explicitcluster ? 1 : 0;
    attributes->requiredClusterWidth = static_cast<int>(cluster[0]);
    attributes->requiredClusterHeight = static_cast<int>(cluster[1]);
    attributes->requiredClusterDepth = static_cast<int>(cluster[2]);
    attributes->nonPortableClusterSizeAllowed = kernel.large_clusters ? 1 : 0;
  });
}

LOCKSTEP_CUDA_API cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return api([&](Runtime& rt) {
    Kernel& kernel = rt.modules.kernel(function);
    if (attribute == kMaxDynamicShared) {
      require(value >= 0 && static_cast<std::uint32_t>(value) + static_shared_bytes(kernel) <=
                                shared_limits(rt.settings.gpu).opt_in);
      kernel.max_dynamic_shared = static_cast<std::uint32_t>(value);
    } else if (attribute == kSharedCarveout) {
      require(value >= -1 && value <= 100);
      kernel.carveout = value;
    } else if (attribute == kLargeClusters) {
      require(value == 0 || value == 1);
      kernel.large_clusters = value == 1;
    } else if (attribute == kClusterPolicy) {
      require(value >= 0 && value <= 2);  // a hint
    } else {
      throw ApiError(Status::kErrorInvalidValue);
    }
  });
}

// Hints: the carve-out follows from occupancy.
LOCKSTEP_CUDA_API cudaFuncSetCacheConfig(const void* function, int preference) {
  return api([&](Runtime& rt) {
    (void)rt.modules.kernel(function);
    require(preference >= 0 && preference <= 3);
  });
}
LOCKSTEP_CUDA_API cudaFuncGetName(const char** name, const void* function) {
  return api([&](Runtime& rt) {
    require(name != nullptr);
    *name = rt.modules.kernel(function).name.c_str();
  });
}

namespace {
int max_active(int* ctas, const void* function, int threads, std::size_t shared, unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kDisableCachingOverride = 1;
    require(ctas != nullptr && threads > 0 && flags <= kDisableCachingOverride);
    const Kernel& kernel = rt.modules.kernel(function);
    KernelLaunch launch;
    launch.block.x = static_cast<unsigned>(threads);
    launch.dynamic_shared = shared;
    const bool fits = launch.block.x <= kMaxThreadsPerCta;
    *ctas = fits ? static_cast<int>(ctas_per_sm(kernel, launch, rt.settings.gpu)) : 0;
  });
}
}  // namespace
LOCKSTEP_CUDA_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, const void* f, int threads,
                                                                std::size_t shared) {
  return max_active(n, f, threads, shared, 0);
}
LOCKSTEP_CUDA_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, const void* f, int threads,
                                                                         std::size_t shared, unsigned flags) {
  return max_active(n, f, threads, shared, flags);
}

/// ctas_per_sm() falls with shared memory: halving finds the last byte.
LOCKSTEP_CUDA_API cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* f, int ctas,
                                                            int threads) {
  return api([&](Runtime& rt) {
    require(bytes != nullptr && ctas > 0 && threads > 0 &&
            static_cast<unsigned>(threads) <= kMaxThreadsPerCta);
    const Kernel& kernel = rt.modules.kernel(f);
    KernelLaunch launch;
    launch.block.x = static_cast<unsigned>(threads);
    const auto fits = [&](std::uint64_t dynamic) {
      launch.dynamic_shared = dynamic;
      return ctas_per_sm(kernel, launch, rt.settings.gpu) >= static_cast<unsigned>(ctas);
    };
    require(fits(0));
    std::uint64_t most = 0, above = shared_limits(rt.settings.gpu).opt_in - static_shared_bytes(kernel) + 1;
    while (most + 1 < above) (fits((most + above) / 2) ? most : above) = (most + above) / 2;
    *bytes = most;
  });
}
LOCKSTEP_CUDA_API cudaOccupancyMaxActiveClusters(int* clusters, const void* f, const abi::LaunchConfig* c) {
  return api([&](Runtime& rt) {
    require(clusters != nullptr);
    const Kernel& kernel = rt.modules.kernel(f);
    KernelLaunch launch = extended(rt, c);
    settle_cluster(kernel, launch, rt.settings.gpu);
    *clusters = static_cast<int>(active_clusters(kernel, launch, rt.settings.gpu));
  });
}
LOCKSTEP_CUDA_API cudaOccupancyMaxPotentialClusterSize(int* ctas, const void* f, const abi::LaunchConfig* c) {
  return api([&](Runtime& rt) {
    require(ctas != nullptr);
    *ctas = static_cast<int>(largest_cluster(rt.modules.kernel(f), extended(rt, c), rt.settings.gpu));
  });
}

}  // namespace lockstep::cuda
