// Collective operations: the CTAs with the same number on all GPUs work together. Each says where its rank's
// memory is, waits until all have, reads and writes the others' memory, and waits until all are done.
#include "libraries/nccl/job.hpp"
#include "numbers.cuh"

namespace lockstep::libraries::nccl {
namespace {

constexpr int kPackBytes = 16;

struct Places {
  const char* send[kMaxRanks];
  char* receive[kMaxRanks];
  bool aligned;
};

__device__ void wait_for(const unsigned* number, unsigned wanted) {
  while (static_cast<int>(*static_cast<const volatile unsigned*>(number) - wanted) < 0) {
  }
}

__device__ void meet(const Member& member, const Job& job, Places& places) {
  const int peer = threadIdx.x;
  if (peer == 0) places.aligned = true;
  __syncthreads();
  if (peer < member.ranks) {
    volatile Lane* const theirs = &member.inboxes[peer]->lanes[member.rank][blockIdx.x];
    theirs->send = job.send;
    theirs->receive = job.receive;
    __threadfence_system();
    theirs->arrived = job.sequence;
    const Lane* const ours = &member.inboxes[member.rank]->lanes[peer][blockIdx.x];
    wait_for(&ours->arrived, job.sequence);
    __threadfence_system();
    places.send[peer] = static_cast<const volatile Lane*>(ours)->send;
    places.receive[peer] = static_cast<const volatile Lane*>(ours)->receive;
    const auto bits = reinterpret_cast<unsigned long long>(places.send[peer]) |
                      reinterpret_cast<unsigned long long>(places.receive[peer]);
    if (bits % kPackBytes != 0) places.aligned = false;
  }
  __syncthreads();
}

__device__ void part(const Member& member, const Job& job) {
  __threadfence_system();
  __syncthreads();
  const int peer = threadIdx.x;
  if (peer >= member.ranks) return;
  volatile Lane* const theirs = &member.inboxes[peer]->lanes[member.rank][blockIdx.x];
  theirs->done = job.sequence;
  wait_for(&member.inboxes[member.rank]->lanes[peer][blockIdx.x].done, job.sequence);
}

/// Elements that are read and written at once.
template <class Stored, int kElements>
struct alignas(sizeof(Stored) * kElements) Pack {
  Stored element[kElements];
};

/// Elements `begin` to `end` of all ranks, in the order of ranks.
template <class Type, int kElements>
__device__ void reduce(const Member& member, const Job& job, const Places& places, long long begin,
                       long long end) {
  using Stored = typename Type::Stored;
  using Packed = Pack<Stored, kElements>;
  const long long bytes = sizeof(Stored);
  const long long from = job.task == Task::kReduceScatter ? member.rank * job.count * bytes : 0;
  for (long long i = begin + threadIdx.x * kElements; i < end; i += blockDim.x * kElements) {
    typename Type::Sum sums[kElements];
    for (int rank = 0; rank < member.ranks; ++rank) {
      const Packed pack = *reinterpret_cast<const Packed*>(places.send[rank] + from + i * bytes);
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const auto value = Type::widened(pack.element[e]);
        sums[e] = rank == 0 ? value : combined(sums[e], value, job.operation);
      }
    }
    Packed result;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (job.operation == kAverage) sums[e] = static_cast<typename Type::Sum>(sums[e] / member.ranks);
      result.element[e] = Type::narrowed(sums[e]);
    }
    for (int step = 0; step < member.ranks; ++step) {
      const int rank = (member.rank + step) % member.ranks;
      const bool wanted =
          job.task == Task::kReduceAll || rank == (job.task == Task::kReduceTo ? job.root : member.rank);
      if (wanted) *reinterpret_cast<Packed*>(places.receive[rank] + i * bytes) = result;
    }
  }
}

template <class Type>
__device__ void run(const Member& member, const Job& job) {
  __shared__ Places places;
  meet(member, job, places);
  constexpr int kElements = kPackBytes / sizeof(typename Type::Stored);
  const long long share =
      job.task == Task::kReduceScatter ? blockIdx.x : member.rank * gridDim.x + blockIdx.x;
  const long long begin = min(job.count, share * job.chunk), end = min(job.count, begin + job.chunk);
  const bool whole = job.task != Task::kReduceScatter || job.count % kElements == 0;
  const long long packed = places.aligned && whole ? begin + (end - begin) / kElements * kElements : begin;
  reduce<Type, kElements>(member, job, places, begin, packed);
  reduce<Type, 1>(member, job, places, packed, end);
  part(member, job);
}

