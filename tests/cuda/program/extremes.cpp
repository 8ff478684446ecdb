// Copies and fills whose sizes, pitches or products of them do not fit 64 bits, or end behind the memory:
// each is refused with the documented error, and no byte has changed. Prints PASS, or which check failed.
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "driver_types.hpp"
#include "runtime_types.hpp"

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaMalloc3DArray(void**, const Format*, Extent, unsigned);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaMemcpyToArray(void*, std::size_t, std::size_t, const void*, std::size_t, int);
int cudaMemcpyFromArray(void*, void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int, void*);
int cudaMemcpy2DToArray(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                        int);
int cudaMemcpy2DFromArray(void*, std::size_t, void*, std::size_t, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy3D(const Copy3D*);
int cudaMemcpy3DAsync(const Copy3D*, void*);
int cudaMemset(void*, int, std::size_t);
int cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
int cudaMemset2DAsync(void*, std::size_t, int, std::size_t, std::size_t, void*);
int cudaMemset3D(Pitched, int, Extent);
int cudaMemset3DAsync(Pitched, int, Extent, void*);
int cudaStreamSynchronize(void*);
int cuMemcpy2D_v2(const DriverCopy2D*);
int cuMemcpy2DAsync_v2(const DriverCopy2D*, void*);
int cuMemcpy2DUnaligned_v2(const DriverCopy2D*);
int cuMemcpy3D_v2(const DriverCopy*);
int cuMemcpy3DAsync_v2(const DriverCopy*, void*);
int cuMemsetD8_v2(Word, unsigned char, std::size_t);
int cuMemsetD16_v2(Word, unsigned short, std::size_t);
int cuMemsetD16Async(Word, unsigned short, std::size_t, void*);
int cuMemsetD32_v2(Word, unsigned, std::size_t);
int cuMemsetD32Async(Word, unsigned, std::size_t, void*);
int cuMemsetD2D8_v2(Word, std::size_t, unsigned char, std::size_t, std::size_t);
int cuMemsetD2D8Async(Word, std::size_t, unsigned char, std::size_t, std::size_t, void*);
int cuMemsetD2D16_v2(Word, std::size_t, unsigned short, std::size_t, std::size_t);
int cuMemsetD2D32_v2(Word, std::size_t, unsigned, std::size_t, std::size_t);
int cuMemsetD2D32Async(Word, std::size_t, unsigned, std::size_t, std::size_t, void*);
}

