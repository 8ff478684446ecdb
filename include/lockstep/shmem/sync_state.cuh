// The state of a context's collective calls: the number of the call, and the words by which PEs synchronise.
#pragma once

#include "queue.cuh"

namespace lockstep::shmem {

class SyncState {
 public:
  __device__ SyncState(const Handle& handle, const Queue& queue)
      : control_(&queue.control()),
        words_(reinterpret_cast<SyncWords*>(handle.heap +
                                            queue.number() * (sizeof(SyncWords) + handle.pes * kInboxBytes))),
        pes_(handle.pes),
        epoch_(control_->epoch),
        reductions_(control_->reductions) {}

  __device__ SyncWords& words() const { return *words_; }
  /// The number of the next call, the same on each PE.
  __device__ std::uint64_t next_epoch() {
    ++epoch_;
    if (thread_number() == 0) control_->epoch = epoch_;
    return epoch_;
  }
  /// Where the next reduction receives the data of PE 0, followed by those of the others. PEs that have
  /// already begun the reduction after it write elsewhere, and no PE begins a third one before all have read.
  __device__ std::byte* next_inbox() {
    std::byte* const inboxes = reinterpret_cast<std::byte*>(words_ + 1);
    const std::uint64_t which = reductions_++ % 2;
    if (thread_number() == 0) control_->reductions = reductions_;
    return inboxes + which * static_cast<std::size_t>(pes_) * kReduceBytes;
  }

 private:
  QueueControl* control_;
  SyncWords* words_;
  int pes_;
  std::uint64_t epoch_, reductions_;
};

}  // namespace lockstep::shmem
