// Options and errors of the generator.
#include <fmt/format.h>

#include <set>

#include "support.hpp"
#include "synth/synth.hpp"

using namespace lockstep;
using namespace lockstep::synth;

TEST_CASE("wrong options are refused with what was found and what is expected") {
  std::string names;
  for (const Kind* kind : kinds()) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind->name);
  CHECK(complaint("streamin", {}) == "synth: found kind 'streamin', expected one of " + names);
  CHECK(complaint("streaming", {{"cta", "3"}}) ==
        "synth streaming: found option 'cta', expected one of ctas, threads, compress, tracer-version, arch, "
        "line-info");
  CHECK(complaint("streaming", {{"ctas", "0"}}) ==
        "synth streaming: ctas: found '0', expected a whole number from 1 to 16777216");
  for (const char* value : {"", "-1", "1.5", "0x10", "1k", " 1", "99999999999999999999"})
    CHECK(complaint("streaming", {{"ctas", value}}).find("expected a whole number") != std::string::npos);
  CHECK(complaint("pipe", {{"op", "HGMMA.64x128x16.F32"}, {"chains", "4"}}) ==
        "synth pipe: chains: found 4 of HGMMA.64x128x16.F32, expected that their results fit 255 registers");
  CHECK(complaint("streaming", {{"threads", "1025"}}).find("from 1 to 1024") != std::string::npos);
  CHECK(complaint("streaming", {{"compress", "bz2"}}) ==
        "synth streaming: compress: found 'bz2', expected one of none|gz|xz|zst");
  CHECK(complaint("streaming", {{"compress", "none|gz"}}).find("found 'none|gz'") != std::string::npos);
  CHECK(complaint("streaming", {{"tracer-version", "6"}}).find("from 1 to 5") != std::string::npos);
  CHECK(complaint("streaming", {{"tracer-version", "3"}, {"line-info", "1"}}) ==
        "synth: line-info: found 1 with tracer-version 3, expected 4 or later");
  CHECK(complaint("pointer_chase", {{"stride", "12"}}) ==
        "synth pointer_chase: stride: found 12, expected a multiple of 8");
  CHECK(complaint("barriers", {{"pattern", "pairs"}, {"threads", "96"}}) ==
        "synth barriers: threads: found 96, expected an even number of warps with pattern pairs");
}

TEST_CASE("defaults lie within their own ranges and names are unique") {
  for (const Kind* kind : kinds()) {
    INFO(kind->name);
    CHECK_FALSE(kind->summary.empty());
    std::set<std::string_view> names;
    Options defaults;
    for (const auto options : {kind->options, common_options()})
      for (const OptionSpec& o : options) {
        CHECK(names.insert(o.name).second);
        CHECK_FALSE(o.help.empty());
        defaults[std::string(o.name)] = std::string(o.default_value);
      }
    CHECK_NOTHROW(SynthOptions(*kind, defaults));
  }
}

TEST_CASE("folders that cannot be written are one clear error") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH(synthesize("chain", {}, "/proc/nowhere/t"),
                    Catch::Contains("/proc/nowhere/t: cannot make the folder"));
  std::filesystem::create_directories(folder / "t/kernel-1.traceg");
  CHECK_THROWS_WITH(synthesize("chain", {}, folder / "t"),
                    Catch::Contains("kernel-1.traceg: cannot be written"));
}

TEST_CASE("a full disk is an error, compressed or not") {
  if (!std::filesystem::exists("/dev/full")) return;
  for (const char* compress : {"none", "gz", "xz", "zst"}) {
    INFO(compress);
    TemporaryFolder folder;
    std::filesystem::create_directories(folder / "t");
    const std::string suffix = compress == std::string("none") ? "" : fmt::format(".{}", compress);
    std::filesystem::create_symlink("/dev/full", folder / ("t/kernel-1.traceg" + suffix));
    // Small enough for the error to come only at the end, and large enough for it to come before.
    for (const char* iterations : {"2", "400"})
      CHECK_THROWS_AS(synthesize("chain", {{"compress", compress}, {"iterations", iterations}}, folder / "t"),
                      UserError);
  }
}
