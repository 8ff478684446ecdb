// The producer's side of a network queue: how a work-group hands a request to the agent. docs/networking.md
// has the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout.h"
#include "memory.cuh"

namespace lockstep::shmem {

/// A PE, as its kernels see it: shmem::handle() on the host makes it, and it is passed to kernels by value.
struct Handle {
  int pe, pes;
  unsigned queues, depth;
  unsigned first;   // queue of the kernel's work-group 0
  std::byte* heap;  // the PE's own
  Entry* entries;
  QueueControl* controls;
};

/// A work-group's view of its queue. Each of its threads has a copy and calls every function.
class Queue {
 public:
  /// Precondition: all earlier entries of the queue have been processed.
  __device__ Queue(const Handle& handle, unsigned number) : number_(number), mask_(handle.depth - 1) {
    if (number >= handle.queues) stop_kernel();  // more work-groups than init() was asked for
    entries_ = handle.entries + std::size_t{number} * handle.depth;
    control_ = handle.controls + number;
    write_ = read_ = load_acquire(&control_->served);
  }
  __device__ unsigned number() const { return number_; }
  __device__ QueueControl& control() const { return *control_; }

  /// Submits a request and, if it is blocking, waits for its completion. Begins and ends with a barrier of
  /// the work-group.
  __device__ void submit(const Entry& e) {
    __syncthreads();  // what the work-group has written comes before the entry
    const bool blocks = (e.flags & Entry::kBlocking) != 0;
    if (thread_number() < kWarpThreads) {
      while (write_ - read_ > mask_) read_ = load_acquire(&control_->served);
      if (thread_number() == 0) publish(e);
      if (blocks) wait_for_entries();
    }
    ++write_;
    if (blocks) read_ = write_;
    __syncthreads();
  }

 private:
  static constexpr unsigned kWarpThreads = 32;

  __device__ void publish(const Entry& e) {
    Entry& slot = entries_[write_ & mask_];
    locked_store(reinterpret_cast<std::uint32_t*>(&slot.op),
                 std::uint32_t{e.op} | std::uint32_t{e.atomic_op} << 8 | std::uint32_t{e.flags} << 16);
    locked_store(&slot.pe, e.pe, number_);
    locked_store(&slot.remote, e.remote, e.local);
    locked_store(&slot.bytes, e.bytes, e.signal);
    locked_store(&slot.value, e.value, e.compare);
    release_fence();
    locked_store_relaxed(&slot.status, Entry::kReady);
    release_fence();
  }
  /// How many entries are not known to have been processed, including the one at write_.
  __device__ void wait_for_entries() {
    for (std::uint32_t i = read_; i != write_ + 1; ++i)
      while (load_acquire(&entries_[i & mask_].status) != Entry::kFree) {
      }
  }

  Entry* entries_;
  QueueControl* control_;
  unsigned number_, mask_;
  std::uint32_t write_, read_;  // entries written; entries known to have been processed
};

}  // namespace lockstep::shmem
