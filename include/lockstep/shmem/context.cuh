// The device side: what the work-groups of a kernel ask of the network.
//
// Every function is a call of the whole work-group: all its threads call it with the same arguments, and it
// ends with a barrier of the work-group. Names and meanings are OpenSHMEM's (specification 1.5). `dst` and
// `src` on another PE are named by the address of the caller's own copy in its symmetric heap.
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

enum class Compare : std::uint8_t { kEqual, kNotEqual, kGreater, kGreaterEqual, kLess, kLessEqual };

/// What a signal does to its word.
enum class SignalOp : std::uint8_t { kSet, kAdd };

/// Of one work-group: its own queue, and which of the queue's operations are complete. Each thread has a copy.
/// One lives at a time for each queue.
class Context {
 public:
  /// For the calling work-group: queue `handle.first` plus its number in the grid. All operations of a context
  /// that the queue had before must be complete.
  __device__ explicit Context(const Handle& handle) : Context(handle, handle.first + group_number()) {}
  __device__ Context(const Handle& handle, unsigned queue)
      : heap_(handle.heap), pe_(handle.pe), pes_(handle.pes), queue_(queue), mask_(handle.depth - 1) {
    if (queue >= handle.queues) stop_kernel();  // more work-groups than init() was asked for
    entries_ = handle.entries + std::size_t{queue} * handle.depth;
    control_ = handle.controls + queue;
    write_ = read_ = load_acquire(&control_->served);
    epoch_ = control_->epoch;
    reductions_ = control_->reductions;
    __syncthreads();
  }
  /// All operations are complete; to be called before the kernel ends. The context is not used any more.
  __device__ void destroy() { quiet(); }

  __device__ int my_pe() const { return pe_; }
  __device__ int n_pes() const { return pes_; }

