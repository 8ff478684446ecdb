// Explanations and docs/config.md.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/markdown.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"
#include "helpers.hpp"
#include "paths.hpp"

using namespace lockstep;
using namespace lockstep::config;
using lockstep::config::test::error_of;
using lockstep::config::test::TemporaryFolder;

namespace {

std::string page(const std::string& name) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/" + name, std::ios::binary);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("docs/config.md is the generated text") {
  INFO("regenerate with: ./dev docs");
  CHECK((page("config.md") == markdown()));
}

TEST_CASE("docs/config/NAME.md has the values and sources of each GPU") {
  for (const BundledConfig& p : gpu_models()) {
    INFO("regenerate with: ./dev docs; " << p.name);
    const std::string text = page("config/" + std::string(p.name) + ".md");
    CHECK((text == markdown_of(resolve_with_origins(std::string(p.name)), p.title)));
  }
  CHECK_THAT(page("config/a100.md"), Catch::Contains("\n| `bytes` | 196608 B | GA100 whitepaper |\n"));
}

TEST_CASE("an explanation has value, meaning, type, range, default and source") {
  const Resolved c = resolve_with_origins("a100", {}, {"l1.mshrs=99"});
  CHECK_THAT(explain("l1.bytes", c),
             Catch::StartsWith("l1.bytes = 196608 B\n"
                               "    unified L1 data cache and shared memory of an SM\n"
                               "    type: integer, B\n"
                               "    allowed: 4096 to 4194304 B\n"
                               "    default: 131072 B\n"
                               "    source: GA100 whitepaper\n    set in: configs/a100.ini:"));
  CHECK_THAT(explain("l1.mshrs", c), Catch::EndsWith("    source: set by the user\n    set in: --set\n"));
  CHECK(explain("core.clock_mhz", c).starts_with("clock.core_khz = 1410000 kHz\n"));
  CHECK(explain("core.clock_mhz", c).find("also written: clock.core_mhz, core.clock_mhz (in MHz)") !=
        std::string::npos);
}

TEST_CASE("a group is explained key by key, nothing else") {
  const Resolved c = resolve_with_origins("v100");
  const auto count = [](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find("    type: ", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(count(explain("pipe.fp32", c)) == 3);
  CHECK(count(explain("rf", c)) == 4);
  CHECK(count(explain("", c)) == schema().size());
  CHECK(explain("l1", c).find("l1i") == std::string::npos);
  CHECK(error_of([&] { (void)explain("l3", c); }).starts_with("no parameter or group 'l3'; did you mean '"));
  CHECK(error_of([&] { (void)explain("l1.byte", c); }) ==
        "no parameter or group 'l1.byte'; did you mean 'l1.bytes'?");
  CHECK(error_of([&] { (void)explain("hit_lat", c); }) ==
        "no parameter or group 'hit_lat'; did you mean 'l1.hit_latency'?");
  CHECK(error_of([&] { (void)explain("trcd", c); }) ==
        "no parameter or group 'trcd'; did you mean 'dram.tRCD'?");
  CHECK(error_of([&] { (void)explain("shuffle", c); }) ==
        "no parameter or group 'shuffle'; did you mean one of mio.shuffle_latency, mio.shuffle_interval?");
  CHECK_THAT(error_of([&] { (void)explain("latency", c); }), Catch::Matches(".* \\(and [0-9]+ more\\)\\?"));
}

TEST_CASE("each value says where it was set, and the comment there") {
  const TemporaryFolder folder;
  const std::string part = folder.write("part.ini", "[l1]\nmshrs = 77 ; counted by me\n");
  const std::string file = folder.write("mine.ini",
                                        "include = rtxa6000\ninclude = part.ini\n[gpu]\nname = a100\n"
                                        "[l1]\ntags_per_cycle = 9 # Smith 2024, figure 3\n");
  const Resolved c = resolve_with_origins(file, {{"sm.subcores", "4", "-option 4", "other.config", 12}},
                                          {"l1.hit_latency=35"});
  const auto check = [&](const char* key, const std::string& source, const std::string& place) {
    CAPTURE(key);
    CHECK_THAT(explain(key, c), Catch::EndsWith("    source: " + source + "\n    set in: " + place + "\n"));
  };
  check("l1.tags_per_cycle", "Smith 2024, figure 3", file + ":6");
  check("l1.mshrs", "counted by me", part + ":2");
  check("gpu.name", "none given", file + ":4");
  check("l1.hit_latency", "set by the user", "--set");
  check("sm.subcores", "-option 4", "other.config:12");
  // Of the included GPU models, whatever the GPU calls itself.
  CHECK_THAT(explain("gpu.sms", c),
             Catch::Contains("source: GA102 whitepaper, RTX A6000\n    set in: configs/rtxa6000.ini:"));
  CHECK_THAT(explain("dram.tRTP", c), Catch::Contains("source: Ramulator 2: 2.3 ns\n"));
}

TEST_CASE("what no file sets is v100's value") {
  const TemporaryFolder folder;
  const Resolved c = resolve_with_origins(folder.write("mine.ini", "[l1]\nmshrs = 77\n"));
  CHECK_THAT(explain("gpu.sms", c),
             Catch::EndsWith("source: Volta whitepaper\n    set in: no file: as in v100\n"));
  const GpuConfig v100 = resolve("v100");
  for (const Parameter& p : schema()) {
    CAPTURE(p.key);
    if (p.key != "l1.mshrs") CHECK(value_text(p, c.config) == value_text(p, v100));
  }
}
