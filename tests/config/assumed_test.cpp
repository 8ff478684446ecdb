// Assumed values of a configuration, and multiples of values.
#include "config/assumed.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "config/config.hpp"
#include "config/value.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

using Catch::Matchers::Contains;

Multiple multiple_of(const std::string& key, const GpuConfig& config, std::uint64_t numerator,
                     std::uint64_t denominator = 1) {
  return multiple(*find(key).parameter, config, numerator, denominator);
}

TEST_CASE("assumed values are those whose comment says so, where it is the last word on the value") {
  const lockstep::test::TemporaryFolder folder;
  folder.write(
      "base.ini",
      "[l1]\nmshrs = 70 ; assumed\nhit_latency = 30 ; measured\nbytes = 131072 ; as assumed by all\n");
  const std::string top = folder.write(
      "top.ini", "include = base.ini\n[l1]\nhit_latency = 31 ; assumed: a round number\nmshrs = 71\n");
  const Resolved resolved = resolve_with_origins(top, {}, {"l1.bytes=262144"});
  std::set<std::string> keys;
  std::string before;
  for (const AssumedValue& value : assumed_values(resolved)) {
    if (value.origin.place.starts_with(folder.path().string())) keys.insert(value.parameter->key);
    CHECK_THAT(value.origin.note, Contains("assumed"));
  }
  // mshrs is set again without a comment, bytes by --set.
  CHECK(keys == std::set<std::string>{"l1.hit_latency"});
}

TEST_CASE("assumed values come in the order of the schema, each once") {
  const Resolved resolved = resolve_with_origins("a100");
  const auto values = assumed_values(resolved);
  REQUIRE(values.size() > 10);
  for (std::size_t i = 1; i < values.size(); ++i) CHECK(values[i - 1].parameter < values[i].parameter);
  std::size_t expected = 0;
  for (const auto& [key, origin] : resolved.origins)
    expected += origin.note.find("assumed") != std::string::npos;
  CHECK(values.size() == expected);
}

TEST_CASE("a multiple of a value is rounded down, with its unit, and can be assigned") {
  GpuConfig c;
  c.l1.mshrs = 75;
  CHECK(multiple_of("l1.mshrs", c, 2).value == "150");
  CHECK(multiple_of("l1.mshrs", c, 1, 2).value == "37");
  CHECK(multiple_of("l1.mshrs", c, 3, 2).value == "112");
  CHECK(multiple_of("l1.mshrs", c, 2).reason.empty());
  CHECK(c.l1.mshrs == 75);
  c.clock.core_khz = 1'380'000;
  const Multiple half = multiple_of("clock.core_khz", c, 1, 2);
  CHECK(half.value == "690000 kHz");
  set_value(*find("clock.core_khz").parameter, c, half.value);
  CHECK(c.clock.core_khz == 690'000);
}

TEST_CASE("a multiple that cannot be given has a reason") {
  GpuConfig c;
  const auto reason = [&](const char* key, std::uint64_t numerator, std::uint64_t denominator = 1) {
    const Multiple found = multiple_of(key, c, numerator, denominator);
    CHECK(found.value.empty());
    return found.reason;
  };
  CHECK(reason("rf.cache", 2) == "a choice, not a number");
  CHECK(reason("gpu.name", 2) == "a choice, not a number");
  CHECK(reason("l1.shared_carveouts_kib", 2) == "a choice, not a number");
  c.tlb.miss_latency = 0;
  CHECK(reason("tlb.miss_latency", 2) == "0 has no half and no double");
  c.l1.ways = 300;
  CHECK(reason("l1.ways", 2) == "600 is out of range, 1 to 512");
  c.l1.ways = 1;
  CHECK(reason("l1.ways", 1, 2) == "0 is out of range, 1 to 512");
  c.host.bytes_per_second = 1ull << 40;
  CHECK(reason("host.bytes_per_second", 1ull << 24) == "out of range");  // beyond 64 bits
  CHECK_THAT(reason("host.bytes_per_second", (1ull << 24) - 1), Contains(" is out of range, "));
  c.dram.row_bytes = 2048;
  CHECK(multiple_of("dram.row_bytes", c, 2).value == "4096 B");
  CHECK(reason("dram.row_bytes", 3, 2) == "3072 is out of range, a power of two from 256 to 65536 B");
}

}  // namespace
}  // namespace lockstep::config
