// MPI's windows and one-sided operations: each call goes to the program's own MPI, and into the log.
#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/log.hpp"

namespace {

using lockstep_pmpi::bytes_of;
using lockstep_pmpi::LibraryCall;
using lockstep_pmpi::Log;
using lockstep_pmpi::Operation;

// Names in the log of what several functions do.
constexpr const char *kPut = "MPI_Put", *kGet = "MPI_Get", *kAtomic = "MPI_Fetch_and_op",
                     *kAccumulate = "MPI_Accumulate", *kGetAccumulate = "MPI_Get_accumulate";

int made(int result, const MPI_Win* window, MPI_Comm c, const void* base, int unit) {
  if (result == MPI_SUCCESS) Log::instance().add_window(*window, c, base, unit);
  return result;
}

int noted(int result, const Operation& what) {
  if (result == MPI_SUCCESS) Log::instance().operation(what);
  return result;
}
int begun(int result, const Operation& what, const MPI_Request* request) {
  if (result == MPI_SUCCESS) Log::instance().operation(what, *request);
  return result;
}

Operation put(const void* o, int n, MPI_Datatype t, int to, MPI_Aint at, MPI_Win w) {
  return {kPut, w, to, bytes_of(n, t), o, nullptr, at};
}
Operation get(void* o, int n, MPI_Datatype t, int from, MPI_Aint at, MPI_Win w) {
  return {kGet, w, from, bytes_of(n, t), o, nullptr, at};
}

/// One element that a NIC can update by itself.
bool is_single(int count, MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  const std::uint64_t bytes = bytes_of(1, type);
  return count == 1 && combiner == MPI_COMBINER_NAMED && (bytes == 4 || bytes == 8);
}

Operation accumulate(const void* o, int n, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w) {
  if (op == MPI_REPLACE) return put(o, n, t, to, at, w);
  return {is_single(n, t) ? kAtomic : kAccumulate, w, to, bytes_of(n, t), o, nullptr, at};
}
Operation get_accumulate(const void* o, void* r, int n, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op,
                         MPI_Win w) {
  if (op == MPI_NO_OP) return get(r, n, t, to, at, w);
  return {is_single(n, t) ? kAtomic : kGetAccumulate, w, to, bytes_of(n, t), o, r, at};
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info i, MPI_Comm c, MPI_Win* w) {
  const LibraryCall call;
  return made(PMPI_Win_create(base, size, unit, i, c, w), w, c, base, unit);
}
int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info i, MPI_Comm c, void* base, MPI_Win* w) {
  const LibraryCall call;
  const int result = PMPI_Win_allocate(size, unit, i, c, base, w);
  return made(result, w, c, *static_cast<void**>(base), unit);
}

/// Displacements are addresses.
int MPI_Win_create_dynamic(MPI_Info i, MPI_Comm c, MPI_Win* w) {
  const LibraryCall call;
  return made(PMPI_Win_create_dynamic(i, c, w), w, c, nullptr, 1);
}

int MPI_Put(const void* o, int on, MPI_Datatype ot, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Put(o, on, ot, to, at, tn, tt, w), put(o, on, ot, to, at, w));
}
int MPI_Rput(const void* o, int on, MPI_Datatype ot, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w,
             MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Rput(o, on, ot, to, at, tn, tt, w, q), put(o, on, ot, to, at, w), q);
}
int MPI_Get(void* o, int on, MPI_Datatype ot, int from, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Get(o, on, ot, from, at, tn, tt, w), get(o, on, ot, from, at, w));
}
int MPI_Rget(void* o, int on, MPI_Datatype ot, int from, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w,
             MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Rget(o, on, ot, from, at, tn, tt, w, q), get(o, on, ot, from, at, w), q);
}
int MPI_Accumulate(const void* o, int on, MPI_Datatype ot, int to, MPI_Aint at, int tn, MPI_Datatype tt,
                   MPI_Op op, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Accumulate(o, on, ot, to, at, tn, tt, op, w), accumulate(o, on, ot, to, at, op, w));
}
int MPI_Raccumulate(const void* o, int on, MPI_Datatype ot, int to, MPI_Aint at, int tn, MPI_Datatype tt,
                    MPI_Op op, MPI_Win w, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Raccumulate(o, on, ot, to, at, tn, tt, op, w, q), accumulate(o, on, ot, to, at, op, w),
               q);
}
int MPI_Get_accumulate(const void* o, int on, MPI_Datatype ot, void* r, int rn, MPI_Datatype rt, int to,
                       MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Get_accumulate(o, on, ot, r, rn, rt, to, at, tn, tt, op, w),
               get_accumulate(o, r, rn, rt, to, at, op, w));
}
int MPI_Rget_accumulate(const void* o, int on, MPI_Datatype ot, void* r, int rn, MPI_Datatype rt, int to,
                        MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w, MPI_Request* q) {
  const LibraryCall call;
  return begun(PMPI_Rget_accumulate(o, on, ot, r, rn, rt, to, at, tn, tt, op, w, q),
               get_accumulate(o, r, rn, rt, to, at, op, w), q);
}
int MPI_Fetch_and_op(const void* o, void* r, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Fetch_and_op(o, r, t, to, at, op, w), get_accumulate(o, r, 1, t, to, at, op, w));
}
int MPI_Compare_and_swap(const void* o, const void* compare, void* r, MPI_Datatype t, int to, MPI_Aint at,
                         MPI_Win w) {
  const LibraryCall call;
  return noted(PMPI_Compare_and_swap(o, compare, r, t, to, at, w),
               get_accumulate(o, r, 1, t, to, at, MPI_REPLACE, w));
}
}
#pragma GCC visibility pop
