// malloc() and free() of kernels: limits, and what is owned, against a map of live blocks.
#include "exec/device_heap.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace lockstep::exec {
namespace {

constexpr std::uint64_t kHeapMiB = 1 << 20;

TEST_CASE("device heap: random blocks never overlap, and as much is given as the limit says") {
  DeviceMemory memory(64 * kHeapMiB);
  constexpr std::uint64_t kLimit = kHeapMiB;
  DeviceHeap heap(memory, kLimit);
  std::map<Address, std::uint64_t> live;
  std::uint64_t used = 0;
  unsigned refused = 0;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 && !live.empty()) {
      const auto block = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      REQUIRE(heap.owns(block->first));
      REQUIRE_FALSE(heap.owns(block->first + 1));
      REQUIRE(heap.release(block->first));
      REQUIRE_FALSE(heap.owns(block->first));
      REQUIRE_FALSE(heap.release(block->first));  // twice
      used -= block->second;
      live.erase(block);
      continue;
    }
    const std::uint64_t bytes = 1 + random() % (random() % 8 == 0 ? 300'000 : 3'000);
    const Address at = heap.allocate(bytes);
    REQUIRE((at != 0) == (used + bytes <= kLimit));
    if (at == 0) {
      ++refused;
      continue;
    }
    REQUIRE(at % 16 == 0);  // as malloc() of the programming guide
    const auto after = live.lower_bound(at);
    REQUIRE((after == live.end() || at + bytes <= after->first));
    REQUIRE((after == live.begin() || std::prev(after)->first + std::prev(after)->second <= at));
    live[at] = bytes;
    used += bytes;
  }
  CHECK(refused > 100);
}

TEST_CASE("device heap: the whole limit can be had, and a byte more cannot") {
  DeviceMemory memory(64 * kHeapMiB);
  DeviceHeap heap(memory, 1000);
  const Address all = heap.allocate(1000);
  CHECK(all != 0);
  CHECK(heap.allocate(1) == 0);
  CHECK(heap.release(all));
  CHECK(heap.allocate(1001) == 0);
  CHECK(heap.allocate(~std::uint64_t{0}) == 0);
  CHECK(heap.allocate(999) != 0);
}

TEST_CASE("device heap: freeing nothing is allowed, freeing what is another's is not") {
  DeviceMemory memory(64 * kHeapMiB);
  DeviceHeap heap(memory, kHeapMiB), other(memory, kHeapMiB);
  const Address mine = heap.allocate(64), others = other.allocate(64);
  const auto program = memory.allocate(64);
  CHECK(heap.release(0));
  CHECK_FALSE(heap.release(mine + 1));
  CHECK_FALSE(heap.release(others));
  CHECK_FALSE(heap.release(*program));
  CHECK(memory.find(*program).has_value());
  CHECK(heap.release(mine));
}

TEST_CASE("device heap: without memory nothing is given, whatever the limit, and its end gives all back") {
  DeviceMemory memory(4 * kHeapMiB);
  std::vector<Address> blocks;
  {
    DeviceHeap heap(memory, 100 * kHeapMiB);
    for (Address at = heap.allocate(kHeapMiB); at != 0; at = heap.allocate(kHeapMiB)) blocks.push_back(at);
    CHECK(blocks.size() == 4);
    CHECK(heap.release(blocks[1]));
    CHECK(heap.allocate(kHeapMiB) == blocks[1]);  // first fit
    CHECK_FALSE(memory.allocate(kHeapMiB).has_value());
  }
  for (const Address at : blocks) CHECK_FALSE(memory.find(at).has_value());
  CHECK(memory.allocate(4 * kHeapMiB).has_value());
}

}  // namespace
}  // namespace lockstep::exec
