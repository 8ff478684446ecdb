// MPI's calls that order one-sided operations: each goes to the program's own MPI, and into the log.
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/log.hpp"

namespace {

using lockstep_pmpi::LibraryCall;
using lockstep_pmpi::Log;

// Names in the log of what several functions do.
constexpr const char *kFence = "MPI_Win_fence", *kFlush = "MPI_Win_flush", *kFlushAll = "MPI_Win_flush_all",
                     *kLock = "MPI_Win_lock", *kUnlock = "MPI_Win_unlock", *kUnlockAll = "MPI_Win_unlock_all";
constexpr int kAll = std::numeric_limits<int>::min();  // no rank, and not MPI_PROC_NULL

/// What the calls that end an epoch must know of those that began it.
struct Epochs {
  std::set<int> unchecked;           // ranks that were locked with MPI_MODE_NOCHECK; kAll: all
  std::vector<int> posted, started;  // ranks
};
std::mutex mutex;
std::map<MPI_Win, Epochs> epochs;

int noted(int result, const char* name, MPI_Win w, std::vector<int> ranks = {}) {
  std::erase(ranks, MPI_PROC_NULL);
  if (result == MPI_SUCCESS) Log::instance().synchronisation(name, w, ranks);
  return result;
}

/// The ranks of a group's processes in the window.
std::vector<int> ranks_of(MPI_Group group, MPI_Win w) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), ranks(own.size());
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  MPI_Group all;
  PMPI_Win_get_group(w, &all);
  PMPI_Group_translate_ranks(group, size, own.data(), all, ranks.data());
  PMPI_Group_free(&all);
  return ranks;
}

/// A lock is taken at its rank, that of all at rank 0. Without a check nothing is taken.
int locked(int result, int rank, int assertion, MPI_Win w) {
  const bool unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
  if (unchecked) {
    const std::scoped_lock lock(mutex);
    epochs[w].unchecked.insert(rank);
    return noted(result, kFlush, w);
  }
  return noted(result, kLock, w, {rank == kAll ? 0 : rank});
}

int unlocked(int result, int rank, MPI_Win w) {
  const std::scoped_lock lock(mutex);
  const bool unchecked = epochs[w].unchecked.erase(rank) > 0;
  if (rank == kAll) return noted(result, unchecked ? kFlushAll : kUnlockAll, w);
  return noted(result, unchecked ? kFlush : kUnlock, w, {rank});
}

int waited(int result, MPI_Win w) {
  const std::scoped_lock lock(mutex);
  return noted(result, "MPI_Win_wait", w, epochs[w].posted);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Win_free(MPI_Win* w) {
  const LibraryCall call;
  const MPI_Win window = *w;
  noted(MPI_SUCCESS, kFence, window);
  Log::instance().forget_window(window);
  {
    const std::scoped_lock lock(mutex);
    epochs.erase(window);
  }
  return PMPI_Win_free(w);
}
int MPI_Win_fence(int assertion, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Win_fence(assertion, w), kFence, w);
}

int MPI_Win_lock(int type, int rank, int assertion, MPI_Win w) {
  const LibraryCall call;
  return locked(PMPI_Win_lock(type, rank, assertion, w), rank, assertion, w);
}
int MPI_Win_lock_all(int assertion, MPI_Win w) {
  const LibraryCall call;
  return locked(PMPI_Win_lock_all(assertion, w), kAll, assertion, w);
}
int MPI_Win_unlock(int rank, MPI_Win w) {
  const LibraryCall call;
  return unlocked(PMPI_Win_unlock(rank, w), rank, w);
}
int MPI_Win_unlock_all(MPI_Win w) {
  const LibraryCall call;
  return unlocked(PMPI_Win_unlock_all(w), kAll, w);
}

int MPI_Win_flush(int rank, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Win_flush(rank, w), kFlush, w, {rank});
}
int MPI_Win_flush_local(int rank, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Win_flush_local(rank, w), kFlush, w, {rank});
}
int MPI_Win_flush_all(MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Win_flush_all(w), kFlushAll, w);
}
int MPI_Win_flush_local_all(MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Win_flush_local_all(w), kFlushAll, w);
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win w) {
  const LibraryCall call;
  const int result = PMPI_Win_post(group, assertion, w);
  const std::scoped_lock lock(mutex);
  epochs[w].posted = ranks_of(group, w);
  return noted(result, "MPI_Win_post", w, epochs[w].posted);
}
int MPI_Win_start(MPI_Group group, int assertion, MPI_Win w) {
  const LibraryCall call;
  const int result = PMPI_Win_start(group, assertion, w);
  const std::scoped_lock lock(mutex);
  epochs[w].started = ranks_of(group, w);
  return noted(result, "MPI_Win_start", w, epochs[w].started);
}
int MPI_Win_complete(MPI_Win w) {
  const LibraryCall call;
  const int result = PMPI_Win_complete(w);
  const std::scoped_lock lock(mutex);
  return noted(result, "MPI_Win_complete", w, epochs[w].started);
}
int MPI_Win_wait(MPI_Win w) {
  const LibraryCall call;
  return waited(PMPI_Win_wait(w), w);
}
int MPI_Win_test(MPI_Win w, int* flag) {
  const LibraryCall call;
  const int result = PMPI_Win_test(w, flag);
  return *flag != 0 ? waited(result, w) : result;
}
}
#pragma GCC visibility pop
