// What the runtime remembers of the program's addresses, against a table with an entry for each address.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <set>

#include "cuda/access_window.hpp"
#include "cuda/byte_reader.hpp"
#include "cuda/error.hpp"
#include "cuda/event_times.hpp"
#include "cuda/jit_log.hpp"
#include "cuda/managed_advice.hpp"
#include "cuda/pinned_flags.hpp"
#include "cuda/preferred_host.hpp"
#include "tests/random.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::cuda {
namespace {

constexpr unsigned kPlaces = 64;  // addresses of a test

TEST_CASE("preferred location: the host's addresses are those of the last advice on each") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    test::Random32 random(seed);
    PreferredHost set;
    std::array<bool, kPlaces> plain{};
    for (unsigned i = 0; i < 30; ++i) {
      const unsigned begin = random() % kPlaces, bytes = random() % (kPlaces - begin + 1);
      const bool host = random() % 2 == 0;
      set.set(begin, bytes, host);
      for (unsigned a = begin; a < begin + bytes; ++a) plain[a] = host;
      for (unsigned a = 0; a < kPlaces; ++a) REQUIRE(set.contains(a) == plain[a]);
    }
    CHECK_FALSE(set.contains(kPlaces));
  }
}

TEST_CASE("advice: a range has what all of its addresses have") {
  struct Plain {
    bool read_mostly = false;
    int preferred = kNoPlace, prefetched = kNoPlace;
    std::set<int> accessed_by;
    bool operator==(const Plain&) const = default;
  };
  for (unsigned seed = 0; seed < 60; ++seed) {
    test::Random32 random(seed);
    ManagedAdvice advice;
    std::array<Plain, kPlaces> plain{};
    for (unsigned i = 0; i < 25; ++i) {
      const unsigned begin = random() % kPlaces, bytes = 1 + random() % (kPlaces - begin);
      const auto kind = static_cast<ManagedAdvice::Kind>(1 + random() % 7);
      const int place = static_cast<int>(random() % 3) - 1;
      const bool forgets = random() % 12 == 0;
      if (forgets) {
        advice.forget(0, kPlaces);
        plain = {};
        continue;
      }
      advice.note(begin, bytes, kind, place);
      for (unsigned a = begin; a < begin + bytes; ++a) {
        Plain& p = plain[a];
        if (kind == ManagedAdvice::kSetReadMostly) p.read_mostly = true;
        if (kind == ManagedAdvice::kUnsetReadMostly) p.read_mostly = false;
        if (kind == ManagedAdvice::kSetPreferred) p.preferred = place;
        if (kind == ManagedAdvice::kUnsetPreferred) p.preferred = kNoPlace;
        if (kind == ManagedAdvice::kSetAccessedBy) p.accessed_by.insert(place);
        if (kind == ManagedAdvice::kUnsetAccessedBy) p.accessed_by.erase(place);
        if (kind == ManagedAdvice::kPrefetch) p.prefetched = place;
      }
      const unsigned first = random() % kPlaces, count = 1 + random() % (kPlaces - first);
      Plain all = plain[first];
      for (unsigned a = first; a < first + count; ++a) {
        all.read_mostly = all.read_mostly && plain[a].read_mostly;
        if (plain[a].preferred != all.preferred) all.preferred = kNoPlace;
        if (plain[a].prefetched != all.prefetched) all.prefetched = kNoPlace;
        std::erase_if(all.accessed_by, [&](int by) { return !plain[a].accessed_by.contains(by); });
      }
      const Advised found = advice.of(first, count);
      INFO("seed " << seed << ", step " << i);
      REQUIRE(Plain{found.read_mostly, found.preferred, found.prefetched, found.accessed_by} == all);
    }
  }
}

TEST_CASE("advice: memory that is allocated anew has lost what was advised on any part of it") {
  ManagedAdvice advice;
  advice.note(0x1000, 0x1000, ManagedAdvice::kSetReadMostly, kNoPlace);
  advice.note(0x3000, 0x1000, ManagedAdvice::kSetPreferred, kHostPlace);
  advice.forget(0x2000, 0x1000);  // between them
  CHECK(advice.of(0x1000, 0x1000).read_mostly);
  advice.forget(0x1800, 0x100);
  CHECK_FALSE(advice.of(0x1000, 1).read_mostly);
  CHECK(advice.of(0x3000, 0x1000).preferred == kHostPlace);
}

TEST_CASE(
    "page-locked memory: flags are those of the range that holds the address, and it is always mapped") {
  PinnedFlags flags;
  flags.add(0x1000, 0x100, 1);
  flags.add(0x2000, 1, 4);
  CHECK_FALSE(flags.find(0xfff));
  CHECK(flags.find(0x1000) == 3u);
  CHECK(flags.find(0x10ff) == 3u);
  CHECK_FALSE(flags.find(0x1100));
  CHECK(flags.find(0x2000) == 6u);
  CHECK_FALSE(flags.find(0x2001));
  flags.remove(0x1001);  // no range begins there
  CHECK(flags.find(0x1000));
  flags.remove(0x1000);
  CHECK_FALSE(flags.find(0x1000));
}

abi::LaunchAttribute::Value window_value(std::size_t bytes, float ratio, int hit, int miss) {
  abi::LaunchAttribute::Value value{};
  value.window = {reinterpret_cast<void*>(0x7f0000), bytes, ratio, hit, miss};
  return value;
}

