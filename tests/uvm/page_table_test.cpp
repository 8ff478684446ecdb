// The table of trees against std::map.
#include "uvm/page_table.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::uvm {
namespace {

constexpr Address kFirstByte = Address{1} << 40;

/// 100 GiB and 200 KiB: 51200 whole trees and one of 256 KiB.
AddressSpace large_space() {
  AddressSpace space;
  space.add(kFirstByte, (std::uint64_t{100} << 30) + (200u << 10));
  return space;
}

}  // namespace

TEST_CASE("page table: trees are numbered by first touch, however many there are") {
  const AddressSpace space = large_space();
  PageTable table(space);
  std::map<TreeId, TreeIndex> known;
  test::Random32 random(3);
  for (unsigned i = 0; i < 20'000; ++i) {
    const TreeId id = random() % 3 == 0 ? random() % 51'201 : random() % 500;
    REQUIRE(table.find(id).has_value() == known.contains(id));
    const TreeIndex index = table.touch(id);
    const auto [place, is_new] = known.emplace(id, static_cast<TreeIndex>(known.size()));
    REQUIRE(index == place->second);
    if (is_new) REQUIRE(table[index].id == id);
  }
  CHECK(table.size() == known.size());
  CHECK(table.size() > 5'000);
  for (const auto& [id, index] : known) {
    REQUIRE(table.find(id) == index);
    REQUIRE(table[index].base == kFirstByte + id * kTreeBytes);
    REQUIRE(table[index].pages == (id < 51'200 ? 512u : 64u));
  }
}

TEST_CASE("page table: references to trees outlive the trees that come later") {
  const AddressSpace space = large_space();
  PageTable table(space);
  Tree& first = table[table.touch(51'200)];
  first.resident.insert(63);
  for (TreeId id = 0; id < 3000; ++id) (void)table.touch(id);
  CHECK(&table[0] == &first);
  CHECK(table[0].resident.count() == 1);
  CHECK(first.all().count() == 64);
  CHECK(first.leaves() == 4);
}

TEST_CASE("page table: pages of different trees have different numbers") {
  CHECK(page_key(0, 511) + 1 == page_key(1, 0));
  CHECK(page_key(0xffffffff, 511) == (std::uint64_t{0xffffffff} << 9 | 511));
}

TEST_CASE("page table: after a checkpoint it finds the same trees, and numbers new ones alike") {
  const AddressSpace space = large_space();
  PageTable table(space), copy(space);
  for (TreeId id = 0; id < 100; ++id) table[table.touch(id * 37)].dirty.insert(static_cast<unsigned>(id));
  (void)copy.touch(5);
  test::restore(table, copy);
  CHECK(copy.size() == 100);
  CHECK_FALSE(copy.find(5));
  for (TreeId id = 0; id < 100; ++id) {
    REQUIRE(copy.find(id * 37) == static_cast<TreeIndex>(id));
    REQUIRE(copy[static_cast<TreeIndex>(id)].dirty.contains(static_cast<unsigned>(id)));
  }
  CHECK(copy.touch(5) == table.touch(5));
}

}  // namespace lockstep::uvm
