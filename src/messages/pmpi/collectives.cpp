// MPI's collective calls that block: each goes into the log, and to the program's own MPI.
#include "messages/pmpi/collective_calls.hpp"
#include "messages/pmpi/host_time.hpp"

using namespace lockstep_pmpi;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Barrier(MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(barrier(c));
  return PMPI_Barrier(c);
}
int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(broadcast(b, n, t, root, c));
  return PMPI_Bcast(b, n, t, root, c);
}
int MPI_Reduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(reduce(s, r, n, t, root, c));
  return PMPI_Reduce(s, r, n, t, op, root, c);
}
int MPI_Allreduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(all_reduce(s, r, n, t, c));
  return PMPI_Allreduce(s, r, n, t, op, c);
}
int MPI_Reduce_scatter(const void* s, void* r, const int* n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(reduce_scatter(s, r, n, t, c));
  return PMPI_Reduce_scatter(s, r, n, t, op, c);
}
int MPI_Reduce_scatter_block(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(reduce_scatter(s, r, n, t, c));
  return PMPI_Reduce_scatter_block(s, r, n, t, op, c);
}
int MPI_Scan(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(scan(s, r, n, t, c));
  return PMPI_Scan(s, r, n, t, op, c);
}
int MPI_Exscan(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(exclusive_scan(s, r, n, t, c));
  return PMPI_Exscan(s, r, n, t, op, c);
}
int MPI_Allgather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(all_gather(s, r, rn, rt, c));
  return PMPI_Allgather(s, sn, st, r, rn, rt, c);
}
int MPI_Allgatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                   MPI_Datatype rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(all_gather(s, r, rn, rt, c));
  return PMPI_Allgatherv(s, sn, st, r, rn, at, rt, c);
}
int MPI_Alltoall(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(all_to_all(s, sn, st, r, rn, rt, c));
  return PMPI_Alltoall(s, sn, st, r, rn, rt, c);
}
int MPI_Alltoallv(const void* s, const int* sn, const int* sat, MPI_Datatype st, void* r, const int* rn,
                  const int* rat, MPI_Datatype rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(all_to_all(s, sn, st, r, rn, rt, c));
  return PMPI_Alltoallv(s, sn, sat, st, r, rn, rat, rt, c);
}
int MPI_Alltoallw(const void* s, const int* sn, const int* sat, const MPI_Datatype* st, void* r,
                  const int* rn, const int* rat, const MPI_Datatype* rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(all_to_all(s, sn, st, r, rn, rt, c));
  return PMPI_Alltoallw(s, sn, sat, st, r, rn, rat, rt, c);
}
int MPI_Gather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
               MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(gather(s, sn, st, r, rn, rt, root, c));
  return PMPI_Gather(s, sn, st, r, rn, rt, root, c);
}
int MPI_Gatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                MPI_Datatype rt, int root, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(gather(s, sn, st, r, root, c));
  return PMPI_Gatherv(s, sn, st, r, rn, at, rt, root, c);
}
int MPI_Scatter(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
                MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(scatter(s, sn, st, r, root, c));
  return PMPI_Scatter(s, sn, st, r, rn, rt, root, c);
}
int MPI_Scatterv(const void* s, const int* sn, const int* at, MPI_Datatype st, void* r, int rn,
                 MPI_Datatype rt, int root, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(scatter(s, sn, st, r, root, c));
  return PMPI_Scatterv(s, sn, at, st, r, rn, rt, root, c);
}
int MPI_Neighbor_allgather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                           MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(neighbors(s, sn, st, r, c));
  return PMPI_Neighbor_allgather(s, sn, st, r, rn, rt, c);
}
int MPI_Neighbor_allgatherv(const void* s, int sn, MPI_Datatype st, void* r, const int* rn, const int* at,
                            MPI_Datatype rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(neighbors(s, sn, st, r, c));
  return PMPI_Neighbor_allgatherv(s, sn, st, r, rn, at, rt, c);
}
int MPI_Neighbor_alltoall(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                          MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(neighbors(s, sn, st, r, c));
  return PMPI_Neighbor_alltoall(s, sn, st, r, rn, rt, c);
}
int MPI_Neighbor_alltoallv(const void* s, const int* sn, const int* sat, MPI_Datatype st, void* r,
                           const int* rn, const int* rat, MPI_Datatype rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(neighbors(s, sn, st, r, c));
  return PMPI_Neighbor_alltoallv(s, sn, sat, st, r, rn, rat, rt, c);
}
int MPI_Neighbor_alltoallw(const void* s, const int* sn, const MPI_Aint* sat, const MPI_Datatype* st, void* r,
                           const int* rn, const MPI_Aint* rat, const MPI_Datatype* rt, MPI_Comm c) {
  const LibraryCall call;
  Log::instance().collective(neighbors(s, sn, st, r, c));
  return PMPI_Neighbor_alltoallw(s, sn, sat, st, r, rn, rat, rt, c);
}
}
#pragma GCC visibility pop
