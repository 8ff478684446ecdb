// MPI's collective calls: each goes to the program's own MPI, and into the log.
#include <vector>

#include "messages/pmpi/log.hpp"

namespace {

using lockstep_pmpi::bytes_of;
using lockstep_pmpi::Log;

int size_of(MPI_Comm c) {
  int size = 0;
  PMPI_Comm_size(c, &size);
  return size;
}

bool is_root(MPI_Comm c, int root) {
  int rank = 0;
  PMPI_Comm_rank(c, &rank);
  return rank == root;
}

std::vector<std::uint64_t> all_bytes(MPI_Comm c, const int* counts, MPI_Datatype type) {
  std::vector<std::uint64_t> bytes;
  for (int i = 0; i < size_of(c); ++i) bytes.push_back(bytes_of(counts[i], type));
  return bytes;
}

/// A process's block, whichever of its two buffers it is said for.
std::uint64_t block(const void* send, int sn, MPI_Datatype st, int rn, MPI_Datatype rt) {
  return send == MPI_IN_PLACE ? bytes_of(rn, rt) : bytes_of(sn, st);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Barrier(MPI_Comm c) {
  Log::instance().collective("MPI_Barrier", c, 0, nullptr, nullptr, {});
  return PMPI_Barrier(c);
}
int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  Log::instance().collective("MPI_Bcast", c, root, b, b, {bytes_of(n, t)});
  return PMPI_Bcast(b, n, t, root, c);
}
int MPI_Reduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
  Log::instance().collective("MPI_Reduce", c, root, s, is_root(c, root) ? r : s, {bytes_of(n, t)});
  return PMPI_Reduce(s, r, n, t, op, root, c);
}
int MPI_Allreduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  Log::instance().collective("MPI_Allreduce", c, 0, s, r, {bytes_of(n, t)});
  return PMPI_Allreduce(s, r, n, t, op, c);
}
int MPI_Allgather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, MPI_Comm c) {
  Log::instance().collective(
      "MPI_Allgather", c, 0, s, r,
      std::vector<std::uint64_t>(static_cast<std::size_t>(size_of(c)), bytes_of(rn, rt)));
  return PMPI_Allgather(s, sn, st, r, rn, rt, c);
}
int MPI_Allgatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                   MPI_Datatype rt, MPI_Comm c) {
  Log::instance().collective("MPI_Allgather", c, 0, s, r, all_bytes(c, rn, rt));
  return PMPI_Allgatherv(s, sn, st, r, rn, at, rt, c);
}
int MPI_Alltoall(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, MPI_Comm c) {
  Log::instance().collective(
      "MPI_Alltoall", c, 0, s, r,
      std::vector<std::uint64_t>(static_cast<std::size_t>(size_of(c)), block(s, sn, st, rn, rt)));
  return PMPI_Alltoall(s, sn, st, r, rn, rt, c);
}
int MPI_Alltoallv(const void* s, const int* sn, const int* sat, MPI_Datatype st, void* r, const int* rn,
                  const int* rat, MPI_Datatype rt, MPI_Comm c) {
  Log::instance().collective("MPI_Alltoall", c, 0, s, r,
                             s == MPI_IN_PLACE ? all_bytes(c, rn, rt) : all_bytes(c, sn, st));
  return PMPI_Alltoallv(s, sn, sat, st, r, rn, rat, rt, c);
}
int MPI_Gather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
               MPI_Comm c) {
  Log::instance().collective("MPI_Gather", c, root, s, is_root(c, root) ? r : s, {block(s, sn, st, rn, rt)});
  return PMPI_Gather(s, sn, st, r, rn, rt, root, c);
}
int MPI_Gatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                MPI_Datatype rt, int root, MPI_Comm c) {
  Log::instance().collective("MPI_Gather", c, root, s, is_root(c, root) ? r : s,
                             {s == MPI_IN_PLACE ? 0 : bytes_of(sn, st)});
  return PMPI_Gatherv(s, sn, st, r, rn, at, rt, root, c);
}
int MPI_Scatter(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
                MPI_Comm c) {
  const bool mine = is_root(c, root);
  Log::instance().collective(
      "MPI_Scatter", c, root, mine ? s : r, r,
      std::vector<std::uint64_t>(static_cast<std::size_t>(size_of(c)), mine ? bytes_of(sn, st) : 0));
  return PMPI_Scatter(s, sn, st, r, rn, rt, root, c);
}
int MPI_Scatterv(const void* s, const int* sn, const int* at, MPI_Datatype st, void* r, int rn,
                 MPI_Datatype rt, int root, MPI_Comm c) {
  const bool mine = is_root(c, root);
  Log::instance().collective(
      "MPI_Scatter", c, root, mine ? s : r, r,
      mine ? all_bytes(c, sn, st) : std::vector<std::uint64_t>(static_cast<std::size_t>(size_of(c)), 0));
  return PMPI_Scatterv(s, sn, at, st, r, rn, rt, root, c);
}
}
#pragma GCC visibility pop
