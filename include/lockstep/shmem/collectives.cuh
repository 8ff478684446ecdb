// Collective calls: one work-group of each PE calls them, with the same queue on each and in the same order.
//
// They are algorithms on the device, made of put_signal and wait_until. As in OpenSHMEM, a PE may be done
// while others still wait for their data, and `dst` must not be in use on any PE when the first one calls.
#pragma once

#include "context.cuh"

namespace lockstep::shmem {

/// Access to a context, shared by the functions below.
class Collective {
 public:
  __device__ explicit Collective(Context& context) : c_(context), epoch_(context.sync_.next_epoch()) {}

  template <class T>
  __device__ void send(T* dst, const T* src, std::size_t count, int pe) {
    c_.put_signal_nbi(dst, src, count, &c_.sync_.words().arrived[c_.pe_], epoch_, SignalOp::kSet, pe);
  }
  __device__ void receive(int pe) {
    c_.wait_until(&c_.sync_.words().arrived[pe], Compare::kGreaterEqual, epoch_);
  }
  __device__ void receive_from_all() {
    for (int i = 1; i < c_.pes_; ++i) receive((c_.pe_ + i) % c_.pes_);
  }
  __device__ std::byte* next_inbox() { return c_.sync_.next_inbox(); }

 private:
  Context& c_;
  std::uint64_t epoch_;
};

template <class T>
__device__ void copy_group(T* dst, const T* src, std::size_t count) {
  if (dst == src) return;
  for (std::size_t i = thread_number(); i < count; i += group_threads()) dst[i] = src[i];
}

/// Broadcast: copies `src` of `root` to `dst` on every PE.
template <class T>
__device__ void broadcast(Context& c, T* dst, const T* src, std::size_t count, int root) {
  Collective call(c);
  if (c.my_pe() != root) return call.receive(root);
  for (int i = 1; i < c.n_pes(); ++i) call.send(dst, src, count, (root + i) % c.n_pes());
  copy_group(dst, src, count);
  c.quiet();
}

/// All-gather: `dst` gets the `count` elements of PE 0, then those of PE 1, and so on.
template <class T>
__device__ void fcollect(Context& c, T* dst, const T* src, std::size_t count) {
  Collective call(c);
  T* const own = dst + static_cast<std::size_t>(c.my_pe()) * count;
  for (int i = 1; i < c.n_pes(); ++i) call.send(own, src, count, (c.my_pe() + i) % c.n_pes());
  copy_group(own, src, count);
  call.receive_from_all();
  c.quiet();
}

/// All-to-all: block j of `src`, of `count` elements, becomes block i of PE j's `dst`, i being the calling
/// PE.
template <class T>
__device__ void alltoall(Context& c, T* dst, const T* src, std::size_t count) {
  Collective call(c);
  T* const to = dst + static_cast<std::size_t>(c.my_pe()) * count;
  for (int i = 1; i < c.n_pes(); ++i) {
    const int pe = (c.my_pe() + i) % c.n_pes();
    call.send(to, src + static_cast<std::size_t>(pe) * count, count, pe);
  }
  copy_group(to, src + static_cast<std::size_t>(c.my_pe()) * count, count);
  call.receive_from_all();
  c.quiet();
}

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Minimum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// All-reduce: combines the elements of all PEs by `reduce`, in the order of the PEs, so that `dst` has the
/// same bits everywhere. For small data: every PE sends all its data to every other. `dst` may be `src`.
template <class T, class Operation>
__device__ void reduce(Context& c, T* dst, const T* src, std::size_t count, Operation operation) {
  constexpr std::size_t kMaxElements = kReduceBytes / sizeof(T);
  for (std::size_t begin = 0; begin < count; begin += kMaxElements) {
    const std::size_t some = count - begin < kMaxElements ? count - begin : kMaxElements;
    Collective call(c);
    T* const inbox = reinterpret_cast<T*>(call.next_inbox());
    for (int i = 1; i < c.n_pes(); ++i)
      call.send(inbox + static_cast<std::size_t>(c.my_pe()) * kMaxElements, src + begin, some,
                (c.my_pe() + i) % c.n_pes());
    c.quiet();  // before writing `dst`, which may be the same
    call.receive_from_all();
    for (std::size_t i = thread_number(); i < some; i += group_threads()) {
      const auto of = [&](int pe) {
        return pe == c.my_pe() ? src[begin + i] : inbox[static_cast<std::size_t>(pe) * kMaxElements + i];
      };
      T sum = of(0);
      for (int pe = 1; pe < c.n_pes(); ++pe) sum = operation(sum, of(pe));
      dst[begin + i] = sum;
    }
  }
  __syncthreads();
}

}  // namespace lockstep::shmem
