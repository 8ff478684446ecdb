// Programs that look at the time: argv[1] is timing.ptx, argv[2] says which.
#include <sys/time.h>
#include <time.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "registration.hpp"

namespace {

// Stand for the kernels on the host; they must not be one and the same function.
int called = 0;
void chain() { called = 1; }
void chase() { called = 2; }
void spin() { called = 3; }
void work() { called = 4; }
void endless() { called = 5; }

constexpr unsigned kCount = 2000;  // multiply-adds of a kernel

void* out = nullptr;

unsigned result() {
  unsigned value = 0;
  cudaMemcpy(&value, out, sizeof value, 2);
  return value;
}

void start_work(void* stream, unsigned count = kCount) {
  void* args[] = {&out, &count};
  launch(&work, 1, 32, args, stream);
}

/// Cycles of one multiply-add, and of one load, in hundredths.
int clocks() {
  void* args[] = {&out};
  launch(&chain, 1, 32, args);
  std::printf("%u\n", result() * 100 / 128);
  void* list = nullptr;
  std::vector<void*> next(32);
  cudaMalloc(&list, next.size() * sizeof(void*));
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = static_cast<void**>(list) + (i + 1) % next.size();
  cudaMemcpy(list, next.data(), next.size() * sizeof(void*), 1);
  void* both[] = {&out, &list};
  launch(&chase, 1, 1, both);
  std::printf("%u\n", result() * 100 / 32);
  return 0;
}

int spinning() {
  unsigned cycles = 5000;
  void* args[] = {&out, &cycles};
  launch(&spin, 1, 1, args);
  std::printf("%d\n", result() >= cycles);
  return 0;
}

/// One kernel; two in one stream; two in two streams.
int streams() {
  void *one = nullptr, *two = nullptr;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  void* begin = event_in(one);
  start_work(one);
  void* end = event_in(one);
  cudaDeviceSynchronize();
  std::printf("%ld\n", nanoseconds(begin, end));
  begin = event_in(one);
  start_work(one);
  start_work(one);
  end = event_in(one);
  cudaStreamSynchronize(one);
  std::printf("%ld\n", nanoseconds(begin, end));
  begin = event_in(one);
  void* ready = event_in(one);
  cudaStreamWaitEvent(two, ready, 0);
  start_work(one);
  start_work(two);
  void* joined = event_in(two);
  cudaStreamWaitEvent(one, joined, 0);
  end = event_in(one);
  cudaEventSynchronize(end);
  std::printf("%ld\n", nanoseconds(begin, end));
  return 0;
}

/// An event is not complete before it is waited for, and who asks again waits.
int queries() {
  void* begin = event_in(nullptr);
  start_work(nullptr);
  void* end = event_in(nullptr);
  std::printf("%d %ld\n", cudaEventQuery(end), nanoseconds(begin, end));
  int asked = 1;
  while (cudaEventQuery(end) != 0) ++asked;
  std::printf("%d %d\n", asked, nanoseconds(begin, end) > 0);
  return 0;
}

/// A copy and a kernel, one after the other and side by side. The memory of the host is page-locked.
int copies() {
  constexpr std::size_t kBytes = 1 << 20;
  void *host = nullptr, *device = nullptr, *one = nullptr, *two = nullptr;
  cudaMallocHost(&host, kBytes);
  cudaMalloc(&device, kBytes);
  cudaStreamCreateWithFlags(&one, 1);
  cudaStreamCreateWithFlags(&two, 1);
  for (void* second : {one, two}) {
    cudaDeviceSynchronize();
    void* begin = event_in(one);
    cudaMemcpyAsync(device, host, kBytes, 1, one);
    start_work(second, 30000);
    void* first_end = event_in(one);
    void* second_end = event_in(second);
    cudaDeviceSynchronize();
    const long a = nanoseconds(begin, first_end), b = nanoseconds(begin, second_end);
    std::printf("%ld\n", a > b ? a : b);
  }
  return 0;
}

long now_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}
long day_time() {
  timeval time{};
  gettimeofday(&time, nullptr);
  return (time.tv_sec * 1'000'000 + time.tv_usec) * 1000;
}
long c_clock() { return std::clock() * (1'000'000'000 / CLOCKS_PER_SEC); }
long chrono() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}
long monotonic() { return now_of(CLOCK_MONOTONIC); }
long real_time() { return now_of(CLOCK_REALTIME); }

volatile unsigned long computed = 0;

/// A kernel by its events and by each clock of the host, which computes meanwhile; a copy of its result; a
/// sleep; and a loop that waits by the clock.
int host_clocks() {
  for (long (*const clock)() : {day_time, c_clock, chrono, monotonic, real_time}) {
    const long before = clock();
    void* begin = event_in(nullptr);
    start_work(nullptr, 100'000);
    void* end = event_in(nullptr);
    for (unsigned long i = 0; i < 20'000'000; ++i) computed = computed + i;
    cudaDeviceSynchronize();
    const long after = clock();
    std::printf("%ld %ld\n", nanoseconds(begin, end), after - before);
  }
  const long copied = chrono();
  start_work(nullptr, 100'000);
  (void)result();
  std::printf("%ld\n", chrono() - copied);
  const long slept = chrono();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::printf("%ld\n", chrono() - slept);
  long reads = 0;
  for (const long since = monotonic(); monotonic() - since < 1'000'000;) ++reads;
  std::printf("%ld\n%ld\n", reads, static_cast<long>(std::time(nullptr)));
  return 0;
}

/// Many launches without a wait between them, then the result.
int many() {
  unsigned zero = 0;
  cudaMemcpy(out, &zero, sizeof zero, 1);
  for (int i = 0; i < 40; ++i) start_work(nullptr, 50);
  std::printf("%u\n", result());
  return 0;
}

/// A fill, and a copy within the device; then the same of managed memory that is on the device.
int fills() {
  constexpr std::size_t kBytes = 4 << 20;
  void *a = nullptr, *b = nullptr, *shared = nullptr;
  if (cudaMalloc(&a, kBytes) != 0 || cudaMalloc(&b, kBytes) != 0) return 4;
  if (cudaMallocManaged(&shared, kBytes, 1) != 0) return 4;
  cudaMemPrefetchAsync(shared, kBytes, {1, 0}, 0, nullptr);
  start_work(nullptr, 10);
  for (void* from : {a, shared}) {
    cudaDeviceSynchronize();
    void* begin = event_in(nullptr);
    cudaMemset(from, 1, kBytes);
    void* middle = event_in(nullptr);
    cudaMemcpy(b, from, kBytes, 3);
    void* end = event_in(nullptr);
    cudaDeviceSynchronize();
    std::printf("%ld\n%ld\n", nanoseconds(begin, middle), nanoseconds(middle, end));
  }
  return 0;
}

/// A ring of 32 pointers, one every `stride` bytes.
void write_ring(void* list, std::size_t stride) {
  for (std::size_t i = 0; i < 32; ++i) {
    void* const next = static_cast<char*>(list) + (i + 1) % 32 * stride;
    std::memcpy(static_cast<char*>(list) + i * stride, &next, sizeof next);
  }
}

long timed_chase(void* list) {
  void* args[] = {&out, &list};
  void* begin = event_in(nullptr);
  launch(&chase, 1, 1, args);
  void* end = event_in(nullptr);
  cudaDeviceSynchronize();
  return nanoseconds(begin, end);
}

/// Managed memory: what a kernel takes before there is any; one whose page is on the host, and again; advice
/// and a prefetch beside a kernel that runs; a range that is freed and managed anew, with more behind it.
int managed() {
  constexpr std::size_t kBytes = 1 << 20;
  constexpr int kSetReadMostly = 1;
  void *list = nullptr, *other = nullptr, *stream = nullptr;
  void* begin = event_in(nullptr);
  start_work(nullptr);
  void* end = event_in(nullptr);
  cudaDeviceSynchronize();
  std::printf("%ld\n", nanoseconds(begin, end));
  if (cudaMallocManaged(&list, kBytes, 1) != 0) return 4;
  write_ring(list, 128);
  std::printf("%ld\n", timed_chase(list));
  std::printf("%ld\n", timed_chase(list));
  if (cudaMallocManaged(&other, 3 * kBytes, 1) != 0) return 4;
  cudaStreamCreateWithFlags(&stream, 1);
  write_ring(other, 4096);
  start_work(nullptr);
  if (cudaMemAdvise(other, kBytes, kSetReadMostly, {1, 0}) != 0) return 4;
  begin = event_in(stream);
  if (cudaMemPrefetchAsync(other, 3 * kBytes, {1, 0}, 0, stream) != 0) return 4;
  end = event_in(stream);
  std::printf("%d\n", cudaEventQuery(end));
  cudaDeviceSynchronize();
  std::printf("%ld\n", nanoseconds(begin, end));
  std::printf("%ld\n", timed_chase(other));
  cudaFree(list);
  cudaFree(other);
  if (cudaMallocManaged(&list, 5 * kBytes, 1) != 0) return 4;
  write_ring(static_cast<char*>(list) + kBytes / 2, 64 << 10);
  std::printf("%ld\n", timed_chase(static_cast<char*>(list) + kBytes / 2));
  static_cast<char*>(list)[5] = 1;
  return 0;
}

/// Queries of two events without work between them, behind a wait for the kernel before them: at once; behind
/// another wait for all; behind one for the stream.
int settled() {
  for (const int wait : {0, 1, 2}) {
    start_work(nullptr);
    cudaDeviceSynchronize();
    void* const first = event_in(nullptr);
    void* const second = event_in(nullptr);
    if (wait == 1) cudaDeviceSynchronize();
    if (wait == 2) cudaStreamSynchronize(nullptr);
    const int of_first = cudaEventQuery(first), of_second = cudaEventQuery(second);
    std::printf("%d %d\n", of_first, of_second);
  }
  return 0;
}

/// A kernel, then one that never ends.
int never() {
  start_work(nullptr, 10);
  cudaDeviceSynchronize();
  launch(&endless, 1, 64, nullptr);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &chain, "chain");
  register_kernel(handle, &chase, "chase");
  register_kernel(handle, &spin, "spin");
  register_kernel(handle, &work, "work");
  register_kernel(handle, &endless, "endless");
  __cudaRegisterFatBinaryEnd(handle);
  if (cudaMalloc(&out, 1 << 16) != 0) return 4;
  const std::string which = argv[2];
  if (which == "clocks") return clocks();
  if (which == "spin") return spinning();
  if (which == "streams") return streams();
  if (which == "queries") return queries();
  if (which == "copies") return copies();
  if (which == "many") return many();
  if (which == "host-clocks") return host_clocks();
  if (which == "fills") return fills();
  if (which == "managed") return managed();
  if (which == "settled") return settled();
  if (which == "never") return never();
  return 3;
}
