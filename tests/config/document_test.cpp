// Explanations and docs/config.md.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "config/config.hpp"
#include "config/schema.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::config;
using lockstep::config::test::error_of;

TEST_CASE("docs/config.md is the generated text") {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/config.md", std::ios::binary);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  INFO("regenerate with: lockstep config --markdown > docs/config.md");
  CHECK((text.str() == markdown()));
}

TEST_CASE("an explanation has value, meaning, type, range, default and source") {
  const GpuConfig c = resolve("a100", {"l1.mshrs=99"});
  CHECK(explain("l1.bytes", c) ==
        "l1.bytes = 196608 B\n"
        "    unified L1 data cache and shared memory of an SM\n"
        "    type: integer, B\n"
        "    allowed: 4096 to 4194304 B\n"
        "    default: 131072 B\n"
        "    source: GA100 whitepaper\n");
  CHECK(explain("l1.mshrs", c).find("source: set by the user") != std::string::npos);
  CHECK(explain("core.clock_mhz", c).starts_with("clock.core_khz = 1410000 kHz\n"));
  CHECK(explain("core.clock_mhz", c).find("also written: clock.core_mhz, core.clock_mhz (in MHz)") !=
        std::string::npos);
}

TEST_CASE("a group is explained key by key, nothing else") {
  const GpuConfig c;
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
}
