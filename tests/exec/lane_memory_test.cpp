// Memory accesses of all lanes at once, lane by lane; and windows that stand for memory of several devices,
// against a table of pages.
#include "exec/lane_memory.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "exec/error_text.hpp"
#include "exec/multicast.hpp"

namespace lockstep::exec::test {
namespace {

constexpr unsigned kWarpLanes = 32;

AddressSpan span_by_lane(const std::uint64_t* a, std::uint32_t mask, std::uint32_t bytes) {
  AddressSpan span;
  bool first = true;
  std::uint64_t reference = 0;
  span.neighbours = mask == ~0u;
  for (unsigned l = 0; l < kWarpLanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    if (first) reference = span.lowest = span.highest = a[l];
    first = false;
    span.bits |= a[l];
    span.differ |= a[l] ^ reference;
    if (static_cast<std::int64_t>(a[l]) < static_cast<std::int64_t>(span.lowest)) span.lowest = a[l];
    if (static_cast<std::int64_t>(a[l]) > static_cast<std::int64_t>(span.highest)) span.highest = a[l];
    span.neighbours &= a[l] == a[0] + std::uint64_t{l} * bytes;
  }
  return span;
}

bool same(const AddressSpan& a, const AddressSpan& b) {
  return a.bits == b.bits && a.differ == b.differ && a.lowest == b.lowest && a.highest == b.highest &&
         a.neighbours == b.neighbours;
}

/// Addresses of a warp: neighbours, one address, nearly neighbours, a stride, or noise.
void fill(std::mt19937_64& random, std::uint32_t bytes, LaneValues& values) {
  const std::uint64_t kind = random() % 5, base = random() >> random() % 64;
  const std::uint64_t stride = kind == 0 || kind == 2 ? bytes : kind == 1 ? 0 : random() % 256 - 128;
  for (unsigned l = 0; l < kWarpLanes; ++l) values.lane[l] = kind == 4 ? random() : base + l * stride;
  if (kind == 2) values.lane[random() % kWarpLanes] += bytes;
}

constexpr std::uint64_t kWindowPage = std::uint64_t{1} << MulticastWindows::kPageShift;

}  // namespace

TEST_CASE("lane memory: spans of random addresses and masks are those that a loop finds") {
  const LaneMemory& memory = lane_memory();
  std::mt19937_64 random(1);
  std::size_t neighbours = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::uint32_t bytes = 1u << random() % 5;
    LaneValues values;
    fill(random, bytes, values);
    auto mask = static_cast<std::uint32_t>(round % 2 == 0 ? ~0u : random());
    if (mask == 0) mask = 1u << round % 32;
    const AddressSpan expected = span_by_lane(values.lane, mask, bytes);
    REQUIRE(same(memory.span(values.lane, mask, bytes), expected));
    neighbours += expected.neighbours;
    const std::uint64_t offset = random() % 3 == 0 ? 0 - random() % 5000 : random() % 5000;
    const std::uint64_t keep = random() % 2 == 0 ? ~std::uint64_t{0} : 0xffffffff;
    std::uint64_t out[kWarpLanes], by_lane[kWarpLanes];
    for (unsigned l = 0; l < kWarpLanes; ++l) by_lane[l] = (values.lane[l] + offset) & keep;
    REQUIRE(same(memory.locate(values, offset, keep, mask, bytes, out), span_by_lane(by_lane, mask, bytes)));
    REQUIRE(std::equal(out, out + kWarpLanes, by_lane));
  }
  CHECK(neighbours > 500);
}

TEST_CASE("lane memory: addresses that pass the end of 64 bits are still neighbours") {
  LaneValues values;
  for (unsigned l = 0; l < kWarpLanes; ++l) values.lane[l] = std::uint64_t{0} - 64 + 4 * std::uint64_t{l};
  const AddressSpan span = lane_memory().span(values.lane, ~0u, 4);
  CHECK(span.neighbours);
  CHECK(span.lowest == std::uint64_t{0} - 64);
  CHECK(span.highest == 60);
}

TEST_CASE("lane memory: predicates are the lowest bits, loads extend by zeros, stores cut") {
  const LaneMemory& memory = lane_memory();
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    LaneValues values;
    for (unsigned l = 0; l < kWarpLanes; ++l) values.lane[l] = random();
    std::uint32_t lowest = 0;
    for (unsigned l = 0; l < kWarpLanes; ++l) lowest |= static_cast<std::uint32_t>(values.lane[l] & 1) << l;
    REQUIRE(memory.predicate(values) == lowest);
    for (unsigned log = 0; log < 4; ++log) {
      const std::size_t bytes = std::size_t{1} << log, unaligned = static_cast<unsigned>(round) % 8;
      std::vector<std::byte> cells(kWarpLanes * bytes + 16, std::byte{0xcc});
      memory.store[log](cells.data() + unaligned, values);
      LaneValues back;
      memory.load[log](cells.data() + unaligned, back);
      for (unsigned l = 0; l < kWarpLanes; ++l) {
        std::uint64_t expected = 0;  // little-endian
        std::memcpy(&expected, &values.lane[l], bytes);
        std::uint64_t cell = 0;
        std::memcpy(&cell, cells.data() + unaligned + l * bytes, bytes);
        REQUIRE(cell == expected);
        REQUIRE(back.lane[l] == expected);
      }
      const auto untouched = [](std::byte b) { return b == std::byte{0xcc}; };
      REQUIRE(std::all_of(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(unaligned), untouched));
      REQUIRE(std::all_of(cells.begin() + static_cast<std::ptrdiff_t>(unaligned + kWarpLanes * bytes),
                          cells.end(), untouched));
    }
  }
}

