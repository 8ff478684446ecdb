// Collective operations and messages.
#include <algorithm>

#include "libraries/common/handles.hpp"
#include "libraries/nccl/alias.hpp"
#include "libraries/nccl/group.hpp"

namespace lockstep::libraries::nccl {
namespace {

constexpr long long kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
constexpr const char* kSuffixes[] = {"s8", "u8", "s32", "u32", "s64", "u64", "f16", "f32", "f64", "bf16"};
constexpr long long kAlignment = 16;  // elements, at the beginning of a CTA's part
constexpr long long kBytesOfBlock = 32 * 1024;

long long size_of(int type) {
  require(type >= 0 && type < static_cast<int>(std::size(kSizes)));
  return kSizes[type];
}

/// CTAs for so much work on each rank; the same on all.
unsigned blocks_for(long long bytes) {
  return static_cast<unsigned>(std::clamp<long long>(bytes / kBytesOfBlock, 1, kMaxBlocks));
}

long long chunk_for(long long count, long long parts) {
  const long long part = (count + parts - 1) / parts;
  return (part + kAlignment - 1) / kAlignment * kAlignment;
}

struct Call {
  const void* communicator;
  const void* send;
  void* receive;
  std::size_t count;
  int type;
  Stream stream;
};

Communicator& communicator_of(const void* communicator) { return handles<Communicator>().get(communicator); }

void require_rank(const Communicator& communicator, int rank) {
  require(rank >= 0 && rank < communicator.ranks());
}

void reduce(const Call& call, Task task, int operation, int root, const char* name) {
  Communicator& communicator = communicator_of(call.communicator);
  require_rank(communicator, root);
  const long long size = size_of(call.type);
  require(operation >= 0);
  if (operation >= kBuiltInOperations) refuse(std::string(name) + ": an operation of the program's own");
  if (call.type >= kTypes) refuse(std::string(name) + ": elements of 8-bit floating point");
  if (call.count == 0) return;
  require(call.send != nullptr &&
          (call.receive != nullptr || (task == Task::kReduceTo && communicator.rank() != root)));
  const auto count = static_cast<long long>(call.count);
  const long long ranks = task == Task::kReduceScatter ? 1 : communicator.ranks();
  const unsigned blocks = blocks_for(count * size / ranks);
  const Job job{task,
                operation,
                root,
                0,
                static_cast<const char*>(call.send),
                static_cast<char*>(call.receive),
                count,
                chunk_for(count, ranks * blocks)};
  add_operation(communicator, std::string("lockstep_nccl_reduce_") + kSuffixes[call.type], blocks, job,
                call.stream);
}

void copy(const Call& call, Task task, int root) {
  Communicator& communicator = communicator_of(call.communicator);
  require_rank(communicator, root);
  const auto bytes = static_cast<long long>(call.count) * size_of(call.type);
  if (bytes == 0) return;
  const bool reads = task == Task::kGatherAll || communicator.rank() == root;
  require(call.receive != nullptr && (call.send != nullptr || !reads));
  const unsigned blocks = blocks_for(bytes);
  const Job job{task,
                0,
                root,
                0,
                static_cast<const char*>(call.send),
                static_cast<char*>(call.receive),
                bytes,
                chunk_for(bytes, blocks)};
  add_operation(communicator, "lockstep_nccl_copy", blocks, job, call.stream);
}

void message(const Call& call, int peer, bool sends, void* memory) {
  Communicator& communicator = communicator_of(call.communicator);
  require_rank(communicator, peer);
  require(memory != nullptr || call.count == 0);
  const auto bytes = static_cast<long long>(call.count) * size_of(call.type);
  add_message(communicator, {peer, sends, static_cast<char*>(memory), bytes}, call.stream);
}

char* piece(const void* memory, const Call& call, int which) {
  return static_cast<char*>(const_cast<void*>(memory)) +
         which * static_cast<long long>(call.count) * size_of(call.type);
}

/// From and to which ranks pieces go.
template <class Body>
void exchange(const Call& call, int root, Body&& body) {
  Communicator& communicator = communicator_of(call.communicator);
  require_rank(communicator, root);
  require(call.count == 0 || call.send != nullptr || call.receive != nullptr);
  Group group;
  body(communicator);
  group.done();
}

template <class Body>
Result entry(Body&& body) {
  return guarded(&result_of, body);
}

}  // namespace

LOCKSTEP_NCCL_API ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int operation,
                                void* communicator, Stream stream) {
  return entry([&] {
    reduce({communicator, send, receive, count, type, stream}, Task::kReduceAll, operation, 0,
           "ncclAllReduce");
  });
}
LOCKSTEP_NCCL_API ncclReduce(const void* send, void* receive, std::size_t count, int type, int operation,
                             int root, void* communicator, Stream stream) {
  return entry([&] {
    reduce({communicator, send, receive, count, type, stream}, Task::kReduceTo, operation, root,
           "ncclReduce");
  });
}
LOCKSTEP_NCCL_API ncclReduceScatter(const void* send, void* receive, std::size_t count, int type,
                                    int operation, void* communicator, Stream stream) {
  return entry([&] {
    reduce({communicator, send, receive, count, type, stream}, Task::kReduceScatter, operation, 0,
           "ncclReduceScatter");
  });
}
LOCKSTEP_NCCL_API ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                                void* communicator, Stream stream) {
  return entry([&] { copy({communicator, send, receive, count, type, stream}, Task::kBroadcast, root); });
}
LOCKSTEP_NCCL_API ncclBcast(void* memory, std::size_t count, int type, int root, void* communicator,
                            Stream stream) {
  return entry([&] { copy({communicator, memory, memory, count, type, stream}, Task::kBroadcast, root); });
}
LOCKSTEP_NCCL_API ncclAllGather(const void* send, void* receive, std::size_t count, int type,
                                void* communicator, Stream stream) {
  return entry([&] { copy({communicator, send, receive, count, type, stream}, Task::kGatherAll, 0); });
}

