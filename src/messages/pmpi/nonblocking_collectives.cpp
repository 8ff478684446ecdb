// MPI's collective calls with a request: each goes to the program's own MPI, and into the log.
#include "messages/pmpi/collective_calls.hpp"
#include "messages/pmpi/host_time.hpp"

using namespace lockstep_pmpi;

namespace {

/// Begun: what completes its request completes it.
int begun(int result, const CollectiveCall& call, const MPI_Request* request) {
  if (result == MPI_SUCCESS) Log::instance().collective(call, *request);
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Ibarrier(MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ibarrier(c, q), barrier(c), q);
}
int MPI_Ibcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ibcast(b, n, t, root, c, q), broadcast(b, n, t, root, c), q);
}
int MPI_Ireduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c,
                MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ireduce(s, r, n, t, op, root, c, q), reduce(s, r, n, t, root, c), q);
}
int MPI_Iallreduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iallreduce(s, r, n, t, op, c, q), all_reduce(s, r, n, t, c), q);
}
int MPI_Ireduce_scatter(const void* s, void* r, const int* n, MPI_Datatype t, MPI_Op op, MPI_Comm c,
                        MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ireduce_scatter(s, r, n, t, op, c, q), reduce_scatter(s, r, n, t, c), q);
}
int MPI_Ireduce_scatter_block(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c,
                              MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ireduce_scatter_block(s, r, n, t, op, c, q), reduce_scatter(s, r, n, t, c), q);
}
int MPI_Iscan(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iscan(s, r, n, t, op, c, q), scan(s, r, n, t, c), q);
}
int MPI_Iexscan(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iexscan(s, r, n, t, op, c, q), exclusive_scan(s, r, n, t, c), q);
}
int MPI_Iallgather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, MPI_Comm c,
                   MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iallgather(s, sn, st, r, rn, rt, c, q), all_gather(s, r, rn, rt, c), q);
}
int MPI_Iallgatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                    MPI_Datatype rt, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iallgatherv(s, sn, st, r, rn, at, rt, c, q), all_gather(s, r, rn, rt, c), q);
}
int MPI_Ialltoall(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, MPI_Comm c,
                  MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ialltoall(s, sn, st, r, rn, rt, c, q), all_to_all(s, sn, st, r, rn, rt, c), q);
}
int MPI_Ialltoallv(const void* s, const int* sn, const int* sat, MPI_Datatype st, void* r, const int* rn,
                   const int* rat, MPI_Datatype rt, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ialltoallv(s, sn, sat, st, r, rn, rat, rt, c, q), all_to_all(s, sn, st, r, rn, rt, c), q);
}
int MPI_Ialltoallw(const void* s, const int* sn, const int* sat, const MPI_Datatype* st, void* r,
                   const int* rn, const int* rat, const MPI_Datatype* rt, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ialltoallw(s, sn, sat, st, r, rn, rat, rt, c, q), all_to_all(s, sn, st, r, rn, rt, c), q);
}
int MPI_Igather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
                MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Igather(s, sn, st, r, rn, rt, root, c, q), gather(s, sn, st, r, rn, rt, root, c), q);
}
int MPI_Igatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                 MPI_Datatype rt, int root, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Igatherv(s, sn, st, r, rn, at, rt, root, c, q), gather(s, sn, st, r, root, c), q);
}
int MPI_Iscatter(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
                 MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iscatter(s, sn, st, r, rn, rt, root, c, q), scatter(s, sn, st, r, root, c), q);
}
int MPI_Iscatterv(const void* s, const int* sn, const int* at, MPI_Datatype st, void* r, int rn,
                  MPI_Datatype rt, int root, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Iscatterv(s, sn, at, st, r, rn, rt, root, c, q), scatter(s, sn, st, r, root, c), q);
}
int MPI_Ineighbor_allgather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                            MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ineighbor_allgather(s, sn, st, r, rn, rt, c, q), neighbors(s, sn, st, r, c), q);
}
int MPI_Ineighbor_allgatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                             MPI_Datatype rt, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ineighbor_allgatherv(s, sn, st, r, rn, at, rt, c, q), neighbors(s, sn, st, r, c), q);
}
int MPI_Ineighbor_alltoall(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                           MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ineighbor_alltoall(s, sn, st, r, rn, rt, c, q), neighbors(s, sn, st, r, c), q);
}
int MPI_Ineighbor_alltoallv(const void* s, const int* sn, const int* sat, MPI_Datatype st, void* r,
                            const int* rn, const int* rat, MPI_Datatype rt, MPI_Comm c, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ineighbor_alltoallv(s, sn, sat, st, r, rn, rat, rt, c, q), neighbors(s, sn, st, r, c), q);
}
int MPI_Ineighbor_alltoallw(const void* s, const int* sn, const MPI_Aint* sat, const MPI_Datatype* st,
                            void* r, const int* rn, const MPI_Aint* rat, const MPI_Datatype* rt, MPI_Comm c,
                            MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Ineighbor_alltoallw(s, sn, sat, st, r, rn, rat, rt, c, q), neighbors(s, sn, st, r, c), q);
}
}
#pragma GCC visibility pop
