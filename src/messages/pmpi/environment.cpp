// MPI's calls that begin and end, and those that make communicators.
#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/log.hpp"

using lockstep_pmpi::LibraryCall;
using lockstep_pmpi::Log;

namespace {

/// Of a call that has made a communicator.
int made(int result, const MPI_Comm* communicator) {
  if (result == MPI_SUCCESS) Log::instance().add(*communicator);
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const LibraryCall call;
  const int result = PMPI_Init(argc, argv);
  if (result == MPI_SUCCESS) Log::instance().begin();
  return result;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const LibraryCall call;
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  if (result != MPI_SUCCESS) return result;
  Log::instance().begin();
  if (*provided == MPI_THREAD_MULTIPLE && required == MPI_THREAD_MULTIPLE)
    Log::instance().not_simulated("MPI_THREAD_MULTIPLE: calls of several threads count as those of one");
  return result;
}
int MPI_Finalize() {
  const LibraryCall call;
  Log::instance().end();
  return PMPI_Finalize();
}
int MPI_Abort(MPI_Comm c, int code) {
  const LibraryCall call;
  Log::instance().aborted(code);
  return PMPI_Abort(c, code);
}

double MPI_Wtime() {
  const LibraryCall call;
  return Log::instance().clock();
}
double MPI_Wtick() {
  const LibraryCall call;
  return Log::instance().clock_tick();
}

int MPI_Comm_dup(MPI_Comm c, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Comm_dup(c, m), m);
}
int MPI_Comm_dup_with_info(MPI_Comm c, MPI_Info i, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Comm_dup_with_info(c, i, m), m);
}
int MPI_Comm_split(MPI_Comm c, int color, int key, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Comm_split(c, color, key, m), m);
}
int MPI_Comm_split_type(MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm* m) {
  const LibraryCall call;
  if (type != MPI_COMM_TYPE_SHARED) return made(PMPI_Comm_split_type(c, type, key, i, m), m);
  // In the simulated system each process is alone with its GPU, wherever it is executed.
  int rank = 0;
  PMPI_Comm_rank(c, &rank);
  return made(PMPI_Comm_split(c, rank, key, m), m);
}
int MPI_Comm_create(MPI_Comm c, MPI_Group g, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Comm_create(c, g, m), m);
}
int MPI_Comm_create_group(MPI_Comm c, MPI_Group g, int tag, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Comm_create_group(c, g, tag, m), m);
}
int MPI_Cart_create(MPI_Comm c, int n, const int* dims, const int* periods, int reorder, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Cart_create(c, n, dims, periods, reorder, m), m);
}
int MPI_Graph_create(MPI_Comm c, int n, const int* index, const int* edges, int reorder, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Graph_create(c, n, index, edges, reorder, m), m);
}
int MPI_Dist_graph_create(MPI_Comm c, int n, const int* from, const int* degrees, const int* to,
                          const int* weights, MPI_Info i, int reorder, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Dist_graph_create(c, n, from, degrees, to, weights, i, reorder, m), m);
}
int MPI_Dist_graph_create_adjacent(MPI_Comm c, int in, const int* from, const int* from_weights, int out,
                                   const int* to, const int* to_weights, MPI_Info i, int reorder,
                                   MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Dist_graph_create_adjacent(c, in, from, from_weights, out, to, to_weights, i, reorder, m),
              m);
}
int MPI_Intercomm_merge(MPI_Comm c, int high, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Intercomm_merge(c, high, m), m);
}
int MPI_Cart_sub(MPI_Comm c, const int* remain, MPI_Comm* m) {
  const LibraryCall call;
  return made(PMPI_Cart_sub(c, remain, m), m);
}
int MPI_Comm_free(MPI_Comm* c) {
  const LibraryCall call;
  Log::instance().forget(*c);
  return PMPI_Comm_free(c);
}
}
#pragma GCC visibility pop
