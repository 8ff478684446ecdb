// MPI's point-to-point calls: each goes to the program's own MPI, and into the log.
#include <cstring>
#include <vector>

#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/log.hpp"

namespace {

using lockstep_pmpi::bytes_of;
using lockstep_pmpi::LibraryCall;
using lockstep_pmpi::Log;
using lockstep_pmpi::status_or;

/// A blocking call is a request that is complete when it returns.
constexpr bool kWithin = true;

template <class Send>
int blocking_send(const char* name, const void* data, int count, MPI_Datatype type, int to, int tag,
                  MPI_Comm c, const Send& send) {
  Log& log = Log::instance();
  log.send(c, name, to, tag, bytes_of(count, type), data, MPI_REQUEST_NULL, false);
  const int result = send();
  log.complete(MPI_REQUEST_NULL, MPI_Status{}, kWithin);
  return result;
}

template <class Send>
int starting_send(const char* name, const void* data, int count, MPI_Datatype type, int to, int tag,
                  MPI_Comm c, const MPI_Request* request, const Send& send) {
  const int result = send();
  if (result == MPI_SUCCESS)
    Log::instance().send(c, name, to, tag, bytes_of(count, type), data, *request, false);
  return result;
}

/// `call` completes some of `requests`, which become null: `done(i, status)` is called by `each` for those.
struct Before {
  Before(int count, const MPI_Request* requests) : handles(requests, requests + count) {}
  std::vector<MPI_Request> handles;
};

MPI_Status* statuses_or(MPI_Status* given, std::vector<MPI_Status>& own, int count) {
  if (given != MPI_STATUSES_IGNORE) return given;
  own.resize(static_cast<std::size_t>(count));
  return own.data();
}

void complete_all(const Before& before, const MPI_Status* statuses) {
  bool within = false;
  for (std::size_t i = 0; i < before.handles.size(); ++i)
    if (before.handles[i] != MPI_REQUEST_NULL)
      within |= Log::instance().complete(before.handles[i], statuses[i], within);
}

void complete_some(const Before& before, int count, const int* indices, const MPI_Status* statuses) {
  bool within = false;
  for (int i = 0; i < count; ++i)
    within |=
        Log::instance().complete(before.handles[static_cast<std::size_t>(indices[i])], statuses[i], within);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Send(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  const LibraryCall call;
  return blocking_send("MPI_Send", b, n, t, to, tag, c, [&] { return PMPI_Send(b, n, t, to, tag, c); });
}
int MPI_Ssend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  const LibraryCall call;
  return blocking_send("MPI_Ssend", b, n, t, to, tag, c, [&] { return PMPI_Ssend(b, n, t, to, tag, c); });
}
int MPI_Rsend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  const LibraryCall call;
  return blocking_send("MPI_Rsend", b, n, t, to, tag, c, [&] { return PMPI_Rsend(b, n, t, to, tag, c); });
}
int MPI_Bsend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  const LibraryCall call;
  return blocking_send("MPI_Bsend", b, n, t, to, tag, c, [&] { return PMPI_Bsend(b, n, t, to, tag, c); });
}
int MPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return starting_send("MPI_Isend", b, n, t, to, tag, c, r,
                       [&] { return PMPI_Isend(b, n, t, to, tag, c, r); });
}
int MPI_Issend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return starting_send("MPI_Issend", b, n, t, to, tag, c, r,
                       [&] { return PMPI_Issend(b, n, t, to, tag, c, r); });
}
int MPI_Irsend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return starting_send("MPI_Irsend", b, n, t, to, tag, c, r,
                       [&] { return PMPI_Irsend(b, n, t, to, tag, c, r); });
}
int MPI_Ibsend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return starting_send("MPI_Ibsend", b, n, t, to, tag, c, r,
                       [&] { return PMPI_Ibsend(b, n, t, to, tag, c, r); });
}

int MPI_Recv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* status) {
  const LibraryCall call;
  if (from == MPI_PROC_NULL) return PMPI_Recv(b, n, t, from, tag, c, status);
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  Log::instance().receive(c, "MPI_Recv", b, MPI_REQUEST_NULL, false);
  const int result = PMPI_Recv(b, n, t, from, tag, c, s);
  Log::instance().complete(MPI_REQUEST_NULL, *s, kWithin);
  return result;
}
int MPI_Irecv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  const int result = PMPI_Irecv(b, n, t, from, tag, c, r);
  if (result == MPI_SUCCESS && from != MPI_PROC_NULL) Log::instance().receive(c, "MPI_Irecv", b, *r, false);
  return result;
}

