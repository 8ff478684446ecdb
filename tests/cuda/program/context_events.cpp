// Events of whole contexts: argv[1] is ranges.ptx, argv[2] says what is done with them.
#include <initializer_list>

#include "registration.hpp"

extern "C" {
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxCreate_v2(void**, unsigned, int);
int cuCtxDestroy_v2(void*);
int cuCtxRecordEvent(void*, void*);
int cuCtxWaitEvent(void*, void*);
int cuEventCreate(void**, unsigned);
int cudaStreamIsCapturing(void*, int*);
int cudaStreamQuery(void*);
}

namespace {

// Stand for the kernels on the host; they must not be one and the same function.
int called = 0;
void count() { called = 1; }
void await() { called = 2; }

constexpr unsigned kNonBlocking = 1, kWords = 64;

void* context = nullptr;  // the device's primary one
char* words = nullptr;    // one for each kernel
unsigned used = 0;

void say(std::initializer_list<int> numbers) {
  for (const int number : numbers) std::printf("%d ", number);
  std::printf("\n");
}

void* new_stream(unsigned flags = kNonBlocking) {
  void* stream = nullptr;
  cudaStreamCreateWithFlags(&stream, flags);
  return stream;
}
void* new_event() {
  void* event = nullptr;
  cudaEventCreate(&event);
  return event;
}
/// A kernel that adds `n` to a word of its own, of which each takes some cycles. The word.
char* start(void* stream, unsigned n) {
  void* out = words + 4 * used++;
  void* args[] = {&out, &n};
  launch(&count, 1, 1, args, stream);
  return static_cast<char*>(out);
}
unsigned value_of(const void* word) {
  unsigned value = 0;
  cudaMemcpy(&value, word, sizeof value, 2);
  return value;
}

/// Kernels, in the order of the trace: three streams' before the record, two behind it, and one that waits.
int records() {
  void *one = new_stream(), *two = new_stream(), *blocking = new_stream(0), *last = new_stream();
  void* event = new_event();
  start(one, 1000);
  start(two, 4000);
  start(blocking, 2000);
  const int status = cuCtxRecordEvent(context, event);
  start(one, 20000);
  start(blocking, 10);
  cudaStreamWaitEvent(last, event, 0);
  start(last, 10);
  say({status, cudaEventSynchronize(event), cudaEventQuery(event), cudaDeviceSynchronize()});
  return 0;
}

/// A long kernel and an event behind it; kernels of two streams, of two that are made later and of the
/// default stream, which all wait for it; before them one that does not.
int waits() {
  void *one = new_stream(), *two = new_stream(), *three = new_stream(), *event = new_event();
  start(one, 5000);
  cudaEventRecord(event, one);
  start(two, 10);
  const int status = cuCtxWaitEvent(context, event);
  start(two, 10);
  start(three, 10);
  start(new_stream(), 10);
  start(new_stream(0), 10);
  start(nullptr, 10);
  say({status, cudaDeviceSynchronize()});
  say({cuCtxWaitEvent(context, new_event())});  // not recorded: nothing to wait for
  start(two, 10);
  return cudaDeviceSynchronize();
}

/// Behind a kernel that waits for the host: an event of the context, and what waits for one.
int held() {
  void *one = new_stream(), *two = new_stream(), *latch = nullptr, *out = words + 4 * used++;
  void *all = new_event(), *other = new_event();
  cudaMallocHost(&latch, 64);
  void* args[] = {&latch, &out};
  launch(&await, 1, 1, args, one);
  start(two, 3);
  say({cuCtxRecordEvent(context, all), cudaEventQuery(all), cudaEventRecord(other, one),
       cudaStreamSynchronize(two), cuCtxWaitEvent(context, other)});
  char* const last = start(two, 7);
  say({cudaStreamQuery(two), cudaEventQuery(all)});
  *static_cast<volatile unsigned*>(latch) = 1;
  say({cudaEventSynchronize(all), cudaStreamSynchronize(two), cudaEventSynchronize(other),
       static_cast<int>(value_of(out)), static_cast<int>(value_of(last))});
  return 0;
}

/// A capture is in progress at the call.
void record_or_wait_in_capture(bool record) {
  void *event = new_event(), *stream = new_stream(), *graph = nullptr;
  int status = 0;
  cudaStreamBeginCapture(stream, 0);
  start(stream, 1);
  const int result = record ? cuCtxRecordEvent(context, event) : cuCtxWaitEvent(context, event);
  cudaStreamIsCapturing(stream, &status);
  say({result, status, cudaStreamWaitEvent(stream, event, 0), cudaStreamEndCapture(stream, &graph),
       graph == nullptr});
  say({cudaStreamBeginCapture(stream, 0), cudaStreamEndCapture(stream, &graph)});
}

/// Codes of errors.
int errors() {
  void *other = nullptr, *event = new_event(), *foreign = nullptr;
  if (cuCtxCreate_v2(&other, 0, 0) != 0 || cuEventCreate(&foreign, 0) != 0) return 4;
  say({cuCtxRecordEvent(context, foreign), cuCtxRecordEvent(other, event), cuCtxRecordEvent(other, foreign)});
  say({cuCtxWaitEvent(context, foreign)});  // of any context
  cuCtxDestroy_v2(other);
  for (void* wrong : {static_cast<void*>(nullptr), other})
    say({cuCtxRecordEvent(wrong, event), cuCtxWaitEvent(wrong, event)});
  say({cuCtxRecordEvent(context, nullptr), cuCtxWaitEvent(context, nullptr)});
  record_or_wait_in_capture(true);
  record_or_wait_in_capture(false);
  say({cuCtxRecordEvent(context, event), cuCtxWaitEvent(context, event)});
  return cudaDeviceSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &count, "count");
  register_kernel(handle, &await, "await");
  __cudaRegisterFatBinaryEnd(handle);
  void* memory = nullptr;
  if (cudaMalloc(&memory, std::size_t{4} * kWords) != 0 || cuDevicePrimaryCtxRetain(&context, 0) != 0)
    return 4;
  words = static_cast<char*>(memory);
  const std::string which = argv[2];
  if (which == "records") return records();
  if (which == "waits") return waits();
  if (which == "held") return held();
  if (which == "errors") return errors();
  return 3;
}
