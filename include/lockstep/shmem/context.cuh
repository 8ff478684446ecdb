// The device side: the network operations that a kernel's work-groups can request.
//
// Every function is a call of the whole work-group: all its threads call it with the same arguments, and it
// ends with a barrier of the work-group. Names and meanings are OpenSHMEM's (specification 1.5). `dst` and
// `src` on another PE are named by the address of the caller's own copy in its symmetric heap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compare.cuh"
#include "queue.cuh"
#include "sync_state.cuh"

namespace lockstep::shmem {

/// What a signal does to its word.
enum class SignalOp : std::uint8_t { kSet, kAdd };

namespace detail {

template <class T>
__device__ std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
/// `count` values of at most 8 bytes in all.
template <class T>
__device__ std::uint64_t bits_of(const T* values, std::size_t count) {
  std::uint64_t bits = 0;
  if constexpr (sizeof(T) <= sizeof bits)
    for (std::size_t i = 0; i < sizeof bits / sizeof(T); ++i)
      if (i < count) bits |= bits_of(values[i]) << 8 * sizeof(T) * i;
  return bits;
}
__device__ inline std::uint64_t address_of(const volatile void* p) {
  return reinterpret_cast<std::uint64_t>(p);
}

}  // namespace detail

/// A work-group's context: its own queue, and which of the queue's operations are complete. Each thread has a
/// copy. There is at most one context per queue at a time.
class Context {
 public:
  /// For the calling work-group: queue `handle.first` plus its number in the grid. All operations of a
  /// context that the queue had before must be complete.
  __device__ explicit Context(const Handle& handle) : Context(handle, handle.first + group_number()) {}
  __device__ Context(const Handle& handle, unsigned queue)
      : queue_(handle, queue), sync_(handle, queue_), heap_(handle.heap), pe_(handle.pe), pes_(handle.pes) {
    __syncthreads();
  }
  /// Waits until all operations are complete. Call it before the kernel ends; the context must not be used
  /// afterwards.
  __device__ void destroy() { quiet(); }

  __device__ int my_pe() const { return pe_; }
  __device__ int n_pes() const { return pes_; }

