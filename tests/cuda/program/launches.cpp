// A CUDA program of empty kernels: `launches PTX WHICH [BYTES]`. Prints picoseconds of simulated time, by
// events.
#include <cmath>
#include <thread>

#include "registration.hpp"

namespace {

int called = 0;
void empty() { called = 1; }

void start(void* stream, int count) {
  for (int i = 0; i < count; ++i) launch(&empty, 1, 32, nullptr, stream);
}

void print_time(void* from, void* to, int per) {
  float milliseconds = -1;
  const int status = cudaEventElapsedTime(&milliseconds, from, to);
  std::printf("%ld\n", status == 0 ? std::lround(static_cast<double>(milliseconds) * 1e9 / per) : -status);
}
void* new_stream() {
  void* stream = nullptr;
  cudaStreamCreateWithFlags(&stream, 1);
  return stream;
}
void* graph_of(int nodes, void* stream) {
  void *graph = nullptr, *exec = nullptr;
  cudaStreamBeginCapture(stream, 0);
  start(stream, nodes);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  return exec;
}

/// A launch, of many without a wait; launch and synchronise.
int calls(void* stream) {
  constexpr int kLaunches = 1000, kTrips = 50;
  void* begin = event_in(stream);
  start(stream, kLaunches);
  void* end = event_in(stream);
  cudaDeviceSynchronize();
  print_time(begin, end, kLaunches);
  begin = event_in(stream);
  for (int i = 0; i < kTrips; ++i) {
    start(stream, 1);
    cudaStreamSynchronize(stream);
  }
  end = event_in(stream);
  cudaDeviceSynchronize();
  print_time(begin, end, kTrips);
  return 0;
}

/// A node, of long graphs one after the other; graphs of one node and of two.
int graphs(void* stream) {
  constexpr int kNodes = 200, kReplays = 5;
  void* const exec = graph_of(kNodes, stream);
  void* begin = event_in(stream);
  for (int i = 0; i < kReplays; ++i) cudaGraphLaunch(exec, stream);
  void* end = event_in(stream);
  cudaDeviceSynchronize();
  print_time(begin, end, kNodes * kReplays);
  for (const int nodes : {1, 2}) {
    void* const small = graph_of(nodes, stream);
    begin = event_in(stream);
    cudaGraphLaunch(small, stream);
    end = event_in(stream);
    cudaDeviceSynchronize();
    print_time(begin, end, 1);
  }
  return 0;
}

/// As many launches by one thread into two streams as by two threads, one stream each.
int threads(void* one) {
  constexpr int kLaunches = 100;
  void* const two = new_stream();
  for (const bool both : {false, true}) {
    void* begin = event_in(one);
    cudaStreamWaitEvent(two, begin, 0);
    if (both) {
      std::thread first([&] { start(one, kLaunches); }), second([&] { start(two, kLaunches); });
      first.join();
      second.join();
    } else {
      start(one, kLaunches);
      start(two, kLaunches);
    }
    void* const joined = event_in(two);
    cudaStreamWaitEvent(one, joined, 0);
    void* end = event_in(one);
    cudaDeviceSynchronize();
    print_time(begin, end, kLaunches);
  }
  return 0;
}

/// Blocking copies to and from the device.
int copies(void* stream, std::size_t bytes) {
  constexpr int kCopies = 10;
  void* memory = nullptr;
  std::vector<char> host(bytes);
  cudaMalloc(&memory, bytes);
  for (const int direction : {1, 2}) {
    void* begin = event_in(stream);
    for (int i = 0; i < kCopies; ++i)
      direction == 1 ? cudaMemcpy(memory, host.data(), bytes, 1) : cudaMemcpy(host.data(), memory, bytes, 2);
    void* end = event_in(stream);
    cudaDeviceSynchronize();
    print_time(begin, end, kCopies);
  }
  start(stream, 1);  // a trace needs a kernel
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &empty, "empty");
  __cudaRegisterFatBinaryEnd(handle);
  void* const stream = new_stream();
  const std::string which = argv[2];
  if (which == "calls") return calls(stream);
  if (which == "graphs") return graphs(stream);
  if (which == "threads") return threads(stream);
  if (which == "copies") return copies(stream, argc > 3 ? std::stoul(argv[3]) : 4);
  return 3;
}
