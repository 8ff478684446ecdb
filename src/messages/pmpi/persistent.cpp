// MPI's persistent requests, and receives of messages that a probe has matched.
#include <vector>

#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/log.hpp"

namespace {

using lockstep_pmpi::bytes_of;
using lockstep_pmpi::LibraryCall;
using lockstep_pmpi::Log;
using lockstep_pmpi::status_or;

int made_send(int result, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm c,
              const MPI_Request* request) {
  if (result == MPI_SUCCESS && to != MPI_PROC_NULL)
    Log::instance().keep(*request, {true, c, to, tag, bytes_of(count, type), const_cast<void*>(data)});
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Send_init(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return made_send(PMPI_Send_init(b, n, t, to, tag, c, r), b, n, t, to, tag, c, r);
}
int MPI_Ssend_init(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return made_send(PMPI_Ssend_init(b, n, t, to, tag, c, r), b, n, t, to, tag, c, r);
}
int MPI_Rsend_init(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return made_send(PMPI_Rsend_init(b, n, t, to, tag, c, r), b, n, t, to, tag, c, r);
}
int MPI_Bsend_init(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  return made_send(PMPI_Bsend_init(b, n, t, to, tag, c, r), b, n, t, to, tag, c, r);
}
int MPI_Recv_init(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  const LibraryCall call;
  const int result = PMPI_Recv_init(b, n, t, from, tag, c, r);
  if (result == MPI_SUCCESS && from != MPI_PROC_NULL)
    Log::instance().keep(*r, {.sends = false, .communicator = c, .data = b});
  return result;
}

int MPI_Start(MPI_Request* r) {
  const LibraryCall call;
  const MPI_Request before = *r;
  const int result = PMPI_Start(r);
  if (result == MPI_SUCCESS) Log::instance().started(before, *r, false);
  return result;
}
int MPI_Startall(int n, MPI_Request* r) {
  const LibraryCall call;
  const std::vector<MPI_Request> before(r, r + n);
  const int result = PMPI_Startall(n, r);
  bool within = false;
  for (int i = 0; result == MPI_SUCCESS && i < n; ++i)
    within |= Log::instance().started(before[static_cast<std::size_t>(i)], r[i], within);
  return result;
}

int MPI_Mprobe(int from, int tag, MPI_Comm c, MPI_Message* m, MPI_Status* status) {
  const LibraryCall call;
  const int result = PMPI_Mprobe(from, tag, c, m, status);
  if (result == MPI_SUCCESS) Log::instance().matched(c, "MPI_Mprobe", *m);
  return result;
}
int MPI_Improbe(int from, int tag, MPI_Comm c, int* flag, MPI_Message* m, MPI_Status* status) {
  const LibraryCall call;
  const int result = PMPI_Improbe(from, tag, c, flag, m, status);
  if (result == MPI_SUCCESS && *flag != 0) Log::instance().matched(c, "MPI_Improbe", *m);
  return result;
}
int MPI_Mrecv(void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Status* status) {
  const LibraryCall call;
  MPI_Status own;
  MPI_Status* const s = status_or(status, own);
  Log::instance().receive_matched(*m, b, MPI_REQUEST_NULL);
  const int result = PMPI_Mrecv(b, n, t, m, s);
  Log::instance().complete(MPI_REQUEST_NULL, *s, true);
  return result;
}
int MPI_Imrecv(void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* r) {
  const LibraryCall call;
  const MPI_Message before = *m;
  const int result = PMPI_Imrecv(b, n, t, m, r);
  if (result == MPI_SUCCESS) Log::instance().receive_matched(before, b, *r);
  return result;
}
}
#pragma GCC visibility pop