namespace {

constexpr int kInvalidValue = 1, kInvalidPitch = 12, kToHost = 2, kWithin = 3;
/// kFar: behind the pages that have memory.
constexpr std::size_t kFar = 1 << 28;
constexpr std::size_t kBytes = 1 << 16, kRow = 256, kHalf = std::size_t{1} << 32, kTop = std::size_t{1} << 63;

std::vector<unsigned char> host(kBytes, 0x11);
char *memory = nullptr, *other = nullptr;
void* array = nullptr;

bool unchanged() {
  std::vector<unsigned char> found(kBytes);
  for (const char* place : {memory, other}) {
    if (cudaMemcpy(found.data(), place, kBytes, kToHost) != 0) return false;
    for (const unsigned char byte : found)
      if (byte != 0x33) return false;
  }
  for (const unsigned char byte : host)
    if (byte != 0x11) return false;
  return true;
}

void refused(const char* what, const std::function<int()>& call) {
  const int result = call();
  if (result != kInvalidValue && result != kInvalidPitch) std::printf("result %d\n", result);
  check(result == kInvalidValue || result == kInvalidPitch, what);
  check(unchanged(), what);
}

void lines() {
  refused("behind the target", [] { return cudaMemcpy(memory, other, kFar, kWithin); });
  refused("behind the source", [] { return cudaMemcpy(other, memory, kFar, kWithin); });
  refused("to the last address",
          [] { return cudaMemcpyAsync(memory, other, ~std::size_t{0}, kWithin, nullptr); });
  refused("half of all addresses", [] { return cudaMemcpy(memory, other, kTop, kWithin); });
  refused("a fill behind", [] { return cudaMemset(memory, 0, kFar); });
  refused("a fill of all addresses", [] { return cudaMemset(memory, 0, ~std::size_t{0}); });
  const auto word = reinterpret_cast<Word>(memory);
  for (const std::size_t n : {kFar, kTop, ~std::size_t{0}})
    refused("bytes", [&] { return cuMemsetD8_v2(word, 1, n); });
  for (const std::size_t n : {kFar / 2, kTop / 2, kTop, kTop + 1}) {
    refused("words of two bytes", [&] { return cuMemsetD16_v2(word, 1, n); });
    refused("likewise in a stream", [&] { return cuMemsetD16Async(word, 1, n, nullptr); });
  }
  for (const std::size_t n : {kFar / 4, kTop / 2, kTop / 2 + 1, kTop}) {
    refused("words of four bytes", [&] { return cuMemsetD32_v2(word, 1, n); });
    refused("likewise in a stream", [&] { return cuMemsetD32Async(word, 1, n, nullptr); });
  }
  refused("words that are not aligned", [&] { return cuMemsetD16_v2(word + 1, 1, 4); });
  refused("words that are not aligned", [&] { return cuMemsetD32_v2(word + 2, 1, 4); });
}

/// Each pitch with rows so that the last one begins where it would if sums wrapped around.
void rectangles() {
  const struct {
    std::size_t pitch, width, height;
  } cases[] = {{kRow, 64, kFar / kRow}, {kRow, 64, kTop},       {kTop, 64, 2},      {kTop, 64, 3},
               {kTop / 2, 64, 5},       {kHalf, 64, kHalf + 1}, {kHalf, 64, kHalf}, {~std::size_t{0}, 64, 2},
               {kHalf, kHalf, kHalf},   {kTop, kTop, 2},        {kRow, kRow + 1, 2}};
  const auto word = reinterpret_cast<Word>(memory);
  for (const auto [pitch, width, height] : cases) {
    const auto p = pitch, w = width, h = height;
    refused("a target's pitch", [&] { return cudaMemcpy2D(memory, p, other, kRow, w, h, kWithin); });
    refused("a source's pitch", [&] { return cudaMemcpy2D(memory, kRow, other, p, w, h, kWithin); });
    refused("both", [&] { return cudaMemcpy2D(memory, p, other, p, w, h, kWithin); });
    refused("in a stream", [&] { return cudaMemcpy2DAsync(memory, p, other, p, w, h, kWithin, nullptr); });
    refused("a fill's pitch", [&] { return cudaMemset2D(memory, p, 0, w, h); });
    refused("in a stream", [&] { return cudaMemset2DAsync(memory, p, 0, w, h, nullptr); });
    refused("bytes", [&] { return cuMemsetD2D8_v2(word, p, 0, w, h); });
    refused("bytes in a stream", [&] { return cuMemsetD2D8Async(word, p, 0, w, h, nullptr); });
    refused("words of two", [&] { return cuMemsetD2D16_v2(word, p, 0, (w + 1) / 2, h); });
    refused("words of four", [&] { return cuMemsetD2D32_v2(word, p, 0, (w + 3) / 4, h); });
    refused("in a stream", [&] { return cuMemsetD2D32Async(word, p, 0, (w + 3) / 4, h, nullptr); });
    DriverCopy2D copy{{}, {}, w, h};
    copy.from.type = copy.to.type = 2;
    copy.from.device = reinterpret_cast<Word>(other), copy.to.device = word;
    copy.from.pitch = copy.to.pitch = p;
    refused("of the driver", [&] { return cuMemcpy2D_v2(&copy); });
    refused("of the driver, not aligned", [&] { return cuMemcpy2DUnaligned_v2(&copy); });
    refused("of the driver in a stream", [&] { return cuMemcpy2DAsync_v2(&copy, nullptr); });
  }
  for (const std::size_t size : {kTop, kHalf})
    refused("rows of an array", [&] {
      return cudaMemcpy2DToArray(array, 0, 0, other, kHalf * 2, size, kTop / size * 2, kWithin);
    });
  refused("rows behind an array's",
          [] { return cudaMemcpy2DFromArray(memory, kRow, array, 0, 3, 64, 6, kWithin); });
  refused("a run behind an array", [] { return cudaMemcpyToArray(array, 4, 7, other, 640, kWithin); });
  refused("a run from the last row on",
          [] { return cudaMemcpyFromArray(memory, array, 0, 7, ~std::size_t{0}, kWithin); });
}

void boxes() {
  const Extent sizes[] = {{64, 16, kFar / kRow}, {kHalf, kHalf, 1}, {kHalf, 1, kHalf},
                          {64, kHalf, kHalf},    {64, 1, kTop},     {64, kTop, 2},
                          {kTop, 2, 1},          {kTop, 1, 2},      {64, kHalf, kHalf / 4}};
  for (const Extent& size : sizes)
    for (const std::size_t pitch : {kRow, kHalf, kTop}) {
      Copy3D copy{};
      copy.from = {other, pitch, pitch, 16}, copy.to = {memory, pitch, pitch, 16};
      copy.extent = size, copy.kind = kWithin;
      refused("a box", [&] { return cudaMemcpy3D(&copy); });
      refused("a box in a stream", [&] { return cudaMemcpy3DAsync(&copy, nullptr); });
      refused("a box that is filled", [&] { return cudaMemset3D(copy.to, 0, size); });
      refused("a fill in a stream", [&] { return cudaMemset3DAsync(copy.to, 0, size, nullptr); });
      DriverCopy driver;
      driver.from.type = driver.to.type = 2;
      driver.from.device = reinterpret_cast<Word>(other), driver.to.device = reinterpret_cast<Word>(memory);
      driver.from.pitch = driver.to.pitch = pitch, driver.from.height = driver.to.height = 16;
      driver.width = size.width, driver.height = size.height, driver.depth = size.depth;
      refused("a box of the driver", [&] { return cuMemcpy3D_v2(&driver); });
      refused("of the driver in a stream", [&] { return cuMemcpy3DAsync_v2(&driver, nullptr); });
    }
  for (const Extent& size : {Extent{17, 8, 2}, {16, 9, 2}, {16, 8, 3}, {kTop, 2, 1}, {kHalf, kHalf, 1}}) {
    Copy3D copy{};
    copy.from_array = array, copy.to = {memory, kRow, kRow, 16}, copy.extent = size, copy.kind = kWithin;
    refused("a box outside an array", [&] { return cudaMemcpy3D(&copy); });
  }
}

void nothing() {
  check(cudaMemcpy2D(memory, kTop, other, kTop, 0, kTop, kWithin) == 0, "no width");
  check(cudaMemcpy2D(memory, kTop, other, kTop, 64, 0, kWithin) == 0, "no row");
  check(cudaMemset3D({memory, kRow, kRow, 16}, 0, {kTop, 0, kTop}) == 0, "a box without rows");
  Copy3D copy{};
  copy.from = {other, kRow, kRow, 16}, copy.to = {memory, kRow, kRow, 16};
  copy.extent = {64, kTop, 0}, copy.kind = kWithin;
  check(cudaMemcpy3D(&copy) == 0 && unchanged(), "a box without slices");
  check(cudaMemcpy2D(memory, kRow, memory, kRow, kRow, kBytes / kRow, kWithin) == 0 && unchanged(),
        "all of it");
}

}  // namespace

int main() {
  const Format word{32, 0, 0, 0, 2};
  void *first = nullptr, *second = nullptr;
  check(cudaMalloc(&first, kBytes) == 0 && cudaMalloc(&second, kBytes) == 0 &&
            cudaMalloc3DArray(&array, &word, {16, 8, 2}, 0) == 0,
        "memory");
  memory = static_cast<char*>(first), other = static_cast<char*>(second);
  check(cudaMemset(memory, 0x33, kBytes) == 0 && cudaMemset(other, 0x33, kBytes) == 0, "contents");
  lines();
  rectangles();
  boxes();
  nothing();
  check(cudaStreamSynchronize(nullptr) == 0 && unchanged(), "in the end");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
