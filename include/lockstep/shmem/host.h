// The host side: one process with all PEs, PE i on device i. C++17 with the declarations of the CUDA runtime
// before it, which nvcc includes by itself.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "layout.h"

namespace lockstep::shmem {

struct Handle;

/// An error on the host: one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::size_t heap_bytes = std::size_t{16} << 20;  // per PE, for malloc()
  unsigned work_groups = 1;     // per PE, using the network at the same time: each has its own queue
  unsigned queue_entries = 64;  // a power of two
};

/// An object in the symmetric heap: every PE has one, at the same offset.
template <class T>
struct Symmetric {
  std::size_t offset = 0;
  [[nodiscard]] T* on(int pe) const;
  /// The part of the object that begins with element `index`.
  [[nodiscard]] Symmetric at(std::size_t index) const { return {offset + index * sizeof(T)}; }
};

namespace detail {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Error(std::string("shmem: ") + what + ": " + cudaGetErrorString(error));
}

/// Allocates zeroed memory of the current device.
template <class T>
T* zeros(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemset(memory, 0, bytes), "cudaMemset");
  return static_cast<T*>(memory);
}

/// A function that the simulator's runtime library exports.
template <class Function>
Function simulator(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr)
    throw Error(
        "shmem: the program does not run under `lockstep exec`, so its network queues are not served");
  return reinterpret_cast<Function>(found);
}

/// The state of the library, one per process.
struct State {
  static constexpr std::size_t kAlignment = 256, kAgentBytes = std::size_t{4} << 20;
  struct Block {  // of the symmetric heap
    std::size_t offset, bytes;
    bool used;
  };
  std::vector<PeMemory> pes;
  std::vector<Block> blocks;  // by offset
  Options options;
};
inline State& state() {
  static State one;
  return one;
}

/// Calls `body(device)` for each device as the current one, then restores the current device.
template <class Body>
void on_each_device(int devices, Body body) {
  int before = 0;
  check(cudaGetDevice(&before), "cudaGetDevice");
  for (int d = 0; d < devices; ++d) {
    check(cudaSetDevice(d), "cudaSetDevice");
    body(d);
  }
  check(cudaSetDevice(before), "cudaSetDevice");
}

inline void require_state() {
  if (state().pes.empty()) throw Error("shmem: init() has not been called");
}

inline PeMemory make_pe(const Options& o, std::size_t sync, std::size_t heap_bytes) {
  PeMemory pe{};
  pe.heap_bytes = sync + heap_bytes;
  pe.heap = zeros<void>(pe.heap_bytes);
  pe.entries = zeros<Entry>(std::size_t{o.work_groups} * o.queue_entries * sizeof(Entry));
  pe.controls = zeros<QueueControl>(o.work_groups * sizeof(QueueControl));
  pe.agent_bytes = State::kAgentBytes;
  pe.agent = zeros<void>(pe.agent_bytes);
  return pe;
}

inline std::size_t aligned(std::size_t bytes) {
  return (bytes + State::kAlignment - 1) / State::kAlignment * State::kAlignment;
}

}  // namespace detail

inline int n_pes() { return static_cast<int>(detail::state().pes.size()); }

