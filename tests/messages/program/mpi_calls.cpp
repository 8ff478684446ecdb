// An MPI program: argv[1] says what it does, argv[2] is timing.ptx of tests/cuda where it has kernels. Checks
// its data.
#include <mpi.h>
#include <signal.h>

#include "../../cuda/program/registration.hpp"
#include "checks.hpp"

namespace mpi_calls {

int me = 0, size = 0;
static bool right = true;

void check(bool condition, const char* what) {
  if (condition) return;
  std::printf("process %d: %s is wrong\n", me, what);
  right = false;
}

}  // namespace mpi_calls

namespace {

using namespace mpi_calls;

int called = 0;
void work() { called = 1; }  // stands for the kernel on the host

void point_to_point() {
  std::vector<int> out(5000, me), in(5000, -1);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(in.data(), 5000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out.data(), 5000, MPI_INT, after(1), 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  check(in[4999] == after(-1) && statuses[0].MPI_SOURCE == after(-1), "MPI_Waitall");
  MPI_Barrier(MPI_COMM_WORLD);  // what is sent next must not match the receive from anyone
  MPI_Sendrecv(out.data(), 2, MPI_INT, after(-1), 1, in.data(), 2, MPI_INT, after(1), 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(in[1] == after(1), "MPI_Sendrecv");
  if (me == 0) MPI_Send(out.data(), 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  for (int p = 1; p < size; ++p) {
    if (me == p) MPI_Ssend(out.data(), 10, MPI_INT, 0, 4, MPI_COMM_WORLD);
    if (me == 0) MPI_Recv(in.data(), 10, MPI_INT, p, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0) check(in[9] == p, "MPI_Recv");
  }
  int flag = 0;
  MPI_Isend(out.data(), 4, MPI_INT, after(1), 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in.data(), 4, MPI_INT, after(-1), 5, MPI_COMM_WORLD, &requests[1]);
  while (flag == 0) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  check(in[3] == after(-1), "MPI_Testall");
}

void collectives(MPI_Comm c) {
  int rank = 0, n = 0, value = 0, sum = 0;
  MPI_Comm_rank(c, &rank);
  MPI_Comm_size(c, &n);
  MPI_Barrier(c);
  value = rank == 1 % n ? 42 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 1 % n, c);
  check(value == 42, "MPI_Bcast");
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, c);
  if (rank == 0) check(sum == n * (n - 1) / 2, "MPI_Reduce");
  std::vector<int> many(3000, rank), all(static_cast<std::size_t>(n), rank), got(all.size());
  MPI_Allreduce(MPI_IN_PLACE, many.data(), 3000, MPI_INT, MPI_SUM, c);
  check(many[2999] == n * (n - 1) / 2, "MPI_Allreduce");
  MPI_Allgather(&rank, 1, MPI_INT, got.data(), 1, MPI_INT, c);
  check(got.back() == n - 1, "MPI_Allgather");
  MPI_Alltoall(all.data(), 1, MPI_INT, got.data(), 1, MPI_INT, c);
  check(got.back() == n - 1, "MPI_Alltoall");
  MPI_Gather(&rank, 1, MPI_INT, got.data(), 1, MPI_INT, 0, c);
  MPI_Scatter(got.data(), 1, MPI_INT, &value, 1, MPI_INT, 0, c);
  check(value == rank, "MPI_Scatter");
}

void communicators() {
  MPI_Comm half = MPI_COMM_NULL, twin = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
  MPI_Comm_dup(half, &twin);
  collectives(twin);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&half);
  MPI_Comm node = MPI_COMM_NULL;  // that of a simulated system, whatever machine this one is
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int members = 0;
  MPI_Comm_size(node, &members);
  check(members == 1, "the number of processes on a node");
  MPI_Comm_free(&node);
}

/// Kernel, message from device to device, kernel.
void gpu(const char* ptx) {
  void** const handle = register_ptx(ptx);
  check(handle != nullptr, "timing.ptx");
  register_kernel(handle, &work, "work");
  __cudaRegisterFatBinaryEnd(handle);
  void* memory = nullptr;
  cudaMalloc(&memory, 1 << 16);
  std::vector<int> values(32, me);
  cudaMemcpy(memory, values.data(), 128, 1);
  unsigned count = 2000;
  void* args[] = {&memory, &count};
  char* const inbox = static_cast<char*>(memory) + 8192;
  for (int round = 0; round < 2; ++round) {
    launch(&work, 1, 32, args);
    cudaDeviceSynchronize();
    MPI_Sendrecv(memory, 32, MPI_INT, after(1), 0, inbox, 32, MPI_INT, after(-1), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    cudaMemcpy(memory, inbox, 128, 3);
  }
  launch(&work, 1, 32, args);
  cudaMemcpy(values.data(), memory, 128, 2);
  window_of(memory);
  check(values[31] == after(-2) + 3, "what came from device to device");
}

/// The time of MPI_Comm_idup's communicator, and of others that this layer does not see made, is not
/// simulated.
void other_functions() {
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &twin, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int value = me;
  MPI_Bcast(&value, 1, MPI_INT, 0, twin);
  MPI_Scan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, twin);
  check(value == 0, "MPI_Bcast or MPI_Scan");
  MPI_Comm_free(&twin);
}

/// Prints what it measures: by MPI_Wtime that of a ping-pong, by events that of a kernel.
void times(const char* ptx) {
  void** const handle = register_ptx(ptx);
  check(handle != nullptr, "timing.ptx");
  register_kernel(handle, &work, "work");
  __cudaRegisterFatBinaryEnd(handle);
  void *memory = nullptr, *events[2] = {};
  cudaMalloc(&memory, 1 << 16);
  unsigned count = 2000;
  void* args[] = {&memory, &count};
  std::vector<int> data(100, me);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 0; round < 3; ++round)
    for (int from = 0; from < 2; ++from) {
      if (me == from) MPI_Send(data.data(), 100, MPI_INT, 1 - from, 0, MPI_COMM_WORLD);
      if (me == 1 - from) MPI_Recv(data.data(), 100, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  const double end = MPI_Wtime();
  for (void*& event : events) cudaEventCreate(&event);
  cudaEventRecord(events[0], nullptr);
  launch(&work, 1, 32, args);
  cudaEventRecord(events[1], nullptr);
  cudaEventSynchronize(events[1]);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, events[0], events[1]);
  std::printf("time %d %.17g %.17g %.9g %.17g\n", me, begin, end, static_cast<double>(milliseconds),
              MPI_Wtick());
}

/// Does something else when it is shown simulated time.
void adapt(const std::string& what) {
  const double begin = MPI_Wtime();
  const bool is_shown = MPI_Wtick() == 1e-12;
  if (is_shown && what == "message") MPI_Barrier(MPI_COMM_WORLD);
  if (is_shown && what == "clock" && me == 1) check(MPI_Wtime() > begin, "MPI_Wtime");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "calls") {
    point_to_point();
    collectives(MPI_COMM_WORLD);
    communicators();
  } else if (what == "requests") {
    persistent_requests();
    matched_probes();
  } else if (what == "collectives") {
    other_collectives(MPI_COMM_WORLD);
    nonblocking_collectives(MPI_COMM_WORLD);
    neighborhoods();
  } else if (what == "windows") {
    windows();
  } else if (what == "gpu" && argc > 2) {
    gpu(argv[2]);
  } else if (what == "times" && argc > 2) {
    times(argv[2]);
  } else if (what == "adapt" && argc > 2) {
    adapt(argv[2]);
  } else if (what == "computes" && argc > 2) {
    computation(argv[2]);
  } else if (what == "others") {
    other_functions();
  } else if (what == "abort" && me == 1) {
    MPI_Abort(MPI_COMM_WORLD, 7);
  } else if (what == "die" && me == 1) {
    raise(SIGKILL);
  } else if (what == "code" && me == 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 9;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (right) std::printf("right\n");
  return right ? 0 : 1;
}
