// A program with one kernel: it registers the PTX of examples/vector_add.cu (argv[1]), launches it and checks
// the result. argv[2]: what to do wrong.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "registration.hpp"

namespace {
void stub() {}  // stands for the kernel on the host

/// The same in managed memory, twice, with accesses of the host in between: one page of `a` written, the
/// first bytes of `b` read from a file, all of `c` read. The advice takes back what was not said
/// (read-mostly).
int managed(int n) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  float* arrays[3];
  for (float*& array : arrays)
    if (cudaMallocManaged(reinterpret_cast<void**>(&array), bytes, 1) != 0) return 4;
  auto [a, b, c] = arrays;
  for (int i = 0; i < n; ++i) a[i] = b[i] = static_cast<float>(i);
  if (cudaMemPrefetchAsync(a, bytes, {1, 0}, 0, nullptr) != 0 || cudaMemAdvise(b, bytes, 2, {1, 0}) != 0)
    return 4;
  void* args[] = {&a, &b, &c, &n};
  bool right = launch(&stub, 40, 256, args) == 0 && cudaDeviceSynchronize() == 0;
  for (int i = 0; i < n; ++i) right = right && c[i] == 2.0f * static_cast<float>(i);
  a[0] = 5;
  std::FILE* zeros = std::fopen("/dev/zero", "r");
  right = right && zeros != nullptr && std::fread(b, 1, bytes, zeros) == bytes;
  right = right && launch(&stub, 40, 256, args) == 0 && cudaDeviceSynchronize() == 0;
  for (int i = 0; i < n; ++i) right = right && c[i] == (i == 0 ? 5.0f : static_cast<float>(i));
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}

/// Managed memory that is copied to and filled: `a` from the host, `b` with zeros; then `c` is read by a copy
/// that the device makes, and by one that the host makes. Prefetches of what is not managed are refused.
int managed_copies(int n) {
  constexpr int kToDevice = 1, kToHost = 2, kInvalidValue = 1;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  std::vector<float> host(static_cast<std::size_t>(n), 3.0f);
  float *arrays[3], *plain = nullptr;
  for (float*& array : arrays)
    if (cudaMallocManaged(reinterpret_cast<void**>(&array), bytes, 1) != 0) return 4;
  auto [a, b, c] = arrays;
  if (cudaMalloc(reinterpret_cast<void**>(&plain), bytes) != 0) return 4;
  bool right = cudaMemPrefetchAsync(host.data(), bytes, {1, 0}, 0, nullptr) == kInvalidValue &&
               cudaMemPrefetchAsync(plain, bytes, {1, 0}, 0, nullptr) == kInvalidValue &&
               cudaMemPrefetchAsync(a, std::size_t{1} << 40, {1, 0}, 0, nullptr) == kInvalidValue;
  right = right && cudaMemcpy(a, host.data(), bytes, kToDevice) == 0 && cudaMemset(b, 0, bytes) == 0;
  void* args[] = {&a, &b, &c, &n};
  right = right && launch(&stub, 40, 256, args) == 0 && cudaDeviceSynchronize() == 0;
  std::vector<float> result(host.size());
  right = right && cudaMemcpy(result.data(), c, bytes, kToHost) == 0 && result == host;
  right = right && cudaMemcpy(plain, c, bytes, kToDevice) == 0;
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}

/// Copies of kind cudaMemcpyDefault: `a` prefers the host, which writes it; `b` the device writes.
int managed_default(int n) {
  constexpr int kDefault = 4, kSetPreferredLocation = 3, kHostLocation = 2;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  std::vector<float> host(static_cast<std::size_t>(n), 3.0f);
  float* arrays[3];
  for (float*& array : arrays)
    if (cudaMallocManaged(reinterpret_cast<void**>(&array), bytes, 1) != 0) return 4;
  auto [a, b, c] = arrays;
  bool right = cudaMemAdvise(a, bytes, kSetPreferredLocation, {kHostLocation, 0}) == 0;
  for (float* array : {a, b}) right = right && cudaMemcpy(array, host.data(), bytes, kDefault) == 0;
  void* args[] = {&a, &b, &c, &n};
  right = right && launch(&stub, 40, 256, args) == 0 && cudaDeviceSynchronize() == 0;
  right = right && c[n - 1] == 6.0f;
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &stub, "_Z3addPKfS0_Pfi");
  __cudaRegisterFatBinaryEnd(handle);

  const std::string fault = argc > 2 ? argv[2] : "";
  int n = 10000;
  if (fault == "managed") return managed(n);
  if (fault == "managed-copies") return managed_copies(n);
  if (fault == "managed-default") return managed_default(n);
  std::vector<float> host(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  const std::size_t bytes = host.size() * sizeof(float);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  for (void** pointer : {&a, &b, &c})
    if (cudaMalloc(pointer, bytes) != 0) return 4;
  cudaMemcpy(a, host.data(), bytes, 1);
  cudaMemcpy(b, host.data(), bytes, 1);
  if (fault == "null") a = nullptr;
  if (fault == "unsupported") std::printf("%d\n", cudaGraphicsMapResources());
  void* args[] = {&a, &b, &c, &n};
  const int launched = launch(&stub, fault == "geometry" ? 0 : 40, 256, args);
  const int ended = cudaDeviceSynchronize();
  if (fault == "crash") std::abort();
  if (fault == "fork") {  // a copy of this process ends first, as a program does
    const pid_t copy = fork();
    if (copy == 0) std::exit(0);
    waitpid(copy, nullptr, 0);
  }
  if (launched != 0 || ended != 0) {
    std::printf("%s\n", cudaGetErrorName(launched != 0 ? launched : ended));
    return 5;
  }
  cudaMemcpy(host.data(), c, bytes, 2);
  bool right = true;
  for (int i = 0; i < n; ++i)
    right = right && host[static_cast<std::size_t>(i)] == 2.0f * static_cast<float>(i);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
