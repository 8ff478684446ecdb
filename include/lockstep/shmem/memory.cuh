// Loads, stores and fences with the scopes that the protocol needs, and a thread's index in its work-group.
#pragma once

#include <cstdint>

namespace lockstep::shmem {

/// Index of the calling thread in its work-group.
__device__ inline unsigned thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline unsigned group_threads() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ inline unsigned group_number() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

#ifdef __CUDA_ARCH__
/// A release fence: earlier writes become visible to the device.
__device__ inline void release_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/// An acquire load of device scope.
__device__ inline std::uint32_t load_acquire(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
/// The same with system scope: other devices, or their NICs, write the word.
__device__ inline std::uint32_t load_acquire_system(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline std::uint64_t load_acquire_system(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

/// Stores to the control lines that the agent reads. ComP-Net (LeBeane et al., PACT 2018) proposes a *locked
/// store* for them, which keeps its line in the L2 until the command processor has read it. No existing GPU
/// has it, so these are ordinary stores.
__device__ inline void locked_store(std::uint32_t* to, std::uint32_t value) {
  asm volatile("st.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__device__ inline void locked_store(std::uint32_t* to, std::uint32_t a, std::uint32_t b) {
  asm volatile("st.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(a), "r"(b) : "memory");
}
__device__ inline void locked_store(std::uint64_t* to, std::uint64_t a, std::uint64_t b) {
  asm volatile("st.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(a), "l"(b) : "memory");
}
/// With device scope, for the word that others wait for.
__device__ inline void locked_store_relaxed(std::uint32_t* to, std::uint32_t value) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__device__ inline void stop_kernel() { asm volatile("trap;"); }
#else
// Seen by the host pass of a compilation, which never calls them.
__device__ inline void release_fence() {}
__device__ inline std::uint32_t load_acquire(const std::uint32_t* from) { return *from; }
__device__ inline std::uint32_t load_acquire_system(const std::uint32_t* from) { return *from; }
__device__ inline std::uint64_t load_acquire_system(const std::uint64_t* from) { return *from; }
__device__ inline void locked_store(std::uint32_t* to, std::uint32_t value) { *to = value; }
__device__ inline void locked_store(std::uint32_t* to, std::uint32_t a, std::uint32_t b) {
  to[0] = a, to[1] = b;
}
__device__ inline void locked_store(std::uint64_t* to, std::uint64_t a, std::uint64_t b) {
  to[0] = a, to[1] = b;
}
__device__ inline void locked_store_relaxed(std::uint32_t* to, std::uint32_t value) { *to = value; }
__device__ inline void stop_kernel() {}
#endif

}  // namespace lockstep::shmem
