// The device's memory against the rules of its header and a second, simple allocator.
#include "exec/device_memory.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "util/error.hpp"

namespace lockstep::exec {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST_CASE("device addresses are the same in every run") {
  for (int run = 0; run < 2; ++run) {
    DeviceMemory memory(64 * kMiB);
    CHECK(memory.allocate(1) == kArenaBase);
    CHECK(memory.allocate(300) == kArenaBase + 256);
    CHECK(memory.allocate(8) == kArenaBase + 768);
    CHECK(memory.release(kArenaBase + 256));
    CHECK(memory.allocate(513) == kArenaBase + 1024);  // the hole of 512 bytes is too small
    CHECK(memory.allocate(512) == kArenaBase + 256);
    CHECK(memory.allocate(8, MemoryKind::kManaged) == kArenaBase + kRegionBytes);
    CHECK(memory.allocate(8, MemoryKind::kHost) == kArenaBase + 2 * kRegionBytes);
  }
}

TEST_CASE("the arena exists once") {
  DeviceMemory memory(kMiB * 2);
  CHECK_THROWS_AS(DeviceMemory(kMiB * 2), UserError);
}

TEST_CASE("the capacity is a limit and comes back when memory is released") {
  DeviceMemory memory(10 * kMiB);
  CHECK(memory.capacity() == 10 * kMiB);
  const auto whole = memory.allocate(10 * kMiB);
  REQUIRE(whole);
  CHECK_FALSE(memory.allocate(1));
  CHECK_FALSE(memory.allocate(~std::uint64_t{0}));
  CHECK(memory.allocate(64 * kMiB, MemoryKind::kManaged));  // managed memory may exceed it
  CHECK(memory.mapped_bytes(MemoryKind::kDevice) == 10 * kMiB);
  CHECK(memory.release(*whole));
  CHECK_FALSE(memory.release(*whole));
  CHECK(memory.mapped_bytes(MemoryKind::kDevice) == 0);
  CHECK(memory.allocate(10 * kMiB) == whole);
}

TEST_CASE("memory and addresses apart: the capacity holds for both, access is by page") {
  DeviceMemory memory(10 * kMiB);
  const auto range = memory.reserve(64 * kMiB, 1);  // addresses may be more than memory
  REQUIRE(range);
  CHECK(*range % DeviceMemory::kPageBytes == 0);
  CHECK(*range >= kArenaBase + memory.capacity());
  CHECK(memory.reserve(2 * kMiB, 16 * kMiB).value() % (16 * kMiB) == 0);
  CHECK_FALSE(memory.reserve(kRegionBytes, 1));
  const Address a = *memory.allocate(3 * kMiB);  // two pages
  CHECK_FALSE(memory.claim(8 * kMiB));
  REQUIRE(memory.claim(4 * kMiB));
  CHECK(memory.mapped_bytes(MemoryKind::kDevice) == 8 * kMiB);
  CHECK(memory.allocate(kMiB));  // in the second page
  CHECK(memory.allocate(kMiB));
  CHECK_FALSE(memory.allocate(2 * kMiB));
  memory.map(*range + 2 * kMiB, 4 * kMiB);
  CHECK_FALSE(memory.accessible(*range + 2 * kMiB, 1));
  memory.open(*range + 2 * kMiB, 2 * kMiB, true);
  CHECK(memory.accessible(*range + 2 * kMiB, 2 * kMiB));
  CHECK_FALSE(memory.accessible(*range + 4 * kMiB - 1, 2));
  CHECK(memory.find(*range + 5 * kMiB)->begin == *range + 2 * kMiB);
  CHECK_FALSE(memory.find(*range));
  auto* const first = reinterpret_cast<unsigned char*>(*range + 2 * kMiB);
  *first = 7;
  memory.unmap(*range + 2 * kMiB);
  CHECK_FALSE(memory.accessible(*range + 2 * kMiB, 1));
  memory.map(*range + 2 * kMiB, 4 * kMiB);
  CHECK(*first == 0);
  memory.give_back(4 * kMiB);
  CHECK(memory.allocate(4 * kMiB));
  CHECK(memory.release(a));
}

TEST_CASE("pages of 2 MiB are reachable while they hold an allocation") {
  DeviceMemory memory(64 * kMiB);
  const Address a = *memory.allocate(100);
  CHECK(memory.accessible(a, 4));
  CHECK(memory.accessible(a + 2 * kMiB - 4, 4));
  CHECK_FALSE(memory.accessible(a + 2 * kMiB - 2, 4));
  CHECK_FALSE(memory.accessible(a - 1, 1));
  CHECK_FALSE(memory.accessible(0, 8));
  CHECK_FALSE(memory.accessible(~Address{0} - 3, 4));
  CHECK_FALSE(memory.accessible(~Address{0} - 3, 16));
  const Address b = *memory.allocate(4 * kMiB);
  CHECK(memory.accessible(b, 4 * kMiB));
  std::memset(reinterpret_cast<void*>(b), 7, 4 * kMiB);
  CHECK(memory.release(b));
  CHECK(memory.accessible(a, 4));
  CHECK_FALSE(memory.accessible(b + 2 * kMiB, 4));
  REQUIRE(memory.allocate(4 * kMiB) == b);
  CHECK(*reinterpret_cast<const unsigned char*>(b + 3 * kMiB) == 0);  // a page comes back empty
}

TEST_CASE("an address finds its allocation") {
  DeviceMemory memory(64 * kMiB);
  const Address a = *memory.allocate(100), b = *memory.allocate(100, MemoryKind::kManaged);
  CHECK(memory.find(a + 99)->begin == a);
  CHECK(memory.find(a + 99)->bytes == 100);
  CHECK_FALSE(memory.find(a + 100));
  CHECK(memory.find(b)->kind == MemoryKind::kManaged);
  CHECK(memory.allocations().size() == 2);
}

TEST_CASE("registered host memory is reachable, the rest of the host is not") {
  DeviceMemory memory(2 * kMiB);
  std::vector<char> bytes(1000);
  const auto begin = reinterpret_cast<Address>(bytes.data());
  CHECK_FALSE(memory.accessible(begin, 4));
  CHECK(memory.add_host_range(begin, 1000));
  CHECK_FALSE(memory.add_host_range(begin + 999, 4));
  CHECK_FALSE(memory.add_host_range(kArenaBase - 4, 8));
  CHECK(memory.accessible(begin, 1000));
  CHECK_FALSE(memory.accessible(begin, 1001));
  CHECK_FALSE(memory.accessible(begin - 1, 4));
  CHECK(memory.remove_host_range(begin));
  CHECK_FALSE(memory.accessible(begin, 4));
}

TEST_CASE("random allocations never overlap and mappedness follows them") {
  std::mt19937_64 random(11);
  DeviceMemory memory(32 * kMiB);
  std::vector<Allocation> live;
  for (int step = 0; step < 3000; ++step) {
    if (live.empty() || random() % 3 != 0) {
      const std::uint64_t bytes = 1 + random() % (random() % 8 ? 20000 : 3 * kMiB);
      const std::uint64_t alignment = 256u << random() % 6;
      if (const auto at = memory.allocate(bytes, MemoryKind::kDevice, alignment)) {
        CHECK(*at % alignment == 0);
        for (const auto& other : live)
          REQUIRE((*at >= other.begin + other.bytes || other.begin >= *at + bytes));
        live.push_back({*at, bytes, MemoryKind::kDevice});
      }
    } else {
      const std::size_t victim = random() % live.size();
      CHECK(memory.release(live[victim].begin));
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    const Address probe = kArenaBase + random() % (32 * kMiB);
    const Address page = probe & ~(2 * kMiB - 1);
    bool expected = false;
    for (const auto& a : live) expected |= a.begin < page + 2 * kMiB && page < a.begin + a.bytes;
    REQUIRE(memory.accessible(probe, 1) == expected);
  }
}

TEST_CASE("windows of generic addresses lie apart from the arena and from each other") {
  CHECK(space_of(kSharedWindow) == Space::kShared);
  CHECK(space_of(kSharedWindow + (Address{17} << kSharedRankShift) - 1) == Space::kShared);
  CHECK(space_of(kLocalWindow) == Space::kLocal);
  CHECK(space_of(kLocalWindow + (Address{1} << kLocalWindowBits)) == Space::kGlobal);
  CHECK(space_of(kParamWindow) == Space::kParam);
  CHECK(space_of(kArenaBase) == Space::kGlobal);
  CHECK(space_of(0) == Space::kGlobal);
}

}  // namespace
}  // namespace lockstep::exec