TEST_CASE("multicast windows: random windows, bindings and openings against a table of pages") {
  using Problem = MulticastWindows::Places::Problem;
  struct PageRow {
    std::vector<unsigned> team;
    std::set<unsigned> open;
    std::map<unsigned, Address> memory;
  };
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    MulticastWindows windows;
    std::map<Address, PageRow> pages;
    std::map<Address, std::pair<std::uint64_t, std::vector<unsigned>>> known;
    const auto part = [&](Address begin, std::uint64_t count) {
      const std::uint64_t from = random() % count;
      return std::pair{begin + from * kWindowPage, 1 + random() % (count - from)};
    };
    for (int round = 0; round < 80; ++round) {
      const std::uint64_t what = random() % 8;
      if (what == 0 || known.empty()) {
        const Address begin = (1 + 8 * (random() % 20)) * kWindowPage;
        if (known.contains(begin)) continue;
        const std::uint64_t count = 1 + random() % 6;
        std::vector<unsigned> team;
        for (unsigned d = 0; d < 5; ++d)
          if (random() % 2 == 0) team.push_back(d);
        windows.add(begin, count * kWindowPage, team);
        known[begin] = {count, team};
        for (std::uint64_t p = 0; p < count; ++p) pages[begin + p * kWindowPage] = {team, {}, {}};
      } else {
        auto window = known.begin();
        std::advance(window, static_cast<std::ptrdiff_t>(random() % known.size()));
        const auto [first, count] = part(window->first, window->second.first);
        const std::vector<unsigned>& team = window->second.second;
        if (what == 1) {
          windows.remove(window->first);
          for (std::uint64_t p = 0; p < window->second.first; ++p)
            pages.erase(window->first + p * kWindowPage);
          known.erase(window);
        } else if (what < 5 && !team.empty()) {
          const unsigned device = team[random() % team.size()];
          const Address memory = random() % 5 == 0 ? 0 : (1000 + random() % 1000) * kWindowPage;
          windows.bind(first, count * kWindowPage, device, memory);
          for (std::uint64_t p = 0; p < count; ++p)
            pages[first + p * kWindowPage].memory[device] = memory == 0 ? 0 : memory + p * kWindowPage;
        } else {
          const auto device = static_cast<unsigned>(random() % 5);
          const bool usable = random() % 3 != 0;
          windows.open(first, count * kWindowPage, usable, device);
          for (std::uint64_t p = 0; p < count; ++p) {
            auto& open = pages[first + p * kWindowPage].open;
            if (usable)
              open.insert(device);
            else
              open.erase(device);
          }
        }
      }
      for (int look = 0; look < 20; ++look) {
        const Address page = (random() % 170) * kWindowPage, offset = random() % kWindowPage;
        const auto device = static_cast<unsigned>(random() % 5);
        CAPTURE(seed, round, page, device);
        const auto row = pages.find(page);
        REQUIRE(windows.contains(page + offset) == (row != pages.end()));
        const auto found = windows.places(page + offset, device);
        if (row == pages.end()) {
          REQUIRE(found.problem == Problem::kNoWindow);
          continue;
        }
        REQUIRE(windows.is_open(page + offset, device) == row->second.open.contains(device));
        if (!row->second.open.contains(device)) {
          REQUIRE(found.problem == Problem::kClosed);
          continue;
        }
        std::vector<Address> expected;
        for (const unsigned member : row->second.team) {
          if (row->second.memory[member] == 0) {
            REQUIRE(found.problem == Problem::kUnbound);
            REQUIRE(found.device == member);
            break;
          }
          expected.push_back(row->second.memory[member] + offset);
        }
        if (expected.size() < row->second.team.size()) continue;
        REQUIRE(found.problem == Problem::kNone);
        REQUIRE(std::vector<Address>(found.at.begin(), found.at.begin() + found.count) == expected);
      }
    }
  }
}

TEST_CASE("error texts: those of CUDA's documentation, and one for all numbers that it does not have") {
  const auto text = [](int number) { return std::string(error_name(number)) + ": " + error_text(number); };
  CHECK(text(0) == "cudaSuccess: no error");
  CHECK(text(2) == "cudaErrorMemoryAllocation: out of memory");
  CHECK(text(700) == "cudaErrorIllegalAddress: an illegal memory access was encountered");
  CHECK(text(719) == "cudaErrorLaunchFailure: unspecified launch failure");
  CHECK(text(999) == "cudaErrorUnknown: unknown error");
  for (const int number : {-1, 10, 11, 1000, 1 << 30}) {
    CAPTURE(number);
    CHECK(text(number) == "unrecognized error code: unrecognized error code");
  }
  std::set<std::string> names;
  for (int number = 0; number < 1000; ++number)
    if (const std::string name = error_name(number); name != "unrecognized error code") {
      CHECK(names.insert(name).second);
      CHECK((name == "cudaSuccess" || name.starts_with("cudaError")));
    }
  CHECK(names.size() > 100);
}

}  // namespace lockstep::exec::test