int MPI_Sendrecv(const void* sb, int sn, MPI_Datatype st, int to, int stag, void* rb, int rn, MPI_Datatype rt,
                 int from, int rtag, MPI_Comm c, MPI_Status* status) {
  const LibraryCall call;
  Log& log = Log::instance();
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  const bool sends = to != MPI_PROC_NULL, receives = from != MPI_PROC_NULL;
  if (receives) log.receive(c, "MPI_Sendrecv", rb, MPI_REQUEST_NULL, false);
  if (sends)
    log.send(c, "MPI_Sendrecv", to, stag, bytes_of(sn, st), sb, MPI_REQUEST_NULL, receives && kWithin);
  const int result = PMPI_Sendrecv(sb, sn, st, to, stag, rb, rn, rt, from, rtag, c, s);
  if (receives) log.complete(MPI_REQUEST_NULL, *s, kWithin);
  if (sends) log.complete(MPI_REQUEST_NULL, MPI_Status{}, kWithin);
  return result;
}
int MPI_Sendrecv_replace(void* b, int n, MPI_Datatype t, int to, int stag, int from, int rtag, MPI_Comm c,
                         MPI_Status* status) {
  const LibraryCall call;
  Log& log = Log::instance();
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  const bool sends = to != MPI_PROC_NULL, receives = from != MPI_PROC_NULL;
  if (receives) log.receive(c, "MPI_Sendrecv_replace", b, MPI_REQUEST_NULL, false);
  if (sends)
    log.send(c, "MPI_Sendrecv_replace", to, stag, bytes_of(n, t), b, MPI_REQUEST_NULL, receives && kWithin);
  const int result = PMPI_Sendrecv_replace(b, n, t, to, stag, from, rtag, c, s);
  if (receives) log.complete(MPI_REQUEST_NULL, *s, kWithin);
  if (sends) log.complete(MPI_REQUEST_NULL, MPI_Status{}, kWithin);
  return result;
}

int MPI_Wait(MPI_Request* r, MPI_Status* status) {
  const LibraryCall call;
  const Before before(1, r);
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  const int result = PMPI_Wait(r, s);
  if (result == MPI_SUCCESS) complete_all(before, s);
  return result;
}
int MPI_Waitall(int n, MPI_Request* r, MPI_Status* statuses) {
  const LibraryCall call;
  const Before before(n, r);
  std::vector<MPI_Status> own;
  MPI_Status* const s = statuses_or(statuses, own, n);
  const int result = PMPI_Waitall(n, r, s);
  if (result == MPI_SUCCESS) complete_all(before, s);
  return result;
}
int MPI_Waitany(int n, MPI_Request* r, int* index, MPI_Status* status) {
  const LibraryCall call;
  const Before before(n, r);
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  const int result = PMPI_Waitany(n, r, index, s);
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) complete_some(before, 1, index, s);
  return result;
}
int MPI_Waitsome(int n, MPI_Request* r, int* count, int* indices, MPI_Status* statuses) {
  const LibraryCall call;
  const Before before(n, r);
  std::vector<MPI_Status> own;
  MPI_Status* const s = statuses_or(statuses, own, n);
  const int result = PMPI_Waitsome(n, r, count, indices, s);
  if (result == MPI_SUCCESS && *count != MPI_UNDEFINED) complete_some(before, *count, indices, s);
  return result;
}
// A test that finds nothing takes no simulated time: how many a program makes depends on this machine.
int MPI_Test(MPI_Request* r, int* flag, MPI_Status* status) {
  const LibraryCall call;
  const Before before(1, r);
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  const int result = PMPI_Test(r, flag, s);
  if (result == MPI_SUCCESS && *flag != 0) complete_all(before, s);
  return result;
}
int MPI_Testall(int n, MPI_Request* r, int* flag, MPI_Status* statuses) {
  const LibraryCall call;
  const Before before(n, r);
  std::vector<MPI_Status> own;
  MPI_Status* const s = statuses_or(statuses, own, n);
  const int result = PMPI_Testall(n, r, flag, s);
  if (result == MPI_SUCCESS && *flag != 0) complete_all(before, s);
  return result;
}
int MPI_Testany(int n, MPI_Request* r, int* index, int* flag, MPI_Status* status) {
  const LibraryCall call;
  const Before before(n, r);
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  const int result = PMPI_Testany(n, r, index, flag, s);
  if (result == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED) complete_some(before, 1, index, s);
  return result;
}
int MPI_Testsome(int n, MPI_Request* r, int* count, int* indices, MPI_Status* statuses) {
  const LibraryCall call;
  const Before before(n, r);
  std::vector<MPI_Status> own;
  MPI_Status* const s = statuses_or(statuses, own, n);
  const int result = PMPI_Testsome(n, r, count, indices, s);
  if (result == MPI_SUCCESS && *count != MPI_UNDEFINED) complete_some(before, *count, indices, s);
  return result;
}
int MPI_Request_free(MPI_Request* r) {
  const LibraryCall call;
  Log::instance().freed(*r);
  return PMPI_Request_free(r);
}
}
#pragma GCC visibility pop
