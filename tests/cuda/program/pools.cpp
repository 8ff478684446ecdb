// A program of memory pools, streams, pointers and copies in batches by the driver and the runtime API,
// without a CUDA compiler. What is expected is what CUDA's documentation says. Prints PASS, or which check
// failed.
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {
struct Location {
  int type, id;
};
struct Properties {
  int kind, handles;
  Location location;
  void* security = nullptr;
  std::size_t most = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};
struct Access {
  Location location;
  int flags;
};
using Pointer = unsigned long long;
constexpr int kPinned = 1, kManaged = 2, kOnDevice = 1, kOnHost = 2;
constexpr int kInvalidValue = 1, kOutOfMemory = 2;
}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxCreate_v2(void**, unsigned, int);
int cuCtxPopCurrent_v2(void**);
int cuCtxSetCurrent(void*);
int cuStreamCreate(void**, unsigned);
int cuStreamGetCtx(void*, void**);
int cuStreamGetCtx_v2(void*, void**, void**);
int cuStreamGetDevice(void*, int*);
int cuStreamGetId(void*, unsigned long long*);
int cuStreamIsCapturing(void*, int*);
int cuStreamSynchronize(void*);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuDeviceGetDefaultMemPool(void**, int);
int cuDeviceGetMemPool(void**, int);
int cuDeviceSetMemPool(int, void*);
int cuMemGetDefaultMemPool(void**, const Location*, int);
int cuMemGetMemPool(void**, const Location*, int);
int cuMemSetMemPool(const Location*, int, void*);
int cuMemPoolCreate(void**, const Properties*);
int cuMemPoolDestroy(void*);
int cuMemPoolSetAttribute(void*, int, void*);
int cuMemPoolGetAttribute(void*, int, void*);
int cuMemPoolSetAccess(void*, const Access*, std::size_t);
int cuMemPoolGetAccess(int*, void*, const Location*);
int cuMemPoolTrimTo(void*, std::size_t);
int cuMemAllocFromPoolAsync(Pointer*, std::size_t, void*, void*);
int cuMemAllocAsync(Pointer*, std::size_t, void*);
int cuMemFreeAsync(Pointer, void*);
int cuMemFree_v2(Pointer);
int cuMemcpyBatchAsync_v2(Pointer*, Pointer*, std::size_t*, std::size_t, const void*, std::size_t*,
                          std::size_t, void*);
int cuPointerGetAttribute(void*, int, Pointer);
int cuPointerGetAttributes(unsigned, const int*, void**, Pointer);
int cudaDeviceReset();
int cudaMemGetDefaultMemPool(void**, const Location*, int);
}

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAIL: %s\n", what);
  ++failures;
}

std::uint64_t attribute(void* pool, int which) {
  std::uint64_t value = 0;
  check(cuMemPoolGetAttribute(pool, which, &value) == 0, "attribute");
  return value;
}
void* pool_of(Pointer pointer) {
  void* pool = nullptr;
  check(cuPointerGetAttribute(&pool, 17, pointer) == 0, "pool of a pointer");
  return pool;
}

void places() {
  void *by_device = nullptr, *by_place = nullptr, *host = nullptr, *runtime = nullptr;
  const Location device{kOnDevice, 0}, none{0, 0}, other{kOnDevice, 1}, cpu{kOnHost, 0};
  check(cuDeviceGetDefaultMemPool(&by_device, 0) == 0, "default pool");
  check(cuMemGetDefaultMemPool(&by_place, &device, kPinned) == 0 && by_place == by_device, "by its place");
  check(cudaMemGetDefaultMemPool(&runtime, &device, kPinned) == 0 && runtime == by_device, "of the runtime");
  check(cuMemGetDefaultMemPool(&host, &cpu, kPinned) == 0 && host != by_device, "of the host");
  check(cuMemGetDefaultMemPool(&by_place, &none, kManaged) == 0, "managed, anywhere");
  check(cuMemGetDefaultMemPool(&by_place, &none, kPinned) == kInvalidValue, "pinned, anywhere");
  check(cuMemGetDefaultMemPool(&by_place, &other, kPinned) == 101, "a device that there is not");
  check(cuMemPoolDestroy(by_device) == kInvalidValue, "a default pool cannot be destroyed");
  int reuse = 0;
  check(cuMemPoolGetAttribute(by_device, 1, &reuse) == 0 && reuse == 1, "reuse is enabled");
  check(attribute(by_device, 4) == 0, "release threshold");
  check(cuMemPoolGetAttribute(by_device, 99, &reuse) == kInvalidValue, "an attribute that there is not");
}

