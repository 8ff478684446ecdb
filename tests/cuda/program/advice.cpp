// Advice, prefetches and discards of managed memory, one by one and in batches, against what the host keeps
// of each page; errors as cuda_runtime_api.h (CUDA 13.0) documents them. Prints PASS, or which check failed.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "driver_types.hpp"
#include "registration.hpp"

extern "C" {
int cudaFree(void*);
int cudaGetDevice(int*);
int cudaPeekAtLastError();
int cudaMemPrefetchBatchAsync(void**, std::size_t*, std::size_t, const MemLocation*, const std::size_t*,
                              std::size_t, unsigned long long, void*);
int cudaMemDiscardBatchAsync(void**, std::size_t*, std::size_t, unsigned long long, void*);
int cudaMemDiscardAndPrefetchBatchAsync(void**, std::size_t*, std::size_t, const MemLocation*,
                                        const std::size_t*, std::size_t, unsigned long long, void*);
int cudaMemRangeGetAttribute(void*, std::size_t, int, const void*, std::size_t);
int cudaMemRangeGetAttributes(void**, std::size_t*, int*, std::size_t, const void*, std::size_t);
int cudaStreamAttachMemAsync(void*, void*, std::size_t, unsigned);
int cuMemAdvise(Word, std::size_t, int, int);
int cuMemAdvise_v2(Word, std::size_t, int, MemLocation);
int cuMemPrefetchAsync(Word, std::size_t, int, void*);
int cuMemPrefetchBatchAsync(void**, std::size_t*, std::size_t, const MemLocation*, const std::size_t*,
                            std::size_t, unsigned long long, void*);
int cuMemDiscardBatchAsync(void**, std::size_t*, std::size_t, unsigned long long, void*);
int cuMemDiscardAndPrefetchBatchAsync(void**, std::size_t*, std::size_t, const MemLocation*,
                                      const std::size_t*, std::size_t, unsigned long long, void*);
int cuMemRangeGetAttributes(void**, std::size_t*, int*, std::size_t, Word, std::size_t);
}

