#include "uvm/address_space.hpp"

#include <catch2/catch.hpp>

#include "support.hpp"

namespace lockstep::uvm {
namespace {

TEST_CASE("allocations are cut into trees as published") {
  const nlohmann::json rows = golden().at("allocation");
  REQUIRE(rows.size() == 12);
  for (const auto& row : rows) {
    const TreeLayout layout = layout_of(row[0].get<std::uint64_t>());
    INFO(row);
    CHECK(layout.full_trees == row[1]);
    CHECK(layout.remainder_bytes == row[2].get<unsigned>() * 1024);
    CHECK(layout.bytes() == row[3]);
  }
  CHECK_THROWS_WITH(layout_of(0), Catch::Contains("size 0"));
}

TEST_CASE("an address has its tree and page, counted from the start of its allocation") {
  AddressSpace space;
  space.add(0x10'0000, 4 * 1024 * 1024 + 1);  // 2 trees and one of 64 KB
  space.add(0x1234, 10);                      // unaligned, below the first
  CHECK(space.place(0x10'0000) == Place{0, 0});
  CHECK(space.place(0x10'0000 + kTreeBytes + 5 * kPageBytes + 7) == Place{1, 5});
  CHECK(space.place(0x10'0000 + 2 * kTreeBytes) == Place{2, 0});
  CHECK(space.place(0x1234 + 9) == Place{3, 0});
  CHECK(space.address({1, 5}) == 0x10'0000 + kTreeBytes + 5 * kPageBytes);
  CHECK(space.pages_of(1) == 512);
  CHECK(space.pages_of(2) == 16);
  CHECK(space.owner(2) == 0);
  CHECK(space.owner(3) == 1);
  CHECK(space.footprint() == 4 * 1024 * 1024 + 2 * 65536);
  CHECK_FALSE(space.contains(0x1233));
  CHECK_FALSE(space.contains(0x1234 + 10));
  CHECK(space.contains(0x10'0000 + 2 * kTreeBytes));
  CHECK_FALSE(space.contains(0x10'0000 + 2 * kTreeBytes + 1));
}

TEST_CASE("ranges that overlap or do not fit are refused") {
  AddressSpace space;
  space.add(0x1000, 0x1000);
  CHECK_THROWS_WITH(space.add(0x1fff, 1), Catch::Contains("overlaps"));
  CHECK_THROWS_WITH(space.add(0, 0x1001), Catch::Contains("overlaps"));
  CHECK_THROWS_WITH(space.add(0x1000, 0x1000), Catch::Contains("overlaps"));
  CHECK_THROWS_WITH(space.add(~Address{0}, 2), Catch::Contains("beyond"));
  CHECK_NOTHROW(space.add(0x2000, 1));
  CHECK_NOTHROW(space.add(0, 0x1000));
}

TEST_CASE("a range that is covered keeps what is there; gaps are cut at its own trees") {
  AddressSpace space, follower;
  space.cover(0x100'0000, 0x10'0000);  // 1 MB
  follower.follow(space);
  space.cover(0x100'0000, 0x1000);  // all of it is there
  CHECK(space.allocations().size() == 1);
  space.cover(0x100'0000, 0x50'0000);  // 5 MB: 1 MB to the tree's end, then 3 MB
  REQUIRE(space.allocations().size() == 3);
  CHECK(space.allocations()[1].base == 0x110'0000);
  CHECK(space.allocations()[1].bytes == 0x10'0000);
  CHECK(space.allocations()[2].base == 0x120'0000);
  CHECK(space.allocations()[2].bytes == 0x30'0000);
  space.cover(0xf0'0000, 0x100'0000);  // 16 MB, with the others inside: a gap on either side
  REQUIRE(space.allocations().size() == 5);
  CHECK(space.allocations()[3].base == 0xf0'0000);
  CHECK(space.allocations()[3].bytes == 0x10'0000);
  CHECK(space.allocations()[4].base == 0x150'0000);
  CHECK(space.allocations()[4].bytes == 0xa0'0000);
  for (Address a = 0xf0'0000; a < 0x1f0'0000; a += kPageBytes) REQUIRE(space.contains(a));
  CHECK_FALSE(space.contains(0x1f0'0000));
  const Allocation* before = follower.find(0x100'0000);
  follower.follow(space);
  CHECK(follower.find(0x100'0000) == before);
  CHECK(follower.footprint() == space.footprint());
  for (std::size_t i = 0; i < space.allocations().size(); ++i)
    CHECK(follower.allocations()[i].first_tree == space.allocations()[i].first_tree);
  CHECK_THROWS_WITH(space.cover(0x100'0000, 0), Catch::Contains("size 0"));
}

TEST_CASE("trees are made at first touch only") {
  AddressSpace space;
  space.add(0, std::uint64_t{1} << 40);  // a terabyte: 524288 trees
  PageTable table(space);
  for (TreeId id = 0; id < 524288; id += 4096) CHECK(table.touch(id) == id / 4096);
  for (TreeId id = 0; id < 524288; id += 4096) CHECK(table.touch(id) == id / 4096);
  CHECK(table.size() == 128);
  CHECK(table[5].id == 5 * 4096);
}

TEST_CASE("sets of pages") {
  CHECK(PageSet::range(60, 10).count() == 10);
  CHECK(PageSet::range(0, 512).count() == 512);
  CHECK(PageSet::range(60, 0).empty());
  CHECK(PageSet::leaf(31).next(0) == 496);
  CHECK(PageSet::leaf(5).in_leaf(5) == 16);
  CHECK(PageSet::leaf(5).in_leaf(6) == 0);
  CHECK(PageSet().next(0) == 512);
  std::vector<std::pair<unsigned, unsigned>> runs;
  (PageSet::range(62, 4) | PageSet::range(510, 2) | PageSet::range(0, 1))
      .for_each_run([&](unsigned f, unsigned n) { runs.emplace_back(f, n); });
  CHECK(runs == std::vector<std::pair<unsigned, unsigned>>{{0, 1}, {62, 4}, {510, 2}});
}

}  // namespace
}  // namespace lockstep::uvm