TEST_CASE("access windows: cudaAccessPolicyWindow's properties and limits (CUDA Runtime API)") {
  const trace::L2Launch window = window_of(window_value(1 << 20, 0.6f, 2, 1), 80);
  CHECK((window.base == 0x7f0000 && window.bytes == 1 << 20));
  CHECK(window.ratio == 39322);  // 0.6 of 65536
  CHECK((window.hit == L2Priority::kLast && window.miss == L2Priority::kFirst));
  CHECK(window_of(window_value(64, 1, 0, 0), 90).hit == L2Priority::kNormal);
  CHECK(window_of(window_value(64, 1, 0, 0), 90).miss == L2Priority::kPlain);
  CHECK(window_of(window_value(64, 1, 1, 0), 90).ratio == 65536);
  CHECK(window_of(window_value(1 << 20, 0.6f, 2, 1), 75) == trace::L2Launch{});  // Turing has none
  CHECK(window_of(window_value(0, 1, 2, 0), 80) == trace::L2Launch{});
  struct Bad {
    std::size_t bytes;
    float ratio;
    int hit, miss;
  };
  for (const Bad& bad :
       {Bad{kMaxWindowBytes + 1, 1, 0, 0}, Bad{64, 1.01f, 0, 0}, Bad{64, -0.1f, 0, 0}, Bad{64, NAN, 0, 0},
        Bad{64, 1, 3, 0}, Bad{64, 1, -1, 0}, Bad{64, 1, 0, 2}, Bad{64, 1, 0, -1}})
    for (const std::uint32_t arch : {70u, 80u})
      CHECK_THROWS_AS(window_of(window_value(bad.bytes, bad.ratio, bad.hit, bad.miss), arch), ApiError);
}

TEST_CASE(
    "a compiler's log: text, a null behind it, and the number of characters; cut where it is too long") {
  for (const std::size_t room : {0u, 1u, 2u, 5u, 6u, 100u}) {
    char error[100], info[100];
    std::memset(error, '#', sizeof error);
    std::memset(info, '#', sizeof info);
    const int options[] = {0, 5, 6, 3, 4};  // CU_JIT_MAX_REGISTERS, error buffer and size, information's
    void* values[] = {nullptr, error, reinterpret_cast<void*>(room), info, reinterpret_cast<void*>(room)};
    JitLog(5, options, values).write("oops!");
    const std::string expected = std::string("oops!").substr(0, room == 0 ? 0 : room - 1);
    CHECK(reinterpret_cast<std::size_t>(values[2]) == expected.size());
    CHECK(reinterpret_cast<std::size_t>(values[4]) == 0);
    if (room == 0) {
      CHECK((error[0] == '#' && info[0] == '#'));
    } else {
      CHECK(std::string(error) == expected);
      CHECK(info[0] == '\0');
      CHECK(error[expected.size() + 1] == '#');
    }
  }
  void* values[] = {reinterpret_cast<void*>(std::uintptr_t{50})};
  const int options[] = {6};
  JitLog(1, options, values).write("no buffer");
  CHECK(values[0] == nullptr);
  JitLog(3, nullptr, nullptr).write("no options");
  JitLog(1, options, nullptr).write("no values");
}

TEST_CASE("event times: differences of an earlier run's in milliseconds, nothing where it lacks one") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "times") << "1000000000\n3500000000\n500000000\n";
  EventTimes times(folder / "times");
  CHECK(times.milliseconds(0, 1) == 2.5f);
  CHECK(times.milliseconds(1, 2) == -3.0f);
  CHECK(times.milliseconds(2, 2) == 0.0f);
  CHECK_FALSE(times.milliseconds(0, 3));
  CHECK_FALSE(times.milliseconds(3, 0));
  CHECK((times.count_record() == 0 && times.count_record() == 1));
  CHECK_FALSE(EventTimes("").milliseconds(0, 0));
  std::ofstream(folder / "bad") << "12\nx\n";
  CHECK_THROWS_WITH(EventTimes(folder / "bad"), Catch::Contains("bad cannot be read"));
  CHECK_THROWS_WITH(EventTimes(folder / "missing"), Catch::Contains("missing cannot be read"));
}

TEST_CASE("bytes of a program's images: numbers and ranges, never behind the end") {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  const std::string name = "prog";
  const ByteReader reader(bytes, name, "fatbin");
  CHECK(reader.size() == 5);
  CHECK(reader.at<std::uint16_t>(1) == 0x0302);
  CHECK(reader.at<std::uint32_t>(1) == 0x05040302);
  CHECK(reader.range(5, 0).empty());
  for (const auto& [offset, size] : {std::pair<std::uint64_t, std::uint64_t>{2, 4},
                                     {6, 0},
                                     {0, 6},
                                     {~std::uint64_t{0}, 1},
                                     {1, ~std::uint64_t{0}}})
    CHECK_THROWS_AS(reader.range(offset, size), UserError);
  CHECK_THROWS_WITH(reader.at<std::uint32_t>(2),
                    "prog: fatbin, offset 0x2: 4 bytes expected, the fatbin ends after 5");
}

}  // namespace
}  // namespace lockstep::cuda
