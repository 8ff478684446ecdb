// What the processes of PEs do on their hosts, alongside kernels: compute, send, receive, as an MPI program
// does. See docs/networking.md, "Programs of the host".
#pragma once

#include <memory>
#include <utility>

#include "host.h"

namespace lockstep::shmem {

/// The process of a PE. Its tasks are enqueued in a stream of the PE's device, in order with the kernels and
/// copies there; each begins when everything before it is complete. Calls do not wait. For the
/// machine's designs `inter_kernel` and `cpu`. Throws Error.
class HostProcess {
 public:
  explicit HostProcess(int pe, cudaStream_t stream = nullptr) : pe_(pe), stream_(stream) {
    detail::require_state();
  }
  [[nodiscard]] int pe() const { return pe_; }

  /// Computes with all threads of the process: this many instructions and bytes of host memory, read and
  /// written. `work` is called once to do it; it may access the PE's memory like the host's.
  template <class Work>
  void compute(std::uint64_t instructions, std::uint64_t bytes, Work work) const {
    HostTask task = task_of(Task::kCompute, 0);
    task.instructions = instructions;
    task.bytes = bytes;
    task.call = [](void* data) { (*std::unique_ptr<Work>(static_cast<Work*>(data)))(); };
    task.data = new Work(std::move(work));
    put(task);
  }

  /// Sends `count` elements of the PE's memory to `dst` on another PE, given as the caller's own address of
  /// the symmetric object. `src` may be overwritten after flush().
  template <class T>
  void send(T* dst, const T* src, std::size_t count, int to) const {
    put_send(dst, src, count, to, 0);
  }
  /// Waits for the next message from that PE. Messages from one PE arrive in the order in which they were
  /// sent.
  void receive(int from) const { put(task_of(Task::kReceive, from)); }
  /// Waits until all messages that this process has sent have arrived.
  void flush() const { put(task_of(Task::kFlush, 0)); }

  // Within a call that has enqueued a task already: they cost only the library's instructions for a message.
  template <class T>
  void send_within(T* dst, const T* src, std::size_t count, int to) const {
    put_send(dst, src, count, to, HostTask::kWithin);
  }
  void receive_within(int from) const { put(task_of(Task::kReceive, from, HostTask::kWithin)); }
  void flush_within() const { put(task_of(Task::kFlush, 0, HostTask::kWithin)); }

 private:
  [[nodiscard]] HostTask task_of(Task task, int peer, std::uint32_t flags = 0) const {
    HostTask all{};
    all.flags = flags;
    all.task = static_cast<std::uint32_t>(task);
    all.pe = static_cast<std::uint32_t>(pe_);
    all.peer = static_cast<std::uint32_t>(peer);
    return all;
  }
  template <class T>
  void put_send(T* dst, const T* src, std::size_t count, int to, std::uint32_t flags) const {
    HostTask task = task_of(Task::kSend, to, flags);
    task.bytes = count * sizeof(T);
    task.local = reinterpret_cast<std::uint64_t>(src);
    task.remote = reinterpret_cast<std::uint64_t>(dst) -
                  reinterpret_cast<std::uint64_t>(detail::state().pes.at(static_cast<std::size_t>(pe_)).heap);
    put(task);
  }
  void put(const HostTask& task) const {
    using namespace detail;
    check(cudaSetDevice(pe_), "cudaSetDevice");
    char message[512] = "";
    if (simulator<TaskFunction>(kTaskName)(&task, stream_, message, sizeof message) != 0)
      throw Error(message);
  }