/// Makes every device a PE. Throws Error, also if the program does not run in the simulator.
inline void init(const Options& options = {}) {
  using namespace detail;
  State& s = state();
  if (!s.pes.empty()) throw Error("shmem: init() has been called before");
  const auto attach = simulator<AttachFunction>(kAttachName);
  if (options.work_groups == 0 || options.queue_entries == 0 ||
      (options.queue_entries & (options.queue_entries - 1)) != 0)
    throw Error("shmem: init() needs at least one work-group, and queues with a power of two of entries");
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  const std::size_t sync =
      aligned(options.work_groups * (sizeof(SyncWords) + static_cast<std::size_t>(devices) * kInboxBytes));
  const std::size_t heap = aligned(options.heap_bytes);
  std::vector<PeMemory> pes;
  on_each_device(devices, [&](int) {
    pes.push_back(make_pe(options, sync, heap));
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
  const World world{kLayoutVersion, static_cast<std::uint32_t>(devices), options.work_groups,
                    options.queue_entries, pes.data()};
  char message[512] = "";
  if (attach(&world, message, sizeof message) != 0) throw Error(message);
  s.options = options;
  s.pes = std::move(pes);
  s.blocks = {{sync, heap, false}};
}

/// Waits for all devices, then frees the memory of the PEs.
inline void finalize() {
  using namespace detail;
  require_state();
  State& s = state();
  on_each_device(n_pes(), [](int) { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); });
  char message[512] = "";
  if (simulator<DetachFunction>(kDetachName)(message, sizeof message) != 0) throw Error(message);
  on_each_device(n_pes(), [&](int d) {
    const PeMemory& pe = s.pes[static_cast<std::size_t>(d)];
    for (void* memory : {pe.heap, static_cast<void*>(pe.entries), static_cast<void*>(pe.controls), pe.agent})
      check(cudaFree(memory), "cudaFree");
  });
  s = {};
}

/// Allocates `count` objects on each PE. Memory that is used for the first time is zero.
template <class T>
Symmetric<T> malloc(std::size_t count) {
  using namespace detail;
  require_state();
  const std::size_t bytes = aligned(count == 0 ? 1 : count * sizeof(T));
  auto& blocks = state().blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].used || blocks[i].bytes < bytes) continue;
    const State::Block rest{blocks[i].offset + bytes, blocks[i].bytes - bytes, false};
    blocks[i] = {blocks[i].offset, bytes, true};
    if (rest.bytes > 0) blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
    return {blocks[i].offset};
  }
  throw Error("shmem: the symmetric heap has no room for " + std::to_string(bytes) +
              " bytes more; init() makes it as large as Options::heap_bytes says");
}

template <class T>
void free(Symmetric<T> object) {
  using namespace detail;
  require_state();
  auto& blocks = state().blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].used || blocks[i].offset != object.offset) continue;
    blocks[i].used = false;
    const auto join = [&](std::size_t first) {
      if (first + 1 >= blocks.size() || blocks[first].used || blocks[first + 1].used) return;
      blocks[first].bytes += blocks[first + 1].bytes;
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    };
    join(i);
    if (i > 0) join(i - 1);
    return;
  }
  throw Error("shmem: free() of what malloc() has not given");
}

template <class T>
T* Symmetric<T>::on(int pe) const {
  detail::require_state();
  return reinterpret_cast<T*>(
      static_cast<std::byte*>(detail::state().pes.at(static_cast<std::size_t>(pe)).heap) + offset);
}

/// The argument that a kernel of the PE takes. Kernels that use the network at the same time on one PE need
/// separate queues: `first` is the queue of the kernel's work-group 0.
Handle handle(int pe, unsigned first = 0);

/// How and where a kernel is launched.
struct Launch {
  int pe = 0;
  unsigned work_groups = 1, threads = 32;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;  // of the PE's device
};

/// Launches `kernel` on the PE's device. Its work-groups may wait for each other and for those of other PEs,
/// so all must be resident at the same time: throws Error if they do not fit, or if there are too few queues.
template <class... Parameters, class... Arguments>
void launch(const Launch& l, void (*kernel)(Parameters...), Arguments... arguments) {
  using namespace detail;
  require_state();
  if (l.work_groups > state().options.work_groups)
    throw Error("shmem: a kernel of " + std::to_string(l.work_groups) +
                " work-groups; init() made queues for " + std::to_string(state().options.work_groups));
  check(cudaSetDevice(l.pe), "cudaSetDevice");
  const void* const function = reinterpret_cast<const void*>(kernel);
  int fit = 0, processors = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, static_cast<int>(l.threads),
                                                      l.shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, l.pe), "cudaDeviceGetAttribute");
  const std::size_t resident = static_cast<std::size_t>(fit) * static_cast<std::size_t>(processors);
  if (l.work_groups > resident)
    throw Error("shmem: a kernel of " + std::to_string(l.work_groups) + " work-groups of " +
                std::to_string(l.threads) + " threads; " + std::to_string(resident) +
                " are resident on a device at a time, and those would wait for the others for ever");
  std::tuple<Parameters...> values(arguments...);
  std::apply(
      [&](auto&... value) {
        void* addresses[] = {const_cast<void*>(static_cast<const void*>(&value))...};
        check(cudaLaunchKernel(function, dim3(l.work_groups), dim3(l.threads), addresses, l.shared_bytes,
                               l.stream),
              "cudaLaunchKernel");
      },
      values);
}

}  // namespace lockstep::shmem
