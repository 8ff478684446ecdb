// A CUDA program whose kernels wait for what the host writes after their launch, in many ways. `latch PTX
// WHICH` prints what it saw; 0 is cudaSuccess, 600 cudaErrorNotReady.
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "registration.hpp"

extern "C" {
int cudaStreamQuery(void*);
int cudaStreamDestroy(void*);
int cudaEventDestroy(void*);
int cudaMemsetAsync(void*, int, std::size_t, void*);
int cudaLaunchHostFunc(void*, void (*)(void*), void*);
}

namespace {

using Word = volatile unsigned;
constexpr unsigned kNonBlocking = 1;
constexpr int kToDevice = 1, kToHost = 2;

void await() {}
void await_fence() {}
void await_together() {}
void await_late() {}
void await_paced() {}
void await_clock() {}
void turns() {}
void bounded() {}
void add() {}
void write() {}

void* out = nullptr;  // 64 words on the device

Word* managed_word() {
  void* word = nullptr;
  if (cudaMallocManaged(&word, 4096, 1) != 0) std::abort();
  return static_cast<Word*>(word);
}
Word* pinned_word() {
  void* word = nullptr;
  if (cudaMallocHost(&word, 4096) != 0) std::abort();
  return static_cast<Word*>(word);
}
void* stream(unsigned flags = 0) {
  void* made = nullptr;
  cudaStreamCreateWithFlags(&made, flags);
  return made;
}
int start(void (*kernel)(), const void* at, unsigned what, void* s, unsigned ctas = 1, unsigned threads = 1) {
  void* args[] = {&at, &what};
  return launch(kernel, ctas, threads, args, s);
}
int start_await(void (*kernel)(), Word* latch, unsigned least, void* s, unsigned threads = 1) {
  return start(kernel, const_cast<unsigned*>(latch), least, s, 1, threads);
}
unsigned result() {
  unsigned value = 0;
  cudaMemcpy(&value, out, sizeof value, kToHost);
  return value;
}
void count(void* at) { ++*static_cast<unsigned*>(at); }

/// All kinds of work behind a kernel that waits, and work beside it that does not.
int behind(Word* latch) {
  void *one = stream(kNonBlocking), *two = stream(kNonBlocking), *three = stream(kNonBlocking);
  unsigned source = 5, calls = 0;
  unsigned* copied = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&copied), sizeof source);
  *copied = 0;
  *latch = 0;
  start_await(&await, latch, 1, one);
  start(&write, out, 100, three);
  cudaMemcpyAsync(out, &source, sizeof source, kToDevice, one);  // staged: 5
  source = 6;
  start(&add, out, 1, one);
  void* mark = event_in(one);
  cudaStreamWaitEvent(two, mark, 0);
  start(&add, out, 2, two);
  void* joined = event_in(two);
  cudaStreamWaitEvent(one, joined, 0);
  cudaMemcpyAsync(copied, out, sizeof *copied, kToHost, one);
  cudaLaunchHostFunc(one, &count, &calls);
  cudaEventDestroy(joined);
  cudaStreamDestroy(two);
  cudaStreamSynchronize(three);
  std::printf("%u %u ", *copied, calls);
  unsigned beside = 0;
  cudaMemcpyAsync(&beside, out, sizeof beside, kToHost, three);
  std::printf("%u %d %d %d\n", beside, cudaEventQuery(mark), cudaStreamQuery(one),
              cudaStreamQuery(three) % 600);
  *latch = 1;
  int asked = 0;
  while (cudaEventQuery(mark) != 0) ++asked;
  std::printf("%d %d\n", asked <= 1, cudaStreamSynchronize(one));
  std::printf("%u %u %u\n", *copied, calls, result());
  return 0;
}

/// The legacy default stream waits for streams that block, and they for it.
int legacy() {
  Word* latch = managed_word();
  void *one = stream(), *two = stream();
  start(&write, out, 0, nullptr);
  start_await(&await, latch, 1, one);
  start(&add, out, 1, nullptr);  // after `one`
  start(&write, out, 40, two);   // after the default stream
  start(&add, out, 2, two);
  std::printf("%d %d\n", cudaStreamQuery(two), cudaStreamQuery(nullptr));
  *latch = 3;
  std::printf("%u\n", result());
  return 0;
}

/// Kernels that wait in other ways, each released by the host.
int kinds() {
  Word* latch = pinned_word();
  void* s = stream(kNonBlocking);
  for (void (*kernel)() : {&await, &await_fence, &await_paced, &await_together}) {
    *latch = 0;
    start_await(kernel, latch, 2, s, kernel == &await_together ? 64 : 32);
    start(&add, out, 1, s);
    *latch = 1;  // not enough
    std::printf("%d ", cudaStreamQuery(s));
    *latch = 2;
    std::printf("%d\n", cudaStreamSynchronize(s));
  }
  *latch = 0;
  void* clocks = static_cast<char*>(out) + 128;
  void* args[] = {&latch, &clocks};
  launch(&await_clock, 1, 1, args, s);
  std::printf("%d ", cudaStreamQuery(s));
  *latch = 1;
  unsigned ticks = 0;
  std::printf("%d ", cudaStreamSynchronize(s));
  cudaMemcpy(&ticks, clocks, sizeof ticks, kToHost);
  std::printf("%d %u\n", ticks > 0, result());
  return 0;
}

/// A kernel of which some CTAs have ended before one waits, with another kernel recorded in between.
int late() {
  Word* latch = managed_word();
  void *one = stream(kNonBlocking), *two = stream(kNonBlocking);
  *latch = 0;
  start(&await_late, const_cast<unsigned*>(latch), 1, one, 40, 64);
  start(&add, out, 1, one);
  start(&add, static_cast<char*>(out) + 128, 5, two, 1, 2);
  std::printf("%d %d ", cudaStreamSynchronize(two), cudaStreamQuery(one));
  *latch = 1;
  std::printf("%d ", cudaStreamSynchronize(one));
  std::printf("%u\n", result());
  return 0;
}

