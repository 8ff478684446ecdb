// What a program asks of the GPU, as values: performed at once, or kept as a node of a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/abi.hpp"
#include "cuda/graph_memory.hpp"
#include "trace/host_task.hpp"
#include "trace/l2_policy.hpp"
#include "util/types.hpp"

namespace lockstep::cuda {

struct Kernel;

struct KernelLaunch {
  const void* function = nullptr;  // as the program names the kernel
  const Kernel* kernel = nullptr;
  abi::dim3 grid, block;
  std::optional<abi::dim3> cluster;  // CTAs; none: neither launch nor kernel has any
  std::uint64_t dynamic_shared = 0;
  std::vector<std::byte> parameters;  // the kernel's parameter space
  bool cooperative = false;
  trace::L2Launch l2;  // its window
};

[[nodiscard]] inline Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

/// One side of a copy: rows of `pitch` bytes, slices of `slice` bytes.
struct CopyEnd {
  std::byte* address = nullptr;
  std::size_t pitch = 0, slice = 0;
};
struct Copy {
  CopyEnd to, from;
  std::size_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
  int kind = abi::kDefault;
  bool blocking = false;  // the host waits for it
};

/// Bytes from a slice to the next; the largest number where 64 bits do not hold them.
[[nodiscard]] inline std::size_t slice_of(std::size_t pitch, std::size_t rows) {
  std::size_t slice = 0;
  return __builtin_mul_overflow(pitch, rows, &slice) ? ~std::size_t{0} : slice;
}
/// Bytes from the first to behind the last of `depth` slices of `height` rows of `width` elements; the
/// largest number where 64 bits do not hold them.
[[nodiscard]] inline std::uint64_t span_of(std::size_t pitch, std::size_t slice, std::size_t width,
                                           std::size_t height, std::size_t depth, std::size_t element = 1) {
  std::uint64_t slices = 0, rows = 0, row = 0, span = 0;
  const bool overflows =
      __builtin_mul_overflow(slice, depth - 1, &slices) || __builtin_mul_overflow(pitch, height - 1, &rows) ||
      __builtin_mul_overflow(width, element, &row) || __builtin_add_overflow(slices, rows, &span) ||
      __builtin_add_overflow(span, row, &span);
  return overflows ? ~std::uint64_t{0} : span;
}
/// Their product may be zero where none of them is.
[[nodiscard]] inline bool is_empty(std::size_t width, std::size_t height, std::size_t depth = 1) {
  return width == 0 || height == 0 || depth == 0;
}

struct Fill {
  std::byte* address = nullptr;
  std::size_t pitch = 0, slice = 0;
  std::uint32_t value = 0;
  unsigned element = 1;                          // bytes: 1, 2 or 4
  std::size_t width = 0, height = 1, depth = 1;  // elements, rows, slices
};

struct HostCall {
  abi::HostFn call = nullptr;
  void* data = nullptr;
};
/// `external`: where a stream is captured, a node of the graph instead of a dependence within it.
/// `of_device`: the event stands for the work of all streams of the device; all of them wait for it.
struct RecordEvent {
  abi::Event event = nullptr;
  bool external = false;
  bool of_device = false;
};
struct WaitEvent {
  abi::Event event = nullptr;
  bool external = false;
  bool of_device = false;
};
/// A graph's allocation comes into use; FreeMemory ends it, as that of every other allocation.
struct AllocateMemory {
  std::shared_ptr<const GraphAllocation> memory;
};
struct FreeMemory {
  void* address = nullptr;
};
/// cudaMemPrefetchAsync; no functional effect.
struct PrefetchMemory {
  Address address = 0;
  std::uint64_t bytes = 0;
  bool to_host = false;
  std::uint16_t device = 0;  // else
};
/// One of cuStreamBatchMemOp: writes a value of 4 or 8 bytes, or waits until memory has one.
struct ValueOperation {
  enum class Kind : std::uint8_t { kWrite, kWaitGreaterOrEqual, kWaitEqual, kWaitAnd, kWaitNor };
  Address address = 0;
  std::uint64_t value = 0;
  Kind kind = Kind::kWrite;
  std::uint8_t bytes = 4;
};
/// CUstreamBatchMemOpParams: waits and writes; other operations have only the first field.
struct BatchOperation {
  enum Type { kWait32 = 1, kWrite32, kFlushRemote, kWait64, kWrite64, kBarrier };
  int operation;
  Address address;
  std::uint64_t value;  // of 32 bits, the low ones
  unsigned flags;
  Address alias;
  std::uint64_t reserved;
};
static_assert(sizeof(BatchOperation) == 48 && offsetof(BatchOperation, flags) == 24);

struct ValueOperations {
  std::vector<ValueOperation> list;
  std::size_t done = 0;  // of them, from the first on
};
/// Of the process of the stream's device on its host. `call` does the work of a task that computes.
struct ProcessTask {
  trace::HostTask task;
  abi::HostFn call = nullptr;
  void* data = nullptr;
};
struct Nothing {};

using Operation = std::variant<Nothing, KernelLaunch, Copy, Fill, HostCall, RecordEvent, WaitEvent,
                               AllocateMemory, FreeMemory, PrefetchMemory, ValueOperations, ProcessTask>;

}  // namespace lockstep::cuda