void current_pools() {
  void *mine = nullptr, *standard = nullptr, *now = nullptr;
  const Location device{kOnDevice, 0}, cpu{kOnHost, 0};
  const Properties properties{kPinned, 0, device};
  check(cuMemPoolCreate(&mine, &properties) == 0 && cuDeviceGetDefaultMemPool(&standard, 0) == 0, "pools");
  check(cuDeviceSetMemPool(0, mine) == 0, "set");
  check(cuDeviceGetMemPool(&now, 0) == 0 && now == mine, "current");
  check(cuMemGetMemPool(&now, &device, kPinned) == 0 && now == mine, "current by its place");
  check(cuMemSetMemPool(&cpu, kPinned, mine) == kInvalidValue, "a pool of another place");
  Pointer pointer = 0;
  check(cuMemAllocAsync(&pointer, 1000, nullptr) == 0 && pool_of(pointer) == mine, "from the current pool");
  check(cuMemPoolDestroy(mine) == 0, "destroyed while in use");
  check(cuDeviceGetMemPool(&now, 0) == 0 && now == standard, "the default pool again");
  check(cuMemPoolTrimTo(mine, 0) == kInvalidValue, "a pool that is no more");
  check(cuMemFreeAsync(pointer, nullptr) == 0, "its memory is still there");
}

void accounts() {
  void* pool = nullptr;
  Properties properties{kPinned, 0, {kOnDevice, 0}};
  properties.most = 1 << 20;
  check(cuMemPoolCreate(&pool, &properties) == 0, "limited pool");
  std::uint64_t keep = ~std::uint64_t{0}, zero = 0;
  check(cuMemPoolSetAttribute(pool, 4, &keep) == 0 && attribute(pool, 4) == keep, "threshold");
  Pointer first = 0, second = 0, third = 0;
  check(cuMemAllocFromPoolAsync(&first, 600 << 10, pool, nullptr) == 0, "first");
  check(cuMemAllocFromPoolAsync(&second, 100 << 10, pool, nullptr) == 0, "second");
  check(cuMemAllocFromPoolAsync(&third, 400 << 10, pool, nullptr) == kOutOfMemory,
        "no more than the pool has");
  check(attribute(pool, 7) == 700 << 10 && attribute(pool, 8) == 700 << 10, "in use");
  check(cuMemFreeAsync(first, nullptr) == 0 && cuStreamSynchronize(nullptr) == 0, "free");
  check(attribute(pool, 7) == 100 << 10 && attribute(pool, 8) == 700 << 10, "less in use");
  check(attribute(pool, 5) == 700 << 10 && attribute(pool, 6) == 700 << 10, "kept, by the threshold");
  check(cuMemPoolTrimTo(pool, 200 << 10) == 0 && attribute(pool, 5) == 200 << 10, "trimmed");
  check(cuMemPoolSetAttribute(pool, 8, &zero) == 0 && attribute(pool, 8) == 100 << 10, "watermark reset");
  check(cuMemPoolSetAttribute(pool, 8, &keep) == kInvalidValue, "it can only be reset");
  check(cuMemPoolSetAttribute(pool, 7, &zero) == kInvalidValue, "what cannot be set");
  check(cuMemFree_v2(second) == 0 && attribute(pool, 7) == 0, "freed without a stream");
  check(cuMemPoolDestroy(pool) == 0, "end");
}

void access() {
  void* pool = nullptr;
  const Location device{kOnDevice, 0}, cpu{kOnHost, 0};
  const Properties properties{kPinned, 0, cpu};
  int flags = -1;
  check(cuMemPoolCreate(&pool, &properties) == 0, "pool of the host");
  check(cuMemPoolGetAccess(&flags, pool, &device) == 0 && flags == 0, "the host's alone");
  check(cuMemPoolGetAccess(&flags, pool, &cpu) == 0 && flags == 3, "the host");
  const Access both{device, 3}, nobody{{kOnDevice, 7}, 3};
  check(cuMemPoolSetAccess(pool, &both, 1) == 0, "set access");
  check(cuMemPoolGetAccess(&flags, pool, &device) == 0 && flags == 3, "the device as well");
  check(cuMemPoolSetAccess(pool, &nobody, 1) == 101, "access of a device that there is not");
  Pointer words = 0;
  check(cuMemAllocFromPoolAsync(&words, 64, pool, nullptr) == 0, "memory of the host");
  std::memset(reinterpret_cast<void*>(words), 7, 64);
  unsigned kind = 0;
  check(cuPointerGetAttribute(&kind, 2, words) == 0 && kind == 1, "is memory of the host");
  check(cuMemFreeAsync(words, nullptr) == 0 && cuMemPoolDestroy(pool) == 0, "end of the host's");
}