template <class Packed>
__device__ void copy(const char* from, char* to, long long begin, long long end) {
  constexpr long long kBytes = sizeof(Packed);
  for (long long i = begin + threadIdx.x * kBytes; i < end; i += blockDim.x * kBytes)
    *reinterpret_cast<Packed*>(to + i) = *reinterpret_cast<const Packed*>(from + i);
}

/// As much as possible in packs, by the whole CTA.
__device__ void copy_bytes(const char* from, char* to, long long begin, long long end) {
  if (from == to) return;
  const auto bits = reinterpret_cast<unsigned long long>(from) | reinterpret_cast<unsigned long long>(to) |
                    static_cast<unsigned long long>(begin);
  const long long packed = bits % kPackBytes == 0 ? begin + (end - begin) / kPackBytes * kPackBytes : begin;
  copy<uint4>(from, to, begin, packed);
  copy<char>(from, to, packed, end);
}

}  // namespace

/// What has the same bytes everywhere in the end.
extern "C" __global__ __launch_bounds__(kThreads) void lockstep_nccl_copy(Member member, Job job) {
  __shared__ Places places;
  meet(member, job, places);
  const long long begin = min(job.count, blockIdx.x * job.chunk), end = min(job.count, begin + job.chunk);
  const bool gathers = job.task == Task::kGatherAll;
  if (gathers || member.rank == job.root)
    for (int step = 0; step < member.ranks; ++step) {
      const int rank = (member.rank + step) % member.ranks;
      copy_bytes(job.send, places.receive[rank] + (gathers ? member.rank * job.count : 0), begin, end);
    }
  part(member, job);
}

#define LOCKSTEP_NCCL_REDUCE(suffix, type)                                                            \
  extern "C" __global__ __launch_bounds__(kThreads) void lockstep_nccl_reduce_##suffix(Member member, \
                                                                                       Job job) {     \
    run<type>(member, job);                                                                           \
  }
LOCKSTEP_NCCL_REDUCE(s8, Plain<signed char>)
LOCKSTEP_NCCL_REDUCE(u8, Plain<unsigned char>)
LOCKSTEP_NCCL_REDUCE(s32, Plain<int>)
LOCKSTEP_NCCL_REDUCE(u32, Plain<unsigned>)
LOCKSTEP_NCCL_REDUCE(s64, Plain<long long>)
LOCKSTEP_NCCL_REDUCE(u64, Plain<unsigned long long>)
LOCKSTEP_NCCL_REDUCE(f16, Half)
LOCKSTEP_NCCL_REDUCE(f32, Plain<float>)
LOCKSTEP_NCCL_REDUCE(f64, Plain<double>)
LOCKSTEP_NCCL_REDUCE(bf16, Bfloat16)

/// Messages: kReceiverBlocks CTAs take what one rank sends, or one thread of them offers what is sent to one
/// rank.
extern "C" __global__ __launch_bounds__(kThreads) void lockstep_nccl_messages(
    Member member, const __grid_constant__ Exchange exchange) {
  const Messages& messages = exchange.peers[blockIdx.x / kReceiverBlocks];
  const int block = blockIdx.x % kReceiverBlocks;
  Inbox* const own = member.inboxes[member.rank];
  Inbox* const other = member.inboxes[messages.peer];
  if (messages.sends != 0) {
    if (block != 0 || threadIdx.x != 0) return;
    volatile Mail* const mail = &other->from[member.rank];
    for (int m = 0; m < messages.count; ++m) {
      const unsigned number = messages.first + m;
      mail->send = messages.memory[m];
      __threadfence_system();
      mail->arrived = number;
      wait_for(&own->to[messages.peer].taken, number * kReceiverBlocks);
    }
    return;
  }
  const Mail* const mail = &own->from[messages.peer];
  for (int m = 0; m < messages.count; ++m) {
    wait_for(&mail->arrived, messages.first + m);
    __threadfence_system();
    const char* const from = static_cast<const volatile Mail*>(mail)->send;
    const long long share = (messages.bytes[m] / kReceiverBlocks + kPackBytes) / kPackBytes * kPackBytes;
    const long long begin = min(messages.bytes[m], block * share),
                    end = min(messages.bytes[m], begin + share);
    copy_bytes(from, messages.memory[m], begin, end);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd_system(&other->to[member.rank].taken, 1U);
  }
}

}  // namespace lockstep::libraries::nccl
