// What --check keeps for each piece of memory, against one value for each byte.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "exec/check/allocations.hpp"
#include "exec/check/race_cells.hpp"
#include "exec/check/shadow_bits.hpp"

namespace lockstep::exec {
namespace {

constexpr std::uint64_t kShadowPage = 1 << 16, kSpan = 3 * kShadowPage;
constexpr Address kBase = 0x7000'0000'0000 + 40;  // pages begin within the span

std::optional<Address> first_in(const std::vector<bool>& model, std::uint64_t at, std::uint64_t bytes,
                                bool value) {
  for (std::uint64_t i = at; i < at + bytes; ++i)
    if (model[i] == value) return kBase + i;
  return std::nullopt;
}

}  // namespace

TEST_CASE("check cells: bits of bytes, set, sought and moved, also over pages and onto themselves") {
  ShadowBits bits;
  std::vector<bool> model(kSpan);
  std::mt19937_64 random(6);
  for (int round = 0; round < 600; ++round) {
    const std::uint64_t longest = random() % 4 == 0 ? 2 * kShadowPage : 300;
    const std::uint64_t bytes = random() % longest, at = random() % (kSpan - bytes),
                        to = random() % 2 == 0 ? random() % (kSpan - bytes)
                                               : std::min(kSpan - bytes, at + random() % 100);
    const bool value = random() % 2 == 0;
    switch (random() % 3) {
      case 0:
        bits.set(kBase + at, bytes, value);
        std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(at), bytes, value);
        break;
      case 1: {
        const std::vector<bool> old(model.begin() + static_cast<std::ptrdiff_t>(at),
                                    model.begin() + static_cast<std::ptrdiff_t>(at + bytes));
        bits.move(kBase + to, kBase + at, bytes);
        std::copy(old.begin(), old.end(), model.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      }
      default:
        REQUIRE(bits.first(kBase + at, bytes, value) == first_in(model, at, bytes, value));
    }
  }
  CHECK(bits.first(kBase + 100 * kShadowPage, 10, false) == kBase + 100 * kShadowPage);  // never touched
  CHECK_FALSE(bits.first(kBase + 100 * kShadowPage, 10, true));
}

TEST_CASE("check cells: a granule is as small as the smallest access, and keeps what it knew") {
  constexpr std::uint64_t kBytes = 64;
  RaceCells cells(kBytes);
  std::vector<std::uint64_t> model(kBytes);  // time of the last write
  const auto write = [&](std::uint64_t at, std::uint64_t count, std::uint64_t time) {
    std::uint64_t covered = 0;
    cells.each(at, count, [&](RaceCell& cell, std::uint64_t offset, unsigned bytes) {
      CHECK(offset == at + covered);
      cell.write.time = time;
      covered += bytes;
    });
    CHECK(covered == count);
    std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(at), count, time);
  };
  const auto check_all = [&](std::uint64_t step) {
    for (std::uint64_t at = 0; at < kBytes; at += step)
      cells.each(at, step, [&](const RaceCell& cell, std::uint64_t offset, unsigned) {
        CHECK(cell.write.time == model[offset]);
      });
  };
  write(8, 16, 1);
  write(60, 4, 2);
  check_all(4);
  write(10, 2, 3);  // halves from now on
  check_all(2);
  write(13, 1, 4);
  write(0, 3, 5);
  check_all(1);
  cells.reset(16);
  CHECK(cells.bytes() == 16);
  cells.each(0, 16, [](const RaceCell& cell, std::uint64_t, unsigned) { CHECK_FALSE(cell.write.exists()); });
}

TEST_CASE("check cells: global memory is known by byte, and forgotten by whole pages") {
  GlobalRaceCells cells;
  const Address base = 0x10'0000'0000;
  const auto time_at = [&](Address at) {
    std::uint64_t time = 0;
    cells.each(at, 4, [&](const RaceCell& cell, Address, unsigned) { time = cell.write.time; });
    return time;
  };
  std::uint64_t covered = 0;
  cells.each(base + 4088, 8200, [&](RaceCell& cell, Address at, unsigned bytes) {
    CHECK(at == base + 4088 + covered);
    covered += bytes;
    cell.write.time = 9;
  });
  CHECK(covered == 8200);
  CHECK(time_at(base + 4084) == 0);
  CHECK(time_at(base + 4088) == 9);
  CHECK(time_at(base + 12284) == 9);
  CHECK(time_at(base + 12288) == 0);
  cells.forget(base + 4090, 8192);  // of whole pages only the one from 4096 on
  CHECK(time_at(base + 4088) == 9);
  CHECK(time_at(base + 4096) == 0);
  CHECK(time_at(base + 8188) == 0);
  CHECK(time_at(base + 8192) == 9);
  cells.forget(0, std::uint64_t{1} << 60);
  CHECK(time_at(base + 8192) == 0);
}

TEST_CASE("check cells: an address is described by the allocation that it belongs to or lies nearest to") {
  DeviceMemory memory(64 << 20);
  CheckedAllocations known(memory);
  CHECK(known.describe(0x1000).text == "there is no allocation");
  const Address a = *memory.allocate(1000), b = *memory.allocate(1000);
  REQUIRE(b > a + 1000);
  const auto allocation = [&](Address at) { return memory.find(at).value(); };
  const std::string of_a = fmt::format("allocation of 1000 bytes at {:#x}", a),
                    of_b = fmt::format("allocation of 1000 bytes at {:#x}", b);
  CHECK(known.hold(a, 1000));
  CHECK(known.hold(a + 999, 1));
  CHECK_FALSE(known.hold(a + 999, 2));
  CHECK_FALSE(known.hold(a - 1, 1));
  CHECK(known.describe(a + 996).text == "reaches beyond the end of the " + of_a);
  CHECK(known.describe(a + 1003).text == "3 bytes behind the end of the nearest " + of_a);
  CHECK(known.describe(b - 5).text == "5 bytes before the nearest " + of_b);
  const Allocation gone = allocation(a);
  memory.release(a);
  known.released(gone);
  CHECK_FALSE(known.hold(a, 4));
  const auto place = known.describe(a + 8);
  CHECK(place.freed);
  CHECK(place.text == "8 bytes into a freed " + of_a);
  CHECK_FALSE(known.describe(a + 1000).freed);
  // Another one takes part of the place.
  known.allocated({a + 512, 600});
  CHECK_FALSE(known.describe(a + 8).freed);
}

}  // namespace lockstep::exec
