// The blocks whose translation an SM knows, against a plain queue.
#include "core/known_blocks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>

using lockstep::core::KnownBlocks;

TEST_CASE("known blocks leave first in, first out, whatever has been looked up in between") {
  for (const std::uint32_t most : {1u, 2u, 16u, 100u}) {
    KnownBlocks known(most);
    std::deque<std::uint64_t> queue;
    std::mt19937 random(most);
    for (int i = 0; i < 20'000; ++i) {
      // Neighbours, and blocks a multiple of 64 apart, which share a place of the array in front.
      const std::uint64_t block = random() % 2 ? random() % (2 * most) : random() % (2 * most) * 64;
      const bool there = std::ranges::find(queue, block) != queue.end();
      REQUIRE(known.has(block) == there);
      if (random() % 2) continue;
      known.add(block);
      if (there) continue;  // keeps its turn
      queue.push_back(block);
      if (queue.size() > most) queue.pop_front();
    }
  }
}

TEST_CASE("blocks are of 2 MiB, and none is known once they are cleared") {
  CHECK(KnownBlocks::block_of(0x1fffff) == 0);
  CHECK(KnownBlocks::block_of(0x200000) == 1);
  CHECK(KnownBlocks::block_of(0x7f0000000000) == 0x3f80000);
  KnownBlocks known(4);
  CHECK_FALSE(known.has(0));  // an empty place of the array is no block
  for (std::uint64_t block = 0; block < 4; ++block) known.add(block);
  for (std::uint64_t block = 0; block < 4; ++block) CHECK(known.has(block));
  known.clear();
  for (std::uint64_t block = 0; block < 4; ++block) CHECK_FALSE(known.has(block));
  for (std::uint64_t block = 10; block < 14; ++block) known.add(block);  // the old ones take no room
  for (std::uint64_t block = 10; block < 14; ++block) CHECK(known.has(block));
}
