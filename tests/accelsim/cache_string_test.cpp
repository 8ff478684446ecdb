// The packed description of a cache: what its fields mean, and the one error of whatever is no such text.
#include "accelsim/cache_string.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace lockstep::accelsim {
namespace {

constexpr std::string_view kCacheOption = "-gpgpu_cache:dl1";

std::optional<CacheString> read_cache(const std::string& text) {
  const Option option = parse_options(std::string(kCacheOption) + " " + text + "\n", "gpgpusim.config").at(0);
  const Context context(config::GpuConfig{}, {&option});
  return cache_string(context, kCacheOption);
}
std::string cache_error(const std::string& text) {
  return test::error_of([&] { (void)read_cache(text); });
}

TEST_CASE("cache string: every field has its place, with the sector mark, hash, queue and port or without") {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t sets = 1 + below(1024), line = 1u << (4 + below(4)), ways = 1 + below(512);
    const std::uint32_t mshrs = below(1000), merges = below(100), port = below(256);
    const char mark = "NS-"[below(3)], replacement = "LF"[below(2)], allocate = "NWFL"[below(4)];
    std::string text = mark == '-' ? "" : std::string{mark, ':'};
    text += std::to_string(sets) + ":" + std::to_string(line) + ":" + std::to_string(ways);
    text += std::string{','} + replacement + ":T:m:" + allocate + (below(2) ? ":L" : "");
    text += ",A:" + std::to_string(mshrs) + ":" + std::to_string(merges);
    const std::uint32_t rest = below(3);
    if (rest > 0) text += ",16:0";
    if (rest > 1) text += "," + std::to_string(port);
    CAPTURE(text);
    const auto cache = read_cache(text);
    REQUIRE(cache);
    REQUIRE(cache->sectored == (mark == 'S'));
    REQUIRE(cache->sets == sets);
    REQUIRE(cache->line_bytes == line);
    REQUIRE(cache->ways == ways);
    REQUIRE(cache->bytes() == std::uint64_t{sets} * line * ways);
    REQUIRE(cache->fifo == (replacement == 'F'));
    REQUIRE(cache->write_allocate == allocate);
    REQUIRE(cache->mshrs == mshrs);
    REQUIRE(cache->merges == merges);
    REQUIRE(cache->port_bytes == (rest > 1 ? port : 0));
  }
  CHECK_FALSE(read_cache("none"));
}

TEST_CASE("cache string: those that Accel-Sim ships for V100 and RTX 3070, by hand") {
  const auto l1 = read_cache("S:4:128:64,L:T:m:L:L,A:512:8,16:0,32");
  REQUIRE(l1);
  CHECK(l1->sectored);
  CHECK(l1->bytes() == 32 << 10);
  CHECK(l1->mshrs == 512);
  CHECK(l1->port_bytes == 32);
  const auto l2 = read_cache("S:32:128:24,L:B:m:L:P,A:192:4,32:0,32");
  REQUIRE(l2);
  CHECK(l2->bytes() == 96 << 10);  // of 64 slices: 6 MiB
}

TEST_CASE("cache string: broken ones are an error that names file, line, option and form") {
  const std::string good = "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32";
  const std::vector<std::string> broken{
      "",
      ",",
      "S:4:128:64",
      "S:4:128:64,L:T:m:L:L",
      good + ",1",
      "S:4:128,L:T:m:L:L,A:512:8",  // the mark is read as the number of sets
      "1:2:3:4:5,L:T:m:L:L,A:512:8",
      "S:0:128:64,L:T:m:L:L,A:512:8",
      "S:-4:128:64,L:T:m:L:L,A:512:8",
      "S:4:128:64x,L:T:m:L:L,A:512:8",
      "S:4:99999999999999999999:64,L:T:m:L:L,A:512:8",
      "S:4:1048577:64,L:T:m:L:L,A:512:8",
      "S:4:128:64,LRU:T:m:L:L,A:512:8",
      "S:4:128:64,L:T:m,A:512:8",
      "S:4:128:64,L:T:m::L,A:512:8",
      "S:4:128:64,L:T:m:L:L:L,A:512:8",
      "S:4:128:64,L:T:m:L:L,A:512",
      "S:4:128:64,L:T:m:L:L,A:512:8:9",
      "S:4:128:64,L:T:m:L:L,A::8",
      "S:4:128:64,L:T:m:L:L,A:512:8,16:0,",
      "S:4:128:64,L:T:m:L:L,A:512:8,16:0,many",
  };
  for (const std::string& text : broken) {
    CAPTURE(text);
    const std::string error = cache_error('"' + text + '"');
    CHECK(error.find("gpgpusim.config:1") != std::string::npos);
    CHECK(error.find(kCacheOption) != std::string::npos);
    CHECK(error.find("expected") != std::string::npos);
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("cache string: whatever is done to a text, it is read or refused") {
  std::mt19937 random(5);
  const std::string good = "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32";
  unsigned read = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = ":,SLA0129"[random() % 9];
          break;
        case 1:
          text.insert(at, 1, ":,SLA0129"[random() % 9]);
          break;
        default:
          text.erase(at, 1);
      }
    }
    try {
      const auto cache = read_cache(text);
      REQUIRE(cache);
      REQUIRE(cache->bytes() > 0);
      ++read;
    } catch (const UserError&) {
      ++refused;
    }
  }
  CHECK(read > 500);
  CHECK(refused > 500);
}

}  // namespace
}  // namespace lockstep::accelsim