LOCKSTEP_NCCL_API ncclSend(const void* send, std::size_t count, int type, int peer, void* communicator,
                           Stream stream) {
  return entry([&] {
    message({communicator, send, nullptr, count, type, stream}, peer, true, const_cast<void*>(send));
  });
}
LOCKSTEP_NCCL_API ncclRecv(void* receive, std::size_t count, int type, int peer, void* communicator,
                           Stream stream) {
  return entry([&] { message({communicator, nullptr, receive, count, type, stream}, peer, false, receive); });
}
LOCKSTEP_NCCL_API ncclAlltoAll(const void* send, void* receive, std::size_t count, int type,
                               void* communicator, Stream stream) {
  return entry([&] {
    const Call call{communicator, send, receive, count, type, stream};
    exchange(call, 0, [&](const Communicator& own) {
      for (int peer = 0; peer < own.ranks(); ++peer) {
        message(call, peer, true, piece(send, call, peer));
        message(call, peer, false, piece(receive, call, peer));
      }
    });
  });
}
LOCKSTEP_NCCL_API ncclGather(const void* send, void* receive, std::size_t count, int type, int root,
                             void* communicator, Stream stream) {
  return entry([&] {
    const Call call{communicator, send, receive, count, type, stream};
    exchange(call, root, [&](const Communicator& own) {
      message(call, root, true, piece(send, call, 0));
      for (int peer = 0; peer < own.ranks() && own.rank() == root; ++peer)
        message(call, peer, false, piece(receive, call, peer));
    });
  });
}
LOCKSTEP_NCCL_API ncclScatter(const void* send, void* receive, std::size_t count, int type, int root,
                              void* communicator, Stream stream) {
  return entry([&] {
    const Call call{communicator, send, receive, count, type, stream};
    exchange(call, root, [&](const Communicator& own) {
      for (int peer = 0; peer < own.ranks() && own.rank() == root; ++peer)
        message(call, peer, true, piece(send, call, peer));
      message(call, root, false, piece(receive, call, 0));
    });
  });
}

LOCKSTEP_NCCL_ALIAS(AllReduce)
LOCKSTEP_NCCL_ALIAS(Reduce)
LOCKSTEP_NCCL_ALIAS(ReduceScatter)
LOCKSTEP_NCCL_ALIAS(Broadcast)
LOCKSTEP_NCCL_ALIAS(Bcast)
LOCKSTEP_NCCL_ALIAS(AllGather)
LOCKSTEP_NCCL_ALIAS(Send)
LOCKSTEP_NCCL_ALIAS(Recv)
LOCKSTEP_NCCL_ALIAS(AlltoAll)
LOCKSTEP_NCCL_ALIAS(Gather)
LOCKSTEP_NCCL_ALIAS(Scatter)

}  // namespace lockstep::libraries::nccl
