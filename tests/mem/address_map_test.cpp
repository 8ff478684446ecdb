// Spreading of lines over slices, sets, channels and banks.
#include "mem/address_map.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "mem/dram_map.hpp"
#include "mem/tag_array.hpp"

namespace lockstep::mem {
namespace {

config::GpuConfig with_slices(std::uint32_t slices, std::uint32_t per_partition = 1) {
  config::GpuConfig c;
  c.l2.partitions = slices / per_partition;
  c.l2.slices_per_partition = per_partition;
  return c;
}

/// Largest bin over mean bin.
double imbalance(const std::vector<std::uint64_t>& bins) {
  std::uint64_t largest = 0, sum = 0;
  for (const std::uint64_t b : bins) {
    largest = std::max(largest, b);
    sum += b;
  }
  return static_cast<double>(largest) * static_cast<double>(bins.size()) / static_cast<double>(sum);
}

TEST_CASE("lines spread over any number of slices for every power-of-two stride") {
  for (const std::uint32_t slices : {1u, 2u, 24u, 32u, 40u, 48u, 64u, 80u, 96u}) {
    const AddressMap map(with_slices(slices));
    for (unsigned shift = 7; shift <= 24; ++shift) {
      std::vector<std::uint64_t> bins(slices);
      for (std::uint64_t i = 0; i < 40000; ++i) ++bins[map.home_slice(0x7f0000000000 + (i << shift))];
      INFO(slices << " slices, stride " << (1u << shift));
      // 40000 draws over 96 bins: mean 416, standard deviation 20; five of them.
      CHECK(imbalance(bins) < 1.25);
    }
  }
}

TEST_CASE("consecutive lines go to different slices, every block of them to all") {
  for (const std::uint32_t slices : {3u, 24u, 32u, 40u, 80u, 96u}) {
    const AddressMap map(with_slices(slices));
    for (std::uint64_t block = 0; block < 500; ++block) {
      std::set<std::uint32_t> seen;
      for (std::uint64_t i = block * slices; i < (block + 1) * slices; ++i) {
        seen.insert(map.home_slice(i * 128));
        REQUIRE(map.home_slice(i * 128) != map.home_slice((i + 1) * 128));
      }
      REQUIRE(seen.size() == slices);
    }
  }
}

TEST_CASE("slice, local line and place in DRAM identify a line") {
  for (const auto& [slices, per, channels] :
       {std::tuple(64u, 2u, 2u), {40u, 1u, 2u}, {48u, 4u, 2u}, {24u, 2u, 3u}}) {
    config::GpuConfig c = with_slices(slices, per);
    c.dram.channels_per_partition = channels;
    const AddressMap map(c);
    const DramMap dram(c);
    std::set<std::pair<std::uint32_t, std::uint64_t>> locals;
    std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint16_t, std::uint64_t>, unsigned> rows;
    constexpr std::uint64_t kLines = 60000;
    for (std::uint64_t i = 0; i < kLines; ++i) {
      const std::uint32_t slice = map.home_slice(i * 128);
      REQUIRE(locals.insert({slice, map.local_line(i * 128)}).second);
      const DramPlace p = dram.place(map.local_line(i * 128), slice % per);
      REQUIRE(p.channel < channels);
      REQUIRE(p.bank < c.dram.bank_groups * c.dram.banks_per_group);
      // A row must not be given more lines than it holds.
      REQUIRE(++rows[{slice / per, p.channel, p.bank, p.row}] <= c.dram.row_bytes / 128);
    }
    CHECK(rows.size() <= kLines / (c.dram.row_bytes / 128) * 11 / 10 + 64);  // and rows are filled
  }
}

TEST_CASE("strides spread over channels and banks") {
  const config::GpuConfig c = with_slices(64, 2);
  const AddressMap map(c);
  const DramMap dram(c);
  for (unsigned shift = 7; shift <= 20; ++shift) {
    std::vector<std::uint64_t> bins(32 * 2 * 16);
    for (std::uint64_t i = 0; i < 400000; ++i) {
      const Address line = i << shift;
      const std::uint32_t slice = map.home_slice(line);
      const DramPlace p = dram.place(map.local_line(line), slice % 2);
      ++bins[(slice / 2 * 2 + p.channel) * 16 + p.bank];
    }
    INFO("stride " << (1u << shift));
    CHECK(imbalance(bins) < 1.6);  // mean 390
  }
}

TEST_CASE("contiguous lines fill all sets evenly, strides reach all sets") {
  for (const std::uint32_t bytes : {96u * 1024, 480u * 1024, 512u * 1024, 640u * 1024}) {
    const std::uint32_t ways = 16, sets = bytes / 128 / ways;
    const TagArray tags(bytes, ways);
    std::vector<std::uint64_t> bins(sets);
    for (std::uint64_t i = 0; i < std::uint64_t{sets} * ways; ++i) ++bins[tags.set_of(i)];
    CHECK(imbalance(bins) == 1.0);
    for (unsigned shift = 1; shift <= 16; ++shift) {
      std::vector<std::uint64_t> strided(sets);
      for (std::uint64_t i = 0; i < sets * 256ull; ++i) ++strided[tags.set_of(i << shift)];
      CHECK(imbalance(strided) < 1.4);  // mean 256, standard deviation 16
    }
  }
}

TEST_CASE("the near slice lies in the requester's half, at the home's position") {
  config::GpuConfig c = with_slices(80);
  c.l2.halves = 2;
  c.gpu = {"a100", 80, 108, 2, 8};
  const AddressMap map(c);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const std::uint32_t home = map.home_slice(i * 128);
    for (const std::uint32_t half : {0u, 1u}) {
      const std::uint32_t near = map.near_slice(i * 128, half);
      REQUIRE(map.half_of_slice(near) == half);
      REQUIRE(near % 40 == home % 40);
      REQUIRE((map.half_of_slice(home) != half || near == home));
    }
  }
  std::uint32_t first = 0;
  for (std::uint32_t sm = 0; sm < 108; ++sm) first += map.half_of_sm(sm) == 0;
  CHECK(first == 54);
  CHECK(map.half_of_sm(0) == 0);
  CHECK(map.half_of_sm(107) == 1);
  const AddressMap one(with_slices(80));
  CHECK(one.half_of_sm(107) == 0);
  CHECK(one.near_slice(12800, 0) == one.home_slice(12800));
}

}  // namespace
}  // namespace lockstep::mem