/// What waits for a kernel or a copy of another stream; two kernels that wait for each other.
int device() {
  void *one = stream(kNonBlocking), *two = stream(kNonBlocking);
  auto* latch = static_cast<unsigned*>(out) + 8;
  cudaMemset(out, 0, 256);
  start_await(&await, latch, 1, one);
  start(&add, out, 1, one);
  start(&write, latch, 1, two);
  std::printf("%d\n", cudaStreamSynchronize(one));
  start_await(&await, latch, 2, one);
  start(&write, latch, 3, one);
  start_await(&await, latch, 3, two);
  start(&add, out, 10, two);
  const unsigned next = 2;
  void* three = stream(kNonBlocking);
  cudaMemcpyAsync(latch, &next, sizeof next, kToDevice, three);
  std::printf("%d ", cudaDeviceSynchronize());
  std::printf("%u\n", result());
  return 0;
}

/// Another thread writes while this one waits; in managed memory, whose pages are watched.
int threads(Word* latch) {
  void* s = stream();
  for (unsigned turn = 1; turn <= 3; ++turn) {
    start_await(&await, latch, turn, s);
    start(&add, out, 1, s);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * turn));
      *latch = turn;
    });
    std::printf("%d ", cudaStreamSynchronize(s));
    other.join();
  }
  std::printf("%u\n", result());
  return 0;
}

/// Threads that write and end at once, while this one looks whether anybody is left to write.
int hurry(Word* latch) {
  void* s = stream();
  int failed = 0;
  for (unsigned turn = 1; turn <= 500; ++turn) {
    start_await(&await, latch, turn, s);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(turn));
      *latch = turn;
    });
    failed += cudaStreamSynchronize(s) != 0;
    other.join();
  }
  std::printf("%d\n", failed);
  return 0;
}

int graph() {
  Word* latch = managed_word();
  void *s = stream(kNonBlocking), *made = nullptr, *exec = nullptr;
  cudaStreamBeginCapture(s, 0);
  start_await(&await, latch, 1, s);
  start(&add, out, 7, s);
  cudaStreamEndCapture(s, &made);
  cudaGraphInstantiate(&exec, made, 0);
  for (int turn = 0; turn < 2; ++turn) {
    *latch = 0;
    cudaGraphLaunch(exec, s);
    std::printf("%d ", cudaStreamQuery(s));
    *latch = 1;
    std::printf("%d ", cudaStreamSynchronize(s));
  }
  std::printf("%u\n", result());
  return 0;
}

/// Nothing of this waits for the host.
int progress() {
  cudaMemset(out, 0, 256);
  start(&turns, out, 1000, nullptr, 2);
  std::printf("%u ", result());
  void* latch = static_cast<char*>(out) + 64;
  unsigned most = 100000;
  void* args[] = {&latch, &out, &most};
  launch(&bounded, 1, 1, args);
  std::printf("%u\n", result());
  return 0;
}

/// Polls its own memory for what a kernel writes that waits for it, and makes no call for `seconds`.
int polls(int seconds) {
  Word* words = pinned_word();
  words[0] = 0;
  words[1] = 0;
  start_await(&await, words, 1, nullptr);
  start(&write, const_cast<unsigned*>(words + 1), 7, nullptr);
  words[0] = 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (words[1] == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("%u ", words[1]);
  std::printf("%d ", cudaStreamQuery(nullptr));
  std::printf("%u\n", words[1]);
  return 0;
}

int own_threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

/// A kernel fails behind one that has waited, and nothing is held any more. 1: the thread that looks after
/// kernels that wait has ended.
int fails() {
  Word* latch = pinned_word();
  *latch = 0;
  const int before = own_threads();
  start_await(&await, latch, 1, nullptr);
  start(&write, reinterpret_cast<void*>(8), 2, nullptr);
  *latch = 1;
  std::printf("%s ", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < 2000 && own_threads() != before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("%d\n", own_threads() == before);
  return 0;
}

int never(bool waits) {
  Word* latch = pinned_word();
  *latch = 0;
  start(&write, out, 1, nullptr);
  start_await(&await, latch, 1, nullptr);
  start(&write, out, 2, nullptr);
  if (!waits) return 0;
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  const struct {
    void (*stub)();
    const char* name;
  } kernels[] = {{&await, "await"},
                 {&await_fence, "await_fence"},
                 {&await_together, "await_together"},
                 {&turns, "turns"},
                 {&await_clock, "await_clock"},
                 {&bounded, "bounded"},
                 {&await_late, "await_late"},
                 {&await_paced, "await_paced"},
                 {&add, "add"},
                 {&write, "write"}};
  for (const auto& kernel : kernels) register_kernel(handle, kernel.stub, kernel.name);
  __cudaRegisterFatBinaryEnd(handle);
  if (cudaMalloc(&out, 256) != 0 || cudaMemset(out, 0, 256) != 0) return 4;
  const std::string which = argv[2];
  if (which == "managed") return behind(managed_word());
  if (which == "pinned") return behind(pinned_word());
  if (which == "legacy") return legacy();
  if (which == "kinds") return kinds();
  if (which == "late") return late();
  if (which == "device") return device();
  if (which == "threads") return threads(managed_word());
  if (which == "hurry") return hurry(pinned_word());
  if (which == "graph") return graph();
  if (which == "progress") return progress();
  if (which == "polls") return polls(5);
  if (which == "fails") return fails();
  if (which == "never") return never(true);
  if (which == "left") return never(false);
  return 3;
}