namespace {

// The library's functions have structures of their own: calls through pointers go by functions of this file.
using PrefetchCall = int (*)(void**, std::size_t*, std::size_t, const MemLocation*, const std::size_t*,
                             std::size_t, unsigned long long);
using DiscardCall = int (*)(void**, std::size_t*, std::size_t, unsigned long long);
void* stream = nullptr;
constexpr PrefetchCall kPrefetches[] = {
    [](auto... a) { return cudaMemPrefetchBatchAsync(a..., stream); },
    [](auto... a) { return cuMemPrefetchBatchAsync(a..., stream); },
    [](auto... a) { return cudaMemDiscardAndPrefetchBatchAsync(a..., stream); },
    [](auto... a) { return cuMemDiscardAndPrefetchBatchAsync(a..., stream); }};
constexpr DiscardCall kDiscards[] = {[](auto... a) { return cudaMemDiscardBatchAsync(a..., stream); },
                                     [](auto... a) { return cuMemDiscardBatchAsync(a..., stream); }};

constexpr int kInvalidValue = 1, kInvalidDevice = 101, kInvalidHandle = 400;
constexpr std::size_t kPage = 4096, kPages = 48;
constexpr int kHost = -1, kNowhere = -2;
constexpr MemLocation kOnDevice{1, 0}, kOnHost{2, 0};

struct Page {
  bool read_mostly = false;
  int preferred = kNowhere, prefetched = kNowhere;
  std::set<int> accessed_by;
};

std::vector<Page> pages(kPages);
char* memory = nullptr;
std::mt19937 numbers(3);
std::size_t below(std::size_t n) { return numbers() % n; }

struct Range {
  std::size_t first, count;
  [[nodiscard]] void* at() const { return memory + first * kPage; }
  [[nodiscard]] Word word() const { return reinterpret_cast<Word>(at()); }
  [[nodiscard]] std::size_t bytes() const { return count * kPage; }
};
Range random_range() {
  const std::size_t first = below(kPages);
  return {first, 1 + below(kPages - first)};
}

void advise(const Range& r, int advice, bool host) {
  const MemLocation place = host ? kOnHost : kOnDevice;
  const std::size_t how = below(3);
  const int result = how == 0   ? cudaMemAdvise(r.at(), r.bytes(), advice, place)
                     : how == 1 ? cuMemAdvise_v2(r.word(), r.bytes(), advice, place)
                                : cuMemAdvise(r.word(), r.bytes(), advice, host ? -1 : 0);
  check(result == 0, "an advice");
  for (std::size_t i = r.first; i < r.first + r.count; ++i) {
    Page& page = pages[i];
    const int where = host ? kHost : 0;
    if (advice <= 2) page.read_mostly = advice == 1;
    if (advice == 3) page.preferred = where;
    if (advice == 4) page.preferred = kNowhere;
    if (advice == 5) page.accessed_by.insert(where);
    if (advice == 6) page.accessed_by.erase(where);
  }
}

void fetched(const Range& r, bool host) {
  for (std::size_t i = r.first; i < r.first + r.count; ++i) pages[i].prefetched = host ? kHost : 0;
}

void prefetch_some() {
  std::vector<Range> ranges(1 + below(4));
  std::vector<void*> at;
  std::vector<std::size_t> bytes, begins;
  std::vector<MemLocation> places;
  for (Range& r : ranges) {
    r = random_range();
    if (begins.empty() || below(2)) {
      begins.push_back(at.size());
      places.push_back(below(2) ? kOnHost : kOnDevice);
    }
    fetched(r, places.back().type == kOnHost.type);
    at.push_back(r.at()), bytes.push_back(r.bytes());
  }
  const PrefetchCall call = kPrefetches[below(4)];
  check(call(at.data(), bytes.data(), at.size(), places.data(), begins.data(), places.size(), 0) == 0,
        "a batch of prefetches");
}

/// What all pages of the range have in common.
Page common(const Range& r) {
  Page all = pages[r.first];
  for (std::size_t i = r.first; i < r.first + r.count; ++i) {
    const Page& page = pages[i];
    all.read_mostly = all.read_mostly && page.read_mostly;
    if (page.preferred != all.preferred) all.preferred = kNowhere;
    if (page.prefetched != all.prefetched) all.prefetched = kNowhere;
    std::erase_if(all.accessed_by, [&](int who) { return !page.accessed_by.contains(who); });
  }
  return all;
}

int type_of(int place) { return place == kNowhere ? 0 : place == kHost ? 2 : 1; }

void compare(const Range& r) {
  const Page all = common(r);
  int values[7] = {-9, -9, -9, -9, -9, -9, -9}, by[4] = {-9, -9, -9, -9};
  void* data[] = {&values[0], &values[1], by, &values[3], &values[4], &values[6], &values[5]};
  std::size_t bytes[] = {4, 4, sizeof by, 4, 4, 4, 4};
  int attributes[] = {1, 2, 3, 4, 5, 7, 8};
  check((below(2) ? cudaMemRangeGetAttributes(data, bytes, attributes, 7, r.at(), r.bytes())
                  : cuMemRangeGetAttributes(data, bytes, attributes, 7, r.word(), r.bytes())) == 0,
        "attributes of a range");
  check(values[0] == (all.read_mostly ? 1 : 0), "mostly read");
  check(values[1] == all.preferred && values[4] == type_of(all.preferred), "the preferred place");
  check(values[3] == all.prefetched && values[6] == type_of(all.prefetched), "the last prefetch");
  std::size_t found = 0;
  for (const int who : by) {
    if (who == kNowhere) continue;
    ++found;
    check(all.accessed_by.contains(who), "who accesses");
  }
  check(found == all.accessed_by.size(), "all that access");
  int one = -9;
  check(cudaMemRangeGetAttribute(&one, sizeof one, 1, r.at(), r.bytes()) == 0 && one == values[0],
        "one by one");
}

void random_advice() {
  for (int step = 0; step < 600 && failures == 0; ++step) {
    const Range r = random_range();
    const bool host = below(2) != 0;
    if (below(3) == 0) {
      prefetch_some();
    } else if (below(6) == 0) {
      const int result = below(2)
                             ? cuMemPrefetchAsync(r.word(), r.bytes(), host ? -1 : 0, stream)
                             : cudaMemPrefetchAsync(r.at(), r.bytes(), host ? kOnHost : kOnDevice, 0, stream);
      check(result == 0, "a prefetch");
      fetched(r, host);
    } else {
      advise(r, 1 + static_cast<int>(below(6)), host);
    }
    compare(random_range());
    if (failures != 0) std::printf("step %d\n", step);
  }
}

void wrong_batches() {
  void* at[] = {memory, memory + kPage};
  std::size_t bytes[] = {kPage, kPage}, begins[] = {0, 1}, none[] = {kPage, 0},
              long_one[] = {kPages * kPage, kPages * kPage};
  const MemLocation places[] = {kOnDevice, kOnHost}, far[] = {{1, 64}}, no_place[] = {{9, 0}};
  for (const PrefetchCall call : kPrefetches) {
    check(call(at, bytes, 2, places, begins, 2, 0) == 0, "a batch");
    check(call(at, bytes, 0, places, begins, 1, 0) == kInvalidValue, "of nothing");
    check(call(nullptr, bytes, 2, places, begins, 2, 0) == kInvalidValue &&
              call(at, nullptr, 2, places, begins, 2, 0) == kInvalidValue &&
              call(at, bytes, 2, nullptr, begins, 2, 0) == kInvalidValue &&
              call(at, bytes, 2, places, nullptr, 2, 0) == kInvalidValue,
          "of no arrays");
    check(call(at, bytes, 2, places, begins, 2, 1) == kInvalidValue, "flags that there are not");
    check(call(at, bytes, 2, places, begins + 1, 1, 0) == kInvalidValue, "a first one without place");
    check(call(at, bytes, 1, places, begins, 2, 0) == kInvalidValue, "a place for none");
    check(call(at, none, 2, places, begins, 2, 0) == kInvalidValue, "no bytes");
    check(call(at, long_one, 2, places, begins, 2, 0) == kInvalidValue, "a range behind the memory");
    check(call(at, bytes, 2, far, begins, 1, 0) == kInvalidDevice &&
              call(at, bytes, 2, no_place, begins, 1, 0) == kInvalidDevice,
          "places that there are not");
    check(cudaMemPrefetchBatchAsync(at, bytes, 2, places, begins, 2, 0, &begins) == kInvalidHandle,
          "what is no stream");
  }
  for (const DiscardCall call : kDiscards) {
    check(call(at, bytes, 2, 0) == 0 && call(at, bytes, 2, 1) == kInvalidValue &&
              call(at, bytes, 0, 0) == kInvalidValue && call(at, none, 2, 0) == kInvalidValue &&
              call(nullptr, bytes, 2, 0) == kInvalidValue,
          "discards");
  }
}

void wrong() {
  int value = 0, by[2] = {};
  const auto get = [&](void* data, std::size_t bytes, int attribute, const void* at, std::size_t count) {
    return cudaMemRangeGetAttribute(data, bytes, attribute, at, count);
  };
  for (const int attribute : {0, 9, -1})
    check(get(&value, 4, attribute, memory, kPage) == kInvalidValue, "an attribute that there is not");
  for (const std::size_t bytes : {0u, 3u, 8u})
    check(get(by, bytes, 1, memory, kPage) == kInvalidValue, "a number of another size");
  for (const std::size_t bytes : {0u, 2u, 7u})
    check(get(by, bytes, 3, memory, kPage) == kInvalidValue, "no whole numbers");
  check(get(nullptr, 4, 1, memory, kPage) == kInvalidValue, "nowhere");
  void* device = nullptr;
  check(cudaMalloc(&device, kPage) == 0, "memory of the device");
  for (const void* at :
       {static_cast<const void*>(device), static_cast<const void*>(&value), static_cast<const void*>(nullptr),
        static_cast<const void*>(memory + kPages * kPage)}) {
    check(get(&value, 4, 1, at, 1) == kInvalidValue, "memory that is not managed");
    check(cudaMemAdvise(at, 1, 1, kOnDevice) == kInvalidValue, "advice on it");
    check(cudaMemPrefetchAsync(at, 1, kOnDevice, 0, stream) == kInvalidValue, "a prefetch of it");
  }
  check(cudaMemAdvise(memory, kPage * kPages + 1, 1, kOnDevice) == kInvalidValue &&
            cudaMemAdvise(memory + 1, ~std::size_t{0}, 1, kOnDevice) == kInvalidValue &&
            cudaMemAdvise(memory, 0, 1, kOnDevice) == kInvalidValue,
        "more or less than there is");
  for (const int advice : {0, 7, -1})
    check(cudaMemAdvise(memory, kPage, advice, kOnDevice) == kInvalidValue, "an advice that there is not");
  check(cudaMemAdvise(memory, kPage, 3, {1, 9}) == kInvalidDevice &&
            cuMemAdvise(reinterpret_cast<Word>(memory), kPage, 5, 9) == kInvalidDevice &&
            cudaMemAdvise(memory, kPage, 1, {1, 9}) == 0,
        "a device that there is not, where it matters");
  check(cudaMemPrefetchAsync(memory, kPage, kOnDevice, 1, stream) == kInvalidValue, "flags of a prefetch");
  check(cudaPeekAtLastError() == kInvalidValue && cudaGetLastError() == kInvalidValue &&
            cudaPeekAtLastError() == 0,
        "the last error is kept until it is asked for");
  for (const unsigned flags : {1u, 2u, 4u})
    check(cudaStreamAttachMemAsync(stream, memory, 0, flags) == 0, "attached");
  check(cudaStreamAttachMemAsync(stream, memory, 0, 3) == kInvalidValue &&
            cudaStreamAttachMemAsync(stream, device, 0, 4) == kInvalidValue &&
            cudaStreamAttachMemAsync(&value, memory, 0, 4) == kInvalidHandle,
        "what cannot be attached");
}

/// Memory that takes the place of freed memory has no advice.
void freed() {
  for (int round = 0; round < 4; ++round) {
    void* again = nullptr;
    check(cudaFree(memory) == 0 && cudaMallocManaged(&again, kPages * kPage, 1) == 0, "freed and made anew");
    memory = static_cast<char*>(again);
    pages.assign(kPages, {});
    compare({0, kPages});
    advise({3, 9}, 1, false);
    advise({0, kPages}, 3, true);
    compare({3, 9});
    compare({2, 9});
  }
}

}  // namespace

int main() {
  void* made = nullptr;
  check(cudaMallocManaged(&made, kPages * kPage, 1) == 0 && cudaStreamCreate(&stream) == 0, "begin");
  memory = static_cast<char*>(made);
  compare({0, kPages});
  random_advice();
  freed();
  wrong();
  wrong_batches();
  check(cudaStreamSynchronize(stream) == 0, "the stream");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
