// What only the driver API describes graph nodes with. CUDA 13, x86-64.
#pragma once

#include "cuda/driver.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

/// CUDA_KERNEL_NODE_PARAMS_v2 and _v3.
struct DriverKernelNode {
  void* function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra;
  void *kernel, *context;  // the kernel is looked at where there is no function
};
static_assert(sizeof(DriverKernelNode) == 72 && offsetof(DriverKernelNode, arguments) == 40);

}  // namespace lockstep::cuda
