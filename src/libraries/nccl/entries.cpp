// Communicators and groups.
#include <cstdio>

#include "libraries/common/handles.hpp"
#include "libraries/nccl/alias.hpp"
#include "libraries/nccl/group.hpp"

namespace lockstep::libraries::nccl {
namespace {

template <class Body>
Result entry(Body&& body) {
  return guarded(&result_of, body);
}

template <class Body>
Result with_communicator(const void* communicator, Body&& body) {
  return entry([&] { body(handles<Communicator>().get(communicator)); });
}

int device_count() {
  int count = 0;
  check(runtime().cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

/// On the current device.
void add_new_rank(void** communicator, int ranks, const UniqueId& id, int rank) {
  require(communicator != nullptr && ranks >= 1 && rank >= 0 && rank < ranks);
  if (ranks > kMaxRanks || ranks > device_count())
    refuse("ncclCommInitRank: more ranks than this process has GPUs");
  Communicator* const made = handles<Communicator>().create(clique_of(id, ranks), rank, ranks);
  *communicator = made;
  add_rank(*made);
}

void initialise_all(void** communicators, int count, const int* devices) {
  require(communicators != nullptr && count >= 1);
  const UniqueId id = new_unique_id();
  Group group;
  for (int rank = 0; rank < count; ++rank) {
    const OnDevice on(devices != nullptr ? devices[rank] : rank);
    add_new_rank(&communicators[rank], count, id, rank);
  }
  group.done();
}

const char* text_of(int result) {
  static constexpr const char* texts[] = {"no error",
                                          "unhandled cuda error",
                                          "unhandled system error",
                                          "internal error",
                                          "invalid argument",
                                          "invalid usage",
                                          "remote process exited or there was a network error",
                                          "NCCL operation in progress"};
  return result >= 0 && result < static_cast<int>(std::size(texts)) ? texts[result] : "unknown result code";
}

}  // namespace

LOCKSTEP_NCCL_API ncclGetVersion(int* version) {
  return entry([&] {
    require(version != nullptr);
    *version = kVersion;
  });
}
LOCKSTEP_NCCL_API ncclGetUniqueId(UniqueId* id) {
  return entry([&] {
    require(id != nullptr);
    *id = new_unique_id();
  });
}
LOCKSTEP_NCCL_API ncclCommInitRank(void** communicator, int ranks, UniqueId id, int rank) {
  return entry([&] { add_new_rank(communicator, ranks, id, rank); });
}
/// None of the settings changes what is computed; a communicator is complete at the end of the call.
LOCKSTEP_NCCL_API ncclCommInitRankConfig(void** communicator, int ranks, UniqueId id, int rank, void*) {
  return entry([&] { add_new_rank(communicator, ranks, id, rank); });
}
LOCKSTEP_NCCL_API ncclCommInitAll(void** communicators, int count, const int* devices) {
  return entry([&] { initialise_all(communicators, count, devices); });
}
LOCKSTEP_NCCL_API ncclCommFinalize(void* communicator) {
  return with_communicator(communicator, [](Communicator&) {});
}
LOCKSTEP_NCCL_API ncclCommDestroy(void* communicator) {
  return entry([&] {
    if (communicator != nullptr) handles<Communicator>().destroy(communicator);
  });
}
LOCKSTEP_NCCL_API ncclCommAbort(void* communicator) {
  return entry([&] {
    if (communicator != nullptr) handles<Communicator>().destroy(communicator);
  });
}
LOCKSTEP_NCCL_API ncclCommCount(void* communicator, int* count) {
  return with_communicator(communicator, [&](const Communicator& own) {
    require(count != nullptr);
    *count = own.ranks();
  });
}
LOCKSTEP_NCCL_API ncclCommUserRank(void* communicator, int* rank) {
  return with_communicator(communicator, [&](const Communicator& own) {
    require(rank != nullptr);
    *rank = own.rank();
  });
}
LOCKSTEP_NCCL_API ncclCommCuDevice(void* communicator, int* device) {
  return with_communicator(communicator, [&](const Communicator& own) {
    require(device != nullptr);
    *device = own.device();
  });
}
/// What goes wrong, goes wrong in a call.
LOCKSTEP_NCCL_API ncclCommGetAsyncError(void* communicator, Result* result) {
  return with_communicator(communicator, [&](const Communicator&) {
    require(result != nullptr);
    *result = kSuccess;
  });
}
/// Memory need not be registered: all of a GPU's is within the others' reach.
LOCKSTEP_NCCL_API ncclCommRegister(void* communicator, void* memory, std::size_t, void** registration) {
  return with_communicator(communicator, [&](const Communicator&) {
    require(memory != nullptr && registration != nullptr);
    *registration = memory;
  });
}
LOCKSTEP_NCCL_API ncclCommDeregister(void* communicator, void*) {
  return with_communicator(communicator, [](const Communicator&) {});
}
LOCKSTEP_NCCL_API ncclMemAlloc(void** memory, std::size_t bytes) {
  return entry([&] {
    require(memory != nullptr);
    check(runtime().cudaMalloc(memory, bytes), "ncclMemAlloc");
  });
}
LOCKSTEP_NCCL_API ncclMemFree(void* memory) {
  return entry([&] { check(runtime().cudaFree(memory), "ncclMemFree"); });
}

LOCKSTEP_NCCL_API ncclGroupStart() {
  return entry([] { start_group(); });
}
LOCKSTEP_NCCL_API ncclGroupEnd() {
  return entry([] { end_group(); });
}

extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int result) {
  return text_of(result);
}
/// Such texts are on standard error.
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(void*) { return ""; }

LOCKSTEP_NCCL_ALIAS(GetVersion)
LOCKSTEP_NCCL_ALIAS(GetUniqueId)
LOCKSTEP_NCCL_ALIAS(CommInitRank)
LOCKSTEP_NCCL_ALIAS(CommInitRankConfig)
LOCKSTEP_NCCL_ALIAS(CommInitAll)
LOCKSTEP_NCCL_ALIAS(CommFinalize)
LOCKSTEP_NCCL_ALIAS(CommDestroy)
LOCKSTEP_NCCL_ALIAS(CommAbort)
LOCKSTEP_NCCL_ALIAS(CommCount)
LOCKSTEP_NCCL_ALIAS(CommUserRank)
LOCKSTEP_NCCL_ALIAS(CommCuDevice)
LOCKSTEP_NCCL_ALIAS(CommGetAsyncError)
LOCKSTEP_NCCL_ALIAS(CommRegister)
LOCKSTEP_NCCL_ALIAS(CommDeregister)
LOCKSTEP_NCCL_ALIAS(MemAlloc)
LOCKSTEP_NCCL_ALIAS(MemFree)
LOCKSTEP_NCCL_ALIAS(GroupStart)
LOCKSTEP_NCCL_ALIAS(GroupEnd)
LOCKSTEP_NCCL_ALIAS(GetErrorString)
LOCKSTEP_NCCL_ALIAS(GetLastError)

}  // namespace lockstep::libraries::nccl