  int pe_;
  cudaStream_t stream_;
};

/// One for each PE, all with their device's default stream.
[[nodiscard]] inline std::vector<HostProcess> host_processes() {
  std::vector<HostProcess> all;
  for (int pe = 0; pe < n_pes(); ++pe) all.emplace_back(pe);
  return all;
}

namespace detail {

/// Instructions for combining elements in vectors of 32 bytes: two loads, the operation, a store, and the
/// loop's share.
template <class T>
std::uint64_t combine_instructions(std::size_t count) {
  return (count * sizeof(T) + 31) / 32 * 5;
}

template <class T, class Operation>
void combine(const HostProcess& process, T* to, const T* from, std::size_t count, Operation operation) {
  process.compute(combine_instructions<T>(count), 3 * count * sizeof(T), [=] {
    for (std::size_t i = 0; i < count; ++i) to[i] = operation(to[i], from[i]);
  });
}

template <class T>
void send_in_call(const HostProcess& p, bool is_first, T* dst, const T* src, std::size_t count, int to) {
  is_first ? p.send(dst, src, count, to) : p.send_within(dst, src, count, to);
}

/// Recursive doubling: in each round with the process whose number differs in one bit.
template <class T, class Operation>
void reduce_by_doubling(const std::vector<HostProcess>& all, Symmetric<T> data, Symmetric<T> inbox,
                        std::size_t count, Operation operation) {
  const int pes = static_cast<int>(all.size());
  std::size_t round = 0;
  for (int bit = 1; bit < pes; bit *= 2, ++round) {
    for (const HostProcess& p : all)
      send_in_call(p, round == 0, inbox.on(p.pe()) + round * count, data.on(p.pe()), count, p.pe() ^ bit);
    for (const HostProcess& p : all) {
      p.receive_within(p.pe() ^ bit);
      combine(p, data.on(p.pe()), inbox.on(p.pe()) + round * count, count, operation);
    }
  }
}

/// A ring: each PE has its part of the sums after pes - 1 steps, and all of them after as many more.
template <class T, class Operation>
void reduce_by_ring(const std::vector<HostProcess>& all, Symmetric<T> data, Symmetric<T> inbox,
                    std::size_t count, Operation operation) {
  const int pes = static_cast<int>(all.size());
  const auto first = [&](int chunk) { return count * static_cast<std::size_t>(chunk) / pes; };
  const auto size = [&](int chunk) { return first(chunk + 1) - first(chunk); };
  for (int step = 0; step < 2 * (pes - 1); ++step) {
    const bool reduces = step < pes - 1;
    const auto sent = [&](int pe) { return (pe - step + 2 * pes) % pes; };
    const Symmetric<T> to = reduces ? inbox : data;
    for (const HostProcess& p : all)
      send_in_call(p, step == 0, to.on(p.pe()) + first(sent(p.pe())), data.on(p.pe()) + first(sent(p.pe())),
                   size(sent(p.pe())), (p.pe() + 1) % pes);
    for (const HostProcess& p : all) {
      const int before = (p.pe() + pes - 1) % pes, chunk = sent(before);
      p.receive_within(before);
      if (reduces)
        combine(p, data.on(p.pe()) + first(chunk), inbox.on(p.pe()) + first(chunk), size(chunk), operation);
    }
  }
}

}  // namespace detail

/// The largest size in bytes that is reduced by recursive doubling: MPICH's default.
inline constexpr std::size_t kMaxDoubled = 2048;

/// The number of elements that all_reduce() needs in `inbox`.
template <class T>
[[nodiscard]] std::size_t reduce_inbox(std::size_t count) {
  return count * sizeof(T) <= kMaxDoubled ? count * SyncWords::kRounds : count;
}

/// All-reduce of `count` elements of `data` over all PEs, computed by the processes; one call for each PE.
/// Uses recursive doubling for at most kMaxDoubled bytes on a power of two of PEs, and else by a ring.
/// `inbox` is `inbox` receives messages; two consecutive calls need two different ones.
template <class T, class Operation>
void all_reduce(const std::vector<HostProcess>& all, Symmetric<T> data, Symmetric<T> inbox, std::size_t count,
                Operation operation) {
  if (count * sizeof(T) <= kMaxDoubled && (all.size() & (all.size() - 1)) == 0) {
    detail::reduce_by_doubling(all, data, inbox, count, operation);
  } else {
    detail::reduce_by_ring(all, data, inbox, count, operation);
  }
  for (const HostProcess& p : all) p.flush_within();
}

}  // namespace lockstep::shmem
