// A program that profiles parts of itself: argv[1] is ranges.ptx, argv[2] says what it does, argv[3] is
// "all", or "ranges" where it leaves out its work outside of them.
#include <vector>

#include "registration.hpp"

extern "C" {
int cudaProfilerStart();
int cudaProfilerStop();
int cuProfilerStart();
int cuProfilerStop();
}

namespace {

// Stand for the kernels on the host; they must not be one and the same function.
int called = 0;
void add() { called = 1; }
void count() { called = 2; }
void await() { called = 3; }

constexpr unsigned kElements = 4096, kThreads = 128, kNonBlocking = 1;
constexpr std::size_t kBytes = kElements * 4;
constexpr int kToDevice = 1, kToHost = 2;

bool all = false;  // also what is outside of the ranges

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  cudaMalloc(&memory, bytes);
  return memory;
}
void* new_stream() {
  void* stream = nullptr;
  cudaStreamCreateWithFlags(&stream, kNonBlocking);
  return stream;
}

/// c = a + b
void start_add(void* a, void* b, void* c, void* stream = nullptr) {
  void* args[] = {&a, &b, &c};
  launch(&add, kElements / kThreads, kThreads, args, stream);
}
void start_count(void* out, unsigned n, void* stream = nullptr) {
  void* args[] = {&out, &n};
  launch(&count, 1, 1, args, stream);
}
unsigned first_of(const void* memory) {
  unsigned value = 0;
  cudaMemcpy(&value, memory, sizeof value, kToHost);
  return value;
}

/// Adds in two ranges, with work before, between and behind them; prints how many elements are right, then
/// times of events inside of and outside of the ranges.
int adds() {
  void *a = allocate(kBytes), *b = allocate(kBytes), *c = allocate(kBytes), *d = allocate(kBytes);
  std::vector<unsigned> host(kElements);
  for (unsigned i = 0; i < kElements; ++i) host[i] = i;
  if (all) {
    cudaMemcpy(a, host.data(), kBytes, kToDevice);
    cudaMemset(b, 0, kBytes);
    start_add(a, a, b);  // 2 i
    start_add(a, b, d);
  }
  void* before = event_in(nullptr);
  cudaProfilerStart();
  cudaProfilerStart();
  void* begin = event_in(nullptr);
  start_add(a, b, c);  // 3 i
  cudaMemset(d, 0, kBytes);
  void* end = event_in(nullptr);
  cudaDeviceSynchronize();
  cudaProfilerStop();
  void* behind = event_in(nullptr);
  if (all) {
    cudaProfilerStop();
    start_add(a, d, b);  // i
    cudaMemcpy(host.data(), b, kBytes, kToHost);
    start_add(c, b, a);  // 4 i
  }
  cuProfilerStart();
  start_add(a, b, d);  // 5 i
  cudaMemcpy(host.data(), d, kBytes, kToHost);
  start_add(d, d, c);  // 10 i
  cudaDeviceSynchronize();
  cuProfilerStop();
  void* last = event_in(nullptr);
  unsigned right = 0;
  for (unsigned i = 0; i < kElements; ++i) right += host[i] == 5 * i ? 1 : 0;
  if (all) {
    cudaMemcpy(host.data(), c, kBytes, kToHost);
    for (unsigned i = 0; i < kElements; ++i) right += host[i] == 10 * i ? 1 : 0;
    std::printf("%u\n", right);
  }
  cudaEventSynchronize(last);
  std::printf("%ld %ld %ld\n", nanoseconds(begin, end), nanoseconds(before, behind),
              nanoseconds(behind, last));
  return 0;
}

/// A long kernel in a range in one stream; an event behind it, recorded outside, for which another stream
/// waits outside before its kernel of the second range. Then a long kernel in a blocking stream, and a kernel
/// in another one: they have no order but that of the default stream's work between them, outside.
int order() {
  void *one = new_stream(), *two = new_stream(), *out = allocate(8), *other = static_cast<char*>(out) + 4;
  void *three = nullptr, *four = nullptr;
  cudaStreamCreate(&three);
  cudaStreamCreate(&four);
  cudaProfilerStart();
  start_count(out, 5000, one);
  cudaProfilerStop();
  if (all) start_count(out, 7, one);
  if (all) cudaStreamWaitEvent(two, event_in(one), 0);
  cudaProfilerStart();
  start_count(other, 10, two);
  cudaDeviceSynchronize();
  start_count(out, 5000, three);
  cudaProfilerStop();
  if (all) start_count(other, 10);
  cudaProfilerStart();
  start_count(other, 10, four);
  cudaProfilerStop();
  std::printf("%d\n", cudaDeviceSynchronize());
  return 0;
}

