// liblockstep_mpi.so: the only code that knows MPI.
#include "ranks/mpi/module.hpp"

#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <vector>

namespace {

constexpr const char* kGivenUp = "given up";
constexpr std::size_t kMaxMessage = std::size_t{1} << 28;  // bytes of one message: counts are ints
constexpr int kTag = 1;
constexpr unsigned kSpins = 64, kYields = 4096;  // tests before who waits yields, and before it sleeps
constexpr long kSleep = 50'000;                  // ns

MPI_Comm own = MPI_COMM_NULL;
int own_rank = 0, ranks = 1;
char error_text[MPI_MAX_ERROR_STRING];

const char* failed(int code) {
  if (code == MPI_SUCCESS) return nullptr;
  int length = 0;
  MPI_Error_string(code, error_text, &length);
  return error_text;
}

/// Until all are complete.
const char* wait(std::vector<MPI_Request>& requests, LockstepMpiWaiting waiting, void* context) {
  for (unsigned tries = 0;; ++tries) {
    int done = 0;
    const int code =
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) return failed(code);
    if (done) return nullptr;
    if (tries < kSpins) continue;
    if (waiting(context)) return kGivenUp;
    if (tries < kYields) {
      sched_yield();
    } else {
      const timespec nap{0, kSleep};
      nanosleep(&nap, nullptr);
    }
  }
}

const char* start(int* rank, int* size) {
  int provided = 0;
  if (const char* why = failed(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided))) return why;
  if (provided < MPI_THREAD_FUNNELED) return "this MPI is not for processes with threads";
  if (const char* why = failed(MPI_Comm_dup(MPI_COMM_WORLD, &own))) return why;
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own, &own_rank);
  MPI_Comm_size(own, &ranks);
  *rank = own_rank;
  *size = ranks;
  return nullptr;
}

const char* all_gather(const void* mine, std::size_t bytes, void* all, LockstepMpiWaiting waiting,
                       void* context) {
  std::vector<MPI_Request> request(1);
  const int count = static_cast<int>(bytes);
  if (const char* why =
          failed(MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, own, request.data())))
    return why;
  return wait(request, waiting, context);
}

const char* messages(const char* const* out, const std::size_t* out_bytes, char* const* in,
                     const std::size_t* in_bytes, LockstepMpiWaiting waiting, void* context) {
  std::vector<MPI_Request> requests;
  const auto pieces = [&](std::size_t bytes, auto&& each) -> const char* {
    for (std::size_t at = 0; at < bytes; at += kMaxMessage) {
      const auto count = static_cast<int>(std::min(kMaxMessage, bytes - at));
      if (const char* why = failed(each(at, count, &requests.emplace_back()))) return why;
    }
    return nullptr;
  };
  for (int r = 0; r < ranks; ++r) {
    const char* why = pieces(in_bytes[r], [&](std::size_t at, int count, MPI_Request* request) {
      return MPI_Irecv(in[r] + at, count, MPI_BYTE, r, kTag, own, request);
    });
    if (why) return why;
  }
  for (int r = 0; r < ranks; ++r) {
    const char* why = pieces(out_bytes[r], [&](std::size_t at, int count, MPI_Request* request) {
      return MPI_Isend(out[r] + at, count, MPI_BYTE, r, kTag, own, request);
    });
    if (why) return why;
  }
  return requests.empty() ? nullptr : wait(requests, waiting, context);
}

const char* finish() {
  MPI_Comm_free(&own);
  return failed(MPI_Finalize());
}

void abandon(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

constexpr LockstepMpi kModule{
    lockstep::ranks::kMpiVersion, start, all_gather, messages, finish, abandon, kGivenUp};

}  // namespace

extern "C" const LockstepMpi* lockstep_mpi() { return &kModule; }
