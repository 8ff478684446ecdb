// Carries operations out: their effects on memory, and what is recorded of them.
#pragma once

#include <cstdint>

#include "cuda/allocations.hpp"
#include "cuda/devices.hpp"
#include "cuda/held_work.hpp"
#include "cuda/kernel_runner.hpp"
#include "cuda/memory_log.hpp"
#include "cuda/recording.hpp"
#include "cuda/streams.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::cuda {

class Performer {
 public:
  /// What operations act on; all must outlive this.
  struct Parts {
    exec::DeviceMemory& memory;
    MemoryLog& memory_log;
    Allocations& allocations;
    Devices& devices;
    Streams& streams;
    Recording& recording;
    KernelRunner& kernels;
  };
  explicit Performer(const Parts& parts) : parts_(parts) {}

  /// False: a kernel that waits; call again to go on. Throws ApiError, and exec::DeviceFault, after which
  /// every call on the device fails.
  [[nodiscard]] bool perform(Work& work);

 private:
  [[nodiscard]] bool on_device(Work& work);
  [[nodiscard]] bool carry_out(Work& work);
  void copy(const Copy& copy, const StreamState& stream);
  void fill(const Fill& fill, const StreamState& stream);
  void note(const Fill& fill, const StreamState& stream);
  void record_event(Work& work);
  void wait_event(const Work& work);
  void prefetch(const PrefetchMemory& prefetch, const StreamState& stream);
  void free(const FreeMemory& memory);
  [[nodiscard]] bool task(const ProcessTask& task, const StreamState& stream);
  [[nodiscard]] bool values(ValueOperations& operations, const StreamState& stream);

  /// Without a timing model: executed warp instructions and copied lines, of the program's ranges.
  [[nodiscard]] std::uint64_t ticks() const {
    return parts_.kernels.executed() + copied_lines_ - ticks_outside_;
  }

  Parts parts_;
  std::uint64_t copied_lines_ = 0;
  std::uint64_t ticks_outside_ = 0;  // of work outside of the program's ranges
};

}  // namespace lockstep::cuda