/// Managed memory that the host and a kernel touch outside, and a kernel in each of two ranges.
int managed() {
  void *a = nullptr, *c = nullptr;
  cudaMallocManaged(&a, kBytes, 1);
  static_cast<unsigned*>(a)[0] = 1;
  if (all) start_add(a, a, a);
  if (all) cudaDeviceSynchronize();
  cudaFree(a);
  cudaMallocManaged(&a, kBytes, 1);
  cudaMallocManaged(&c, kBytes, 1);
  static_cast<unsigned*>(a)[0] = 1;
  if (all) start_add(a, a, c);
  cudaProfilerStart();
  start_add(a, a, c);
  cudaDeviceSynchronize();
  cudaProfilerStop();
  if (all) {
    std::printf("%u\n", static_cast<unsigned*>(c)[0]);
    static_cast<unsigned*>(a)[0] = 5;
    cudaMemPrefetchAsync(a, kBytes, {2, 0}, 0, nullptr);
  }
  cudaProfilerStart();
  start_add(a, c, c);
  cudaDeviceSynchronize();
  const unsigned first = static_cast<unsigned*>(c)[0];
  start_add(a, c, c);
  cudaDeviceSynchronize();
  const unsigned second = static_cast<unsigned*>(c)[0];
  cudaProfilerStop();
  std::printf("%u %u\n", first, second);
  return 0;
}

/// Kernels that wait for the host: one that was launched outside, one that was launched in a range. Each ends
/// on the other side of a range's end.
int waiting() {
  void *one = new_stream(), *two = new_stream(), *out = allocate(kBytes), *latch = nullptr;
  cudaMallocHost(&latch, 64);
  auto* const flags = static_cast<volatile unsigned*>(latch);
  void *second = const_cast<unsigned*>(flags + 1), *other = static_cast<char*>(out) + 4;
  void *args[] = {&latch, &out}, *others[] = {&second, &other};
  launch(&await, 1, 1, args, one);
  start_count(out, 5, one);
  cudaProfilerStart();
  launch(&await, 1, 32, others, two);
  flags[0] = 1;
  cudaStreamSynchronize(one);
  std::printf("%u\n", first_of(out));
  cudaProfilerStop();
  flags[1] = 1;
  cudaStreamSynchronize(two);
  std::printf("%u\n", first_of(other));
  return 0;
}

/// A graph of two kernels, launched outside, in a range, and outside again.
int graphs() {
  void *stream = new_stream(), *out = allocate(4), *graph = nullptr, *exec = nullptr;
  cudaStreamBeginCapture(stream, 0);
  start_count(out, 2, stream);
  start_count(out, 3, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  if (all) cudaGraphLaunch(exec, stream);
  cudaProfilerStart();
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaProfilerStop();
  if (all) cudaGraphLaunch(exec, stream);
  if (all) std::printf("%u\n", first_of(out));
  return cudaStreamSynchronize(stream);
}

/// Enters a range, or none, and launches a kernel outside.
int nothing(bool enter) {
  void* out = allocate(4);
  if (enter) cudaProfilerStart();
  if (enter) cudaProfilerStop();
  start_count(out, 9);
  std::printf("%u\n", first_of(out));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &add, "add");
  register_kernel(handle, &count, "count");
  register_kernel(handle, &await, "await");
  __cudaRegisterFatBinaryEnd(handle);
  const std::string which = argv[2];
  all = std::string(argv[3]) == "all";
  if (which == "adds") return adds();
  if (which == "order") return order();
  if (which == "managed") return managed();
  if (which == "waiting") return waiting();
  if (which == "graphs") return graphs();
  if (which == "none" || which == "empty") return nothing(which == "empty");
  return 3;
}
