// What nvcc makes of a program with one kernel, written by hand so that no CUDA compiler is needed: it
// registers the PTX of examples/vector_add.cu (argv[1]), launches it and checks the result. argv[2]: what to
// do wrong.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
int __cudaRegisterFatBinaryEnd(void** handle);
int __cudaRegisterFunction(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
int __cudaPushCallConfiguration(Dim3, Dim3, std::size_t, void*);
int __cudaPopCallConfiguration(Dim3*, Dim3*, std::size_t*, void*);
int __cudaGetKernel(void** kernel, const void* host);
int __cudaLaunchKernel(void* kernel, Dim3, Dim3, void** args, std::size_t, void*);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMallocManaged(void**, std::size_t, unsigned);
struct MemLocation {
  int type, id;  // 1: a device
};
int cudaMemPrefetchAsync(const void*, std::size_t, MemLocation, unsigned, void*);
int cudaMemAdvise(const void*, std::size_t, int, MemLocation);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaDeviceSynchronize();
int cudaGetLastError();
const char* cudaGetErrorName(int);
int cudaGraphDebugDotPrint();  // one that is not there
}

namespace {

std::vector<char> fatbin_of(const std::string& ptx) {
  const std::size_t payload = (ptx.size() + 8) / 8 * 8;
  std::vector<char> bytes(16 + 64 + payload);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  put(0, std::uint32_t{0xBA55ED50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{64 + payload});
  put(16, std::uint16_t{1});
  put(18, std::uint16_t{0x0101});
  put(20, std::uint32_t{64});
  put(24, std::uint64_t{payload});
  put(16 + 0x1c, std::uint32_t{75});
  std::memcpy(bytes.data() + 80, ptx.data(), ptx.size());
  return bytes;
}

void stub() {}  // stands for the kernel on the host

int launch(void** args, unsigned ctas) {
  __cudaPushCallConfiguration({ctas}, {256}, 0, nullptr);
  Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
  __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
  void* kernel = nullptr;
  if (const int error = __cudaGetKernel(&kernel, reinterpret_cast<const void*>(&stub))) return error;
  return __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

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
  bool right = launch(args, 40) == 0 && cudaDeviceSynchronize() == 0;
  for (int i = 0; i < n; ++i) right = right && c[i] == 2.0f * static_cast<float>(i);
  a[0] = 5;
  std::FILE* zeros = std::fopen("/dev/zero", "r");
  right = right && zeros != nullptr && std::fread(b, 1, bytes, zeros) == bytes;
  right = right && launch(args, 40) == 0 && cudaDeviceSynchronize() == 0;
  for (int i = 0; i < n; ++i) right = right && c[i] == (i == 0 ? 5.0f : static_cast<float>(i));
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  std::ifstream file(argv[1]);
  const std::string ptx((std::istreambuf_iterator<char>(file)), {});
  const std::vector<char> fatbin = fatbin_of(ptx);
  struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* data;
    const void* prelinked = nullptr;
  } wrapper{.data = fatbin.data()};
  void** handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, reinterpret_cast<const void*>(&stub), nullptr, "_Z3addPKfS0_Pfi", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);

  const std::string fault = argc > 2 ? argv[2] : "";
  int n = 10000;
  if (fault == "managed") return managed(n);
  std::vector<float> host(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  const std::size_t bytes = host.size() * sizeof(float);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  for (void** pointer : {&a, &b, &c})
    if (cudaMalloc(pointer, bytes) != 0) return 4;
  cudaMemcpy(a, host.data(), bytes, 1);
  cudaMemcpy(b, host.data(), bytes, 1);
  if (fault == "null") a = nullptr;
  if (fault == "unsupported") std::printf("%d\n", cudaGraphDebugDotPrint());
  void* args[] = {&a, &b, &c, &n};
  const int launched = launch(args, fault == "geometry" ? 0 : 40);
  const int ended = cudaDeviceSynchronize();
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