  /// `src` may be overwritten on return; the data are on the target after quiet().
  template <class T>
  __device__ void put(T* dst, const T* src, std::size_t count, int pe) {
    put_data(dst, src, count, pe, Entry::kBlocking);
  }
  /// `src` may be overwritten after quiet().
  template <class T>
  __device__ void put_nbi(T* dst, const T* src, std::size_t count, int pe) {
    put_data(dst, src, count, pe, 0);
  }
  /// Like put(), then updates `signal` on the target, where the data are visible by then.
  template <class T>
  __device__ void put_signal(T* dst, const T* src, std::size_t count, std::uint64_t* signal,
                             std::uint64_t value, SignalOp op, int pe) {
    put_data(dst, src, count, pe, Entry::kBlocking, signal, value, op);
  }
  template <class T>
  __device__ void put_signal_nbi(T* dst, const T* src, std::size_t count, std::uint64_t* signal,
                                 std::uint64_t value, SignalOp op, int pe) {
    put_data(dst, src, count, pe, 0, signal, value, op);
  }
  /// The data are at `dst` on return.
  template <class T>
  __device__ void get(T* dst, const T* src, std::size_t count, int pe) {
    get_data(dst, src, count, pe, Entry::kBlocking);
  }
  /// The data are at `dst` after quiet(); fence() does not order them.
  template <class T>
  __device__ void get_nbi(T* dst, const T* src, std::size_t count, int pe) {
    get_data(dst, src, count, pe, 0);
  }
  /// Puts one value of at most 8 bytes, which travels in the entry.
  template <class T>
  __device__ void p(T* dst, T value, int pe) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "p: a value of at most 8 bytes");
    Entry e = entry(Op::kPut, dst, pe, sizeof(T), Entry::kInline);
    e.local = detail::bits_of(value);
    queue_.submit(e);
  }
  template <class T>
  __device__ T g(const T* src, int pe) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "g: a value of at most 8 bytes");
    return ask<T>(entry(Op::kGet, src, pe, sizeof(T), Entry::kBlocking));
  }

  // Atomic operations on integers of 4 or 8 bytes. Non-fetching ones have reached the target after quiet().
  template <class T>
  __device__ void atomic_set(T* dst, T value, int pe) {
    queue_.submit(atomic(AtomicOp::kSet, dst, value, pe));
  }
  template <class T>
  __device__ void atomic_add(T* dst, T value, int pe) {
    queue_.submit(atomic(AtomicOp::kAdd, dst, value, pe));
  }
  template <class T>
  __device__ void atomic_inc(T* dst, int pe) {
    queue_.submit(atomic(AtomicOp::kAdd, dst, T{1}, pe));
  }
  template <class T>
  __device__ void atomic_and(T* dst, T value, int pe) {
    queue_.submit(atomic(AtomicOp::kAnd, dst, value, pe));
  }
  template <class T>
  __device__ void atomic_or(T* dst, T value, int pe) {
    queue_.submit(atomic(AtomicOp::kOr, dst, value, pe));
  }
  template <class T>
  __device__ void atomic_xor(T* dst, T value, int pe) {
    queue_.submit(atomic(AtomicOp::kXor, dst, value, pe));
  }
  // These return the old value.
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

  /// Waits until the comparison of a word of 4 or 8 bytes in the caller's own symmetric heap with `value`
  /// holds.
  template <class T>
  __device__ void wait_until(const T* word, Compare compare, T value) {
    if (thread_number() < 32) detail::wait_for(word, compare, value);
    __syncthreads();
  }
  template <class T>
  __device__ bool test(const T* word, Compare compare, T value) {
    return __syncthreads_or(thread_number() == 0 &&
                            detail::holds(detail::load_system(word), compare, value)) != 0;
  }

  /// On each PE, earlier puts and atomics become visible before later ones. The NIC processes operations
  /// concurrently, so a short one could overtake a long one: this is a quiet().
  __device__ void fence() { quiet(); }
  /// Waits until all operations of the context are complete.
  __device__ void quiet() { queue_.submit(entry(Op::kQuiet, heap_, pe_, 0, Entry::kBlocking)); }

  /// A barrier: one work-group of each PE calls it, with the same queue on each; returns when all have. Does
  /// not wait for the contexts' earlier puts.
  __device__ void sync_all() {
    const std::uint64_t epoch = sync_.next_epoch();
    for (int round = 0, distance = 1; distance < pes_; ++round, distance *= 2) {
      p(&sync_.words().round[round], epoch, (pe_ + distance) % pes_);
      wait_until(&sync_.words().round[round], Compare::kGreaterEqual, epoch);
    }
  }
  /// quiet() and sync_all().
  __device__ void barrier_all() {
    quiet();
    sync_all();
  }

 private:
  friend class Collective;

  __device__ std::uint64_t offset_of(const volatile void* p) const {
    return detail::address_of(p) - detail::address_of(heap_);
  }
  __device__ Entry entry(Op op, const volatile void* remote, int pe, std::size_t bytes,
                         unsigned flags) const {
    Entry e{};
    e.op = static_cast<std::uint8_t>(op);
    e.flags = static_cast<std::uint8_t>(flags);
    e.pe = static_cast<std::uint32_t>(pe);
    e.remote = offset_of(remote);
    e.bytes = bytes;
    return e;
  }
  template <class T>
  __device__ void put_data(T* dst, const T* src, std::size_t count, int pe, unsigned flags,
                           std::uint64_t* signal = nullptr, std::uint64_t value = 0, SignalOp op = {}) {
    const std::size_t bytes = count * sizeof(T);
    Entry e = entry(Op::kPut, dst, pe, bytes, flags);
    e.local = detail::address_of(src);
    if (bytes <= sizeof(std::uint64_t)) {
      __syncthreads();  // another thread may have written it
      if (thread_number() == 0) e.local = detail::bits_of(src, count);
      e.flags = Entry::kInline;
    }
    if (signal != nullptr) {
      e.flags |= Entry::kSignal | (op == SignalOp::kAdd ? Entry::kSignalAdd : 0);
      e.signal = offset_of(signal);
      e.value = value;
    }
    queue_.submit(e);
  }
  template <class T>
  __device__ void get_data(T* dst, const T* src, std::size_t count, int pe, unsigned flags) {
    Entry e = entry(Op::kGet, src, pe, count * sizeof(T), flags);
    e.local = detail::address_of(dst);
    queue_.submit(e);
  }
  template <class T>
  __device__ Entry atomic(AtomicOp op, const T* dst, T value, int pe, unsigned flags = 0) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an integer of 4 or 8 bytes");
    Entry e = entry(Op::kAtomic, dst, pe, sizeof(T), flags);
    e.atomic_op = static_cast<std::uint8_t>(op);
    e.value = detail::bits_of(value);
    return e;
  }
  template <class T>
  __device__ T fetch(AtomicOp op, const T* dst, T value, T compare, int pe) {
    Entry e = atomic(op, dst, value, pe, Entry::kBlocking | Entry::kReturns);
    e.compare = detail::bits_of(compare);
    return ask<T>(e);
  }
  /// The value that the request returns.
  template <class T>
  __device__ T ask(Entry e) {
    std::uint64_t& returned = queue_.control().returned;
    e.local = detail::address_of(&returned);
    queue_.submit(e);
    return *reinterpret_cast<const volatile T*>(&returned);
  }

  Queue queue_;
  SyncState sync_;
  std::byte* heap_;
  int pe_, pes_;
};

}  // namespace lockstep::shmem
