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

config::GpuConfig with_halves(std::uint32_t slices, std::uint32_t half_bytes) {
  config::GpuConfig c = with_slices(slices);
  c.l2.halves = 2;
  c.l2.half_bytes = half_bytes;
  return c;
}

TEST_CASE("bytes of a chunk have their home in one half, those of its neighbour in the other") {
  for (const std::uint32_t bytes : {128u, 4096u, 65536u}) {
    const AddressMap map(with_halves(80, bytes));
    const auto half = [&](Address line) { return map.half_of_slice(map.home_slice(line)); };
    std::uint64_t first_in_half_1 = 0;
    constexpr std::uint64_t kPairs = 4000;
    for (std::uint64_t pair = 0; pair < kPairs; ++pair) {
      const Address at = 0x7f0000000000 + pair * 2 * bytes;
      first_in_half_1 += half(at);
      for (Address line = 0; line < bytes; line += 128) {
        REQUIRE(half(at + line) == half(at));
        REQUIRE(half(at + bytes + line) == 1 - half(at));
      }
    }
    // A fair draw for each pair: standard deviation 32, five of them.
    CHECK(std::abs(static_cast<double>(first_in_half_1) - kPairs / 2.0) < 160);
  }
}

TEST_CASE("with two halves slice and local line identify a line, and every stride reaches all slices") {
  for (const std::uint32_t slices : {4u, 24u, 80u, 96u}) {
    const AddressMap map(with_halves(slices, 4096));
    std::set<std::pair<std::uint32_t, std::uint64_t>> locals;
    std::uint64_t last = 0;
    constexpr std::uint64_t kLines = 32 * 96 * 20;  // whole pairs of chunks, and whole blocks
    for (std::uint64_t i = 0; i < kLines; ++i) {
      REQUIRE(locals.insert({map.home_slice(i * 128), map.local_line(i * 128)}).second);
      last = std::max(last, map.local_line(i * 128));
    }
    CHECK(last == kLines / slices - 1);  // dense
    for (unsigned shift = 7; shift <= 24; ++shift) {
      std::vector<std::uint64_t> bins(slices);
      for (std::uint64_t i = 0; i < 40000; ++i) ++bins[map.home_slice(0x7f0000000000 + (i << shift))];
      INFO(slices << " slices, stride " << (1u << shift));
      CHECK(imbalance(bins) < 1.25);
    }
  }
}

TEST_CASE("the near slice lies in the requester's half, at the home's position; GPCs are in either in turn") {
  config::GpuConfig c = with_halves(80, 4096);
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
  // 54 TPCs in eight GPCs: 7, 7, 7, 6, 7, 7, 7, 6.
  std::uint32_t first = 0;
  for (std::uint32_t sm = 0; sm < 108; ++sm) first += map.half_of_sm(sm) == 0;
  CHECK(first == 2 * (7 + 7 + 7 + 7));
  CHECK((map.half_of_sm(0) == 0 && map.half_of_sm(13) == 0 && map.half_of_sm(14) == 1));
  CHECK(map.half_of_sm(107) == 1);
  const AddressMap one(with_slices(80));
  CHECK(one.half_of_sm(107) == 0);
  CHECK(one.near_slice(12800, 0) == one.home_slice(12800));
}

}  // namespace
}  // namespace lockstep::mem
