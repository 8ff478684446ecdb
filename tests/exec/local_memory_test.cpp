// Local memory of a warp's lanes: frames from offset 0 on, alloca from kStackOffset on.
#include "exec/local_memory.hpp"

#include <catch2/catch.hpp>
#include <cstring>

namespace lockstep::exec::test {
namespace {

TEST_CASE("local memory: frames begin as zeros, and each lane has its own bytes") {
  LocalMemory memory;
  memory.start(8);
  CHECK(memory.frames().size() == 8 * kLanes);
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned b = 0; b < 8; ++b) CHECK(*memory.at(l, b) == std::byte{0});
    std::memset(memory.at(l, 0), static_cast<int>(l + 1), 8);
  }
  for (unsigned l = 0; l < kLanes; ++l) CHECK(*memory.at(l, 7) == std::byte(l + 1));
  memory.start(8);
  CHECK(*memory.at(31, 7) == std::byte{0});
}

TEST_CASE("local memory: a lane has no bytes behind its frames or what alloca gave it") {
  LocalMemory memory;
  memory.start(12);
  CHECK(memory.find(3, 8, 4) == memory.at(3, 8));
  CHECK(memory.find(3, 9, 4) == nullptr);
  CHECK(memory.find(3, kStackOffset, 1) == nullptr);
  REQUIRE(memory.allocate(3, 20, 4, 1024) == kStackOffset);
  CHECK(memory.find(3, kStackOffset + 16, 4) != nullptr);
  CHECK(memory.find(3, kStackOffset + 17, 4) == nullptr);
  CHECK(memory.find(4, kStackOffset, 1) == nullptr);
}

TEST_CASE("local memory: more of it keeps what every lane has written") {
  LocalMemory memory;
  memory.start(4);
  for (unsigned l = 0; l < kLanes; ++l) std::memcpy(memory.at(l, 0), &l, sizeof l);
  memory.reserve(100);
  for (unsigned l = 0; l < kLanes; ++l) {
    CHECK(std::memcmp(memory.at(l, 0), &l, sizeof l) == 0);
    CHECK(*memory.at(l, 99) == std::byte{0});
  }
  const std::size_t bytes = memory.frames().size();
  memory.reserve(50);
  CHECK(memory.frames().size() == bytes);
}

TEST_CASE("local memory: alloca aligns, gives zeros, and takes no more than it may") {
  LocalMemory memory;
  memory.start(0);
  CHECK(memory.allocate(0, 3, 1, 64) == kStackOffset);
  CHECK(memory.allocate(0, 8, 16, 64) == kStackOffset + 16);
  CHECK(memory.top(0) == kStackOffset + 24);
  CHECK(memory.allocate(0, 41, 1, 64) == std::nullopt);
  CHECK(memory.allocate(0, ~std::uint64_t{0}, 1, 64) == std::nullopt);
  CHECK(memory.top(0) == kStackOffset + 24);
  CHECK(memory.allocate(0, 40, 1, 64) == kStackOffset + 24);
  std::memset(memory.find(0, kStackOffset, 64), 0xff, 64);
  CHECK(memory.release(0, kStackOffset));
  CHECK(memory.allocate(0, 64, 1, 64) == kStackOffset);
  for (unsigned b = 0; b < 64; ++b) CHECK(*memory.find(0, kStackOffset + b, 1) == std::byte{0});
}

TEST_CASE("local memory: stackrestore takes what stacksave said, and a return what the call found") {
  LocalMemory memory;
  memory.start(0);
  REQUIRE(memory.allocate(0, 8, 1, 64));
  const Address saved = memory.top(0);
  REQUIRE(memory.allocate(0, 8, 1, 64));
  CHECK(memory.release(0, saved));
  CHECK(memory.top(0) == saved);
  CHECK_FALSE(memory.release(0, saved + 1));         // more than the lane has taken
  CHECK_FALSE(memory.release(0, kStackOffset - 1));  // no place of the stack
  memory.enter(2);
  REQUIRE(memory.allocate(0, 8, 1, 64));
  REQUIRE(memory.allocate(1, 8, 1, 64));
  memory.leave(2, 1);  // lane 0 returns
  CHECK(memory.top(0) == saved);
  CHECK(memory.top(1) == kStackOffset + 8);
  memory.leave(2, 2);
  CHECK(memory.top(1) == kStackOffset);
}

}  // namespace
}  // namespace lockstep::exec::test