void pointers() {
  Pointer block = 0;
  check(cuMemAllocAsync(&block, 4096, nullptr) == 0, "block");
  const int which[] = {2, 8, 11, 12, 9};
  unsigned kind = 9, managed = 9;
  Pointer begin = 0;
  std::size_t bytes = 0;
  int device = 9;
  void* answers[] = {&kind, &managed, &begin, &bytes, &device};
  check(cuPointerGetAttributes(5, which, answers, block + 100) == 0, "attributes");
  check(kind == 2 && managed == 0 && begin == block && bytes == 4096 && device == 0, "their values");
  Pointer host = 1;
  check(cuPointerGetAttribute(&host, 4, block) == kInvalidValue, "no address on the host");
  int here = 0;
  const auto foreign = reinterpret_cast<Pointer>(&here);
  check(cuPointerGetAttribute(&kind, 2, foreign) == kInvalidValue, "not CUDA's");
  check(cuPointerGetAttributes(5, which, answers, foreign) == 0 && kind == 0 && bytes == 0, "null values");
  unsigned mapped = 9;
  check(cuPointerGetAttribute(&mapped, 13, foreign) == 0 && mapped == 0, "not mapped");
  check(cuMemFreeAsync(block, nullptr) == 0, "end of the block");
}

void streams() {
  void *primary = nullptr, *context = nullptr, *of = nullptr, *green = &of, *stream = nullptr,
       *other = nullptr;
  check(cuDevicePrimaryCtxRetain(&primary, 0) == 0 && cuCtxSetCurrent(primary) == 0, "primary context");
  check(cuStreamCreate(&stream, 1) == 0, "stream");
  check(cuCtxCreate_v2(&context, 0, 0) == 0 && cuStreamCreate(&other, 1) == 0, "stream of another context");
  check(cuStreamGetCtx(stream, &of) == 0 && of == primary, "context");
  check(cuStreamGetCtx_v2(other, &of, &green) == 0 && of == context && green == nullptr, "other context");
  check(cuStreamGetCtx(nullptr, &of) == 0 && of == context, "context of the default stream");
  check(cuCtxPopCurrent_v2(nullptr) == 0, "pop");
  int device = -1, capturing = -1;
  unsigned long long ids[2] = {};
  check(cuStreamGetDevice(stream, &device) == 0 && device == 0, "device");
  check(cuStreamIsCapturing(stream, &capturing) == 0 && capturing == 0, "not captured");
  check(cuStreamGetId(stream, &ids[0]) == 0 && cuStreamGetId(other, &ids[1]) == 0 && ids[0] != ids[1], "ids");
  void *old = nullptr, *now = nullptr;
  check(cuGetProcAddress_v2("cuStreamGetCtx", &old, 12040, 0, nullptr) == 0 &&
            old == reinterpret_cast<void*>(&cuStreamGetCtx),
        "a function as it was in CUDA 12.4");
  check(cuGetProcAddress_v2("cuStreamGetCtx", &now, 12050, 0, nullptr) == 0 &&
            now == reinterpret_cast<void*>(&cuStreamGetCtx_v2),
        "and in 12.5");
  char from[] = "batch", to[sizeof from] = {};
  Pointer sources[] = {reinterpret_cast<Pointer>(from), reinterpret_cast<Pointer>(from + 3)};
  Pointer targets[] = {reinterpret_cast<Pointer>(to), reinterpret_cast<Pointer>(to + 3)};
  std::size_t bytes[] = {3, 3}, begin = 0;
  const int attributes[8] = {1};
  check(cuMemcpyBatchAsync_v2(targets, sources, bytes, 2, attributes, &begin, 1, stream) == 0, "batch");
  check(cuStreamSynchronize(stream) == 0 && std::strcmp(to, "batch") == 0, "what was copied");
  check(cuMemcpyBatchAsync_v2(targets, sources, bytes, 2, attributes, &begin, 1, nullptr) == kInvalidValue,
        "a batch in the default stream");
}

}  // namespace

int main() {
  check(cuInit(0) == 0, "start");
  places();
  current_pools();
  accounts();
  access();
  pointers();
  streams();
  void* pool = nullptr;
  Pointer left = 0;
  check(cuDeviceGetDefaultMemPool(&pool, 0) == 0 && cuMemAllocAsync(&left, 64, nullptr) == 0, "left behind");
  check(cudaDeviceReset() == 0 && cuDeviceGetDefaultMemPool(&pool, 0) == 0, "reset");
  check(attribute(pool, 7) == 0, "nothing in use after it");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