  /// `src` may be written again afterwards; the data are on the target after quiet().
  template <class T>
  __device__ void put(T* dst, const T* src, std::size_t count, int pe) {
    put_data(dst, src, count, pe, Entry::kBlocking);
  }
  /// `src` may be written again after quiet().
  template <class T>
  __device__ void put_nbi(T* dst, const T* src, std::size_t count, int pe) {
    put_data(dst, src, count, pe, 0);
  }
  /// As put(); then `signal` on the target, which sees the data by then.
  template <class T>
  __device__ void put_signal(T* dst, const T* src, std::size_t count, std::uint64_t* signal, std::uint64_t value,
                             SignalOp op, int pe) {
    put_data(dst, src, count, pe, Entry::kBlocking, signal, value, op);
  }
  template <class T>
  __device__ void put_signal_nbi(T* dst, const T* src, std::size_t count, std::uint64_t* signal,
                                 std::uint64_t value, SignalOp op, int pe) {
    put_data(dst, src, count, pe, 0, signal, value, op);
  }
  /// The data are at `dst` afterwards.
  template <class T>
  __device__ void get(T* dst, const T* src, std::size_t count, int pe) {
    get_data(dst, src, count, pe, Entry::kBlocking);
  }
  /// The data are at `dst` after quiet(); fence() says nothing of them.
  template <class T>
  __device__ void get_nbi(T* dst, const T* src, std::size_t count, int pe) {
    get_data(dst, src, count, pe, 0);
  }
  /// One value of at most 8 bytes, which travels in the entry.
  template <class T>
  __device__ void p(T* dst, T value, int pe) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "p: a value of at most 8 bytes");
    Entry e = entry(Op::kPut, dst, pe, sizeof(T), Entry::kInline);
    e.local = bits_of(value);
    submit(e);
  }
  template <class T>
  __device__ T g(const T* src, int pe) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "g: a value of at most 8 bytes");
    Entry e = entry(Op::kGet, src, pe, sizeof(T), Entry::kBlocking);
    e.local = address_of(&control_->returned);
    submit(e);
    return *reinterpret_cast<const volatile T*>(&control_->returned);
  }

  // Atomic operations on integers of 4 or 8 bytes. What does not fetch is on the target after quiet().
  template <class T>
  __device__ void atomic_set(T* dst, T value, int pe) {
    change(AtomicOp::kSet, dst, value, pe);
  }
  template <class T>
  __device__ void atomic_add(T* dst, T value, int pe) {
    change(AtomicOp::kAdd, dst, value, pe);
  }
  template <class T>
  __device__ void atomic_inc(T* dst, int pe) {
    change(AtomicOp::kAdd, dst, T{1}, pe);
  }
  template <class T>
  __device__ void atomic_and(T* dst, T value, int pe) {
    change(AtomicOp::kAnd, dst, value, pe);
  }
  template <class T>
  __device__ void atomic_or(T* dst, T value, int pe) {
    change(AtomicOp::kOr, dst, value, pe);
  }
  template <class T>
  __device__ void atomic_xor(T* dst, T value, int pe) {
    change(AtomicOp::kXor, dst, value, pe);
  }
  // These give the old value.
  template <class T>
  __device__ T atomic_fetch(const T* src, int pe) {
    return fetch(AtomicOp::kFetch, src, T{}, T{}, pe);
  }
  template <class T>
  __device__ T atomic_swap(T* dst, T value, int pe) {
    return fetch(AtomicOp::kSet, dst, value, T{}, pe);
  }
  template <class T>
  __device__ T atomic_compare_swap(T* dst, T compare, T value, int pe) {
    return fetch(AtomicOp::kCompareSwap, dst, value, compare, pe);
  }
  template <class T>
  __device__ T atomic_fetch_add(T* dst, T value, int pe) {
    return fetch(AtomicOp::kAdd, dst, value, T{}, pe);
  }
  template <class T>
  __device__ T atomic_fetch_inc(T* dst, int pe) {
    return fetch(AtomicOp::kAdd, dst, T{1}, T{}, pe);
  }
  template <class T>
  __device__ T atomic_fetch_and(T* dst, T value, int pe) {
    return fetch(AtomicOp::kAnd, dst, value, T{}, pe);
  }
  template <class T>
  __device__ T atomic_fetch_or(T* dst, T value, int pe) {
    return fetch(AtomicOp::kOr, dst, value, T{}, pe);
  }
  template <class T>
  __device__ T atomic_fetch_xor(T* dst, T value, int pe) {
    return fetch(AtomicOp::kXor, dst, value, T{}, pe);
  }

  /// Waits until the word of the caller's own symmetric heap, of 4 or 8 bytes, compares so with `value`.
  template <class T>
  __device__ void wait_until(const T* word, Compare compare, T value) {
    if (first_warp()) wait_for(word, compare, value);
    __syncthreads();
  }
  template <class T>
  __device__ bool test(const T* word, Compare compare, T value) {
    return __syncthreads_or(thread_number() == 0 && holds(load_system(word), compare, value)) != 0;
  }

  /// Puts and atomics before it are seen on each PE before those after it. The network keeps the order of what
  /// goes from one PE to another, so there is nothing to do but for the work-group's own threads.
  __device__ void fence() { __syncthreads(); }
  /// All operations of the context are complete.
  __device__ void quiet() { submit(entry(Op::kQuiet, heap_, pe_, 0, Entry::kBlocking)); }

  /// One work-group of each PE calls it, with the same queue on each; returns when all have. What their
  /// contexts put before is not waited for.
  __device__ void sync_all() {
    const std::uint64_t epoch = next_epoch();
    for (int round = 0, distance = 1; distance < pes_; ++round, distance *= 2) {
      p(&sync_words()->round[round], epoch, (pe_ + distance) % pes_);
      wait_until(&sync_words()->round[round], Compare::kGreaterEqual, epoch);
    }
  }
  /// quiet() and sync_all().
  __device__ void barrier_all() {
    quiet();
    sync_all();
  }

 private:
  friend class Collective;

  __device__ static bool first_warp() { return thread_number() < 32; }
  template <class T>
  __device__ static std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
  }
  __device__ static std::uint64_t address_of(const volatile void* p) { return reinterpret_cast<std::uint64_t>(p); }
  __device__ std::uint64_t offset_of(const volatile void* p) const { return address_of(p) - address_of(heap_); }
  __device__ SyncWords* sync_words() const {
    return reinterpret_cast<SyncWords*>(heap_ + queue_ * (sizeof(SyncWords) + pes_ * kInboxBytes));
  }

  template <class T>
  __device__ static T load_system(const T* word) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a word of 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
      return static_cast<T>(load_acquire_system(reinterpret_cast<const std::uint32_t*>(word)));
    else
      return static_cast<T>(load_acquire_system(reinterpret_cast<const std::uint64_t*>(word)));
  }
  template <class T>
  __device__ static bool holds(T is, Compare compare, T value) {
    switch (compare) {
      case Compare::kEqual:
        return is == value;
      case Compare::kNotEqual:
        return is != value;
      case Compare::kGreater:
        return is > value;
      case Compare::kGreaterEqual:
        return is >= value;
      case Compare::kLess:
        return is < value;
      case Compare::kLessEqual:
        return is <= value;
    }
    return false;
  }
  template <class T>
  __device__ static void wait_for(const T* word, Compare compare, T value) {
    while (!holds(load_system(word), compare, value)) {
    }
  }

  __device__ Entry entry(Op op, const volatile void* remote, int pe, std::size_t bytes, unsigned flags) const {
    Entry e{};
    e.op = static_cast<std::uint8_t>(op);
    e.flags = static_cast<std::uint8_t>(flags);
    e.pe = static_cast<std::uint32_t>(pe);
    e.context = queue_;
    e.remote = offset_of(remote);
    e.bytes = bytes;
    return e;
  }
  template <class T>
  __device__ void put_data(T* dst, const T* src, std::size_t count, int pe, unsigned flags,
                           std::uint64_t* signal = nullptr, std::uint64_t value = 0, SignalOp op = {}) {
    const std::size_t bytes = count * sizeof(T);
    Entry e = entry(Op::kPut, dst, pe, bytes, flags);
    e.local = address_of(src);
    if (bytes <= sizeof(std::uint64_t)) {
      __syncthreads();  // another thread may have written it
      if (thread_number() == 0) e.local = inline_bits(src, count);
      e.flags = Entry::kInline;
    }
    if (signal != nullptr) {
      e.flags |= Entry::kSignal | (op == SignalOp::kAdd ? Entry::kSignalAdd : 0);
      e.signal = offset_of(signal);
      e.value = value;
    }
    submit(e);
  }
  template <class T>
  __device__ static std::uint64_t inline_bits(const T* src, std::size_t count) {
    std::uint64_t bits = 0;
    if constexpr (sizeof(T) <= sizeof bits)
      for (std::size_t i = 0; i < sizeof bits / sizeof(T); ++i)
        if (i < count) bits |= bits_of(src[i]) << 8 * sizeof(T) * i;
    return bits;
  }
  template <class T>
  __device__ void get_data(T* dst, const T* src, std::size_t count, int pe, unsigned flags) {
    Entry e = entry(Op::kGet, src, pe, count * sizeof(T), flags);
    e.local = address_of(dst);
    submit(e);
  }
  template <class T>
  __device__ Entry atomic(AtomicOp op, const T* dst, T value, int pe, unsigned flags) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an integer of 4 or 8 bytes");
    Entry e = entry(Op::kAtomic, dst, pe, sizeof(T), flags);
    e.atomic_op = static_cast<std::uint8_t>(op);
    e.value = bits_of(value);
    return e;
  }
  template <class T>
  __device__ void change(AtomicOp op, T* dst, T value, int pe) {
    submit(atomic(op, dst, value, pe, 0));
  }
  template <class T>
  __device__ T fetch(AtomicOp op, const T* dst, T value, T compare, int pe) {
    Entry e = atomic(op, dst, value, pe, Entry::kBlocking | Entry::kReturns);
    e.compare = bits_of(compare);
    e.local = address_of(&control_->returned);
    submit(e);
    return *reinterpret_cast<const volatile T*>(&control_->returned);
  }

  /// The number of the next collective call.
  __device__ std::uint64_t next_epoch() {
    ++epoch_;
    if (thread_number() == 0) control_->epoch = epoch_;
    return epoch_;
  }

  // The protocol of a producer: docs/networking.md has its steps.

  __device__ void submit(const Entry& e) {
    __syncthreads();  // what the work-group has written comes before the entry
    const bool blocks = (e.flags & Entry::kBlocking) != 0;
    if (first_warp()) {
      while (write_ - read_ > mask_) read_ = load_acquire(&control_->served);
      if (thread_number() == 0) publish(e);
      if (blocks) wait_for_entries();
    }
    ++write_;
    if (blocks) read_ = write_;
    __syncthreads();
  }
  __device__ void publish(const Entry& e) {
    Entry& slot = entries_[write_ & mask_];
    locked_store(reinterpret_cast<std::uint32_t*>(&slot.op),
                 std::uint32_t{e.op} | std::uint32_t{e.atomic_op} << 8 | std::uint32_t{e.flags} << 16);
    locked_store(&slot.pe, e.pe, e.context);
    locked_store(&slot.remote, e.remote, e.local);
    locked_store(&slot.bytes, e.bytes, e.signal);
    locked_store(&slot.value, e.value, e.compare);
    release_fence();
    locked_store_relaxed(&slot.status, Entry::kReady);
    release_fence();
  }
  /// All that are not known to have been dealt with, the one at write_ among them.
  __device__ void wait_for_entries() {
    for (std::uint32_t i = read_; i != write_ + 1; ++i)
      while (load_acquire(&entries_[i & mask_].status) != Entry::kFree) {
      }
  }

  Entry* entries_;
  QueueControl* control_;
  std::byte* heap_;
  int pe_, pes_;
  unsigned queue_, mask_;
  std::uint32_t write_, read_;  // entries written; known to have been dealt with
  std::uint64_t epoch_, reductions_;
};

}  // namespace lockstep::shmem
