// What the program writes as JSON: stats.json against its schema, and --json of the commands.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/json_schema.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::json;

const Json& schema() {
  static const Json value = Json::parse(slurp(LOCKSTEP_SOURCE_DIR "/docs/stats.schema.json"));
  return value;
}

/// The stats.json of a run that ends with this code.
Json stats_of(std::vector<std::string> arguments, int code = 0) {
  const Folder folder;
  arguments.insert(arguments.begin() + 1, {"-q", "-o", folder / "out"});
  const Finished done = run(arguments);
  CAPTURE(arguments, done.err);
  REQUIRE(done.code == code);
  return Json::parse(slurp(folder / "out/stats.json"));
}

void check_valid(const Json& stats) {
  for (const std::string& error : schema_errors(schema(), stats)) FAIL_CHECK(error);
}

const std::string kTraces = LOCKSTEP_SOURCE_DIR "/traces/";

}  // namespace

TEST_CASE("docs/stats.schema.json is what the program says") {
  CHECK(run({"stats", "--schema"}).out == slurp(LOCKSTEP_SOURCE_DIR "/docs/stats.schema.json"));
}

TEST_CASE("stats.json of all kinds of runs is as its schema says") {
  SECTION("one device, copies and several kernels") { check_valid(stats_of({"run", kTraces + "mixed"})); }
  SECTION("a time series") {
    const Json stats = stats_of({"run", kTraces + "streaming", "--interval", "500"});
    CHECK(stats.contains("intervals"));
    check_valid(stats);
  }
  SECTION("another configuration, cut off") {
    const Json stats =
        stats_of({"run", kTraces + "sgemm", "-c", "a100", "--set", "l1.mshrs=64", "--max-cycles", "2000"});
    CHECK(stats["partial_reason"] == "max-cycles");
    CHECK(!stats["overrides"].empty());
    check_valid(stats);
  }
  SECTION("managed memory and its residency") {
    const Json stats = stats_of({"run", kTraces + "streaming", "--managed", "all", "--interval", "5000"});
    CHECK(stats["managed"].is_object());
    CHECK(!stats["managed"]["residency"].empty());
    check_valid(stats);
  }
  SECTION("opcodes that are not known") {
    const Folder folder;
    write_trace(folder / "t", {.last_lines = "00a0 ffffffff 1 R4 FRISBEE 1 R5 0 0 \n", .last_count = 1});
    const Json stats = stats_of({"run", folder / "t"});
    CHECK(stats["unknown_opcodes"].size() == 1);
    check_valid(stats);
  }
  SECTION("several devices, with links") {
    const Json stats = stats_of({"run", "-c", "dgx1_v100", "--gpus", "2", "--device",
                                 "0=" + kTraces + "chain", "--device", "1=" + kTraces + "mixed"});
    CHECK(stats["schema"] == 2);
    CHECK(!stats["system"]["links"].empty());
    check_valid(stats);
  }
  SECTION("samples of a run, and energy") {
    const Json stats = stats_of({"run", kTraces + "mixed", "-c", "v100", "--sample", "error=10%"});
    CHECK(stats.contains("sampling"));
    CHECK(stats["total"].contains("energy"));
    check_valid(stats);
  }
  SECTION("a program") {
    check_valid(stats_of(
        {"exec", "--", LOCKSTEP_DRIVER_EXAMPLE, LOCKSTEP_SOURCE_DIR "/examples/ptx/vector_add.ptx"}));
  }
}

TEST_CASE("the validator finds what is wrong") {
  const Json good = stats_of({"run", kTraces + "chain"});
  const auto errors = [&](const Json& patch) {
    Json bad = good;
    bad.merge_patch(patch);
    return schema_errors(schema(), bad);
  };
  CHECK(errors(Json::object()).empty());
  CHECK(errors({{"gpu", nullptr}}) == std::vector<std::string>{"$: no \"gpu\""});  // a patch of null removes
  CHECK(errors({{"total_cycles", "many"}}).size() == 1);
  CHECK(errors({{"total_cycles", -1}}).size() == 1);
  CHECK(errors({{"total", {{"l1", {{"hits", 1.5}}}}}}).size() == 1);
  CHECK(errors({{"partial_reason", "bored"}}).size() == 1);
  CHECK(errors({{"config_hash", "xyz"}}).size() == 1);
  CHECK(errors({{"total", {{"l1", {{"new", 1}}}}}}).front() ==
        "$.total.l1.new: the schema does not describe it (src/stats/schema.cpp)");
  CHECK(errors({{"kernels", {1}}}).size() == 1);
  CHECK(errors({{"schema", 3}}).size() == 1);
}

TEST_CASE("--json of run is stats.json itself") {
  const Folder folder;
  const Finished done = run({"run", kTraces + "chain", "--json", "-o", folder / "out"});
  REQUIRE(done.code == 0);
  CHECK(done.out == slurp(folder / "out/stats.json"));
  CHECK(run({"run", kTraces + "chain", "--json", "-t", "2"}).out == done.out);
  CHECK(run({"run", kTraces + "chain", "--json", "-q"}).code == 2);
}

TEST_CASE("--json of the other commands has what their text has") {
  const Json listed = Json::parse(run({"config", "--json"}).out);
  CHECK(listed["gpus"][0]["name"] == "v100");
  CHECK(!listed["systems"].empty());
  const Json v100 = Json::parse(run({"config", "v100", "--json"}).out);
  CHECK(v100["gpu"] == "v100");
  CHECK(v100["parameters"]["sm.max_ctas"]["value"] == "32");
  CHECK_THAT(run({"config", "v100"}).out, Catch::Contains(v100["config_hash"].get<std::string>()));
  const Json one =
      Json::parse(run({"config", "--explain", "l1.bytes", "--json", "--set", "l1.bytes=256 KiB"}).out);
  REQUIRE(one["parameters"].size() == 1);
  CHECK(one["parameters"]["l1.bytes"]["value"] == "262144");
  CHECK(one["parameters"]["l1.bytes"]["place"] == "--set");
  CHECK(run({"config", "--explain", "l1.nothing", "--json"}).code == 2);
  const Json statistics = Json::parse(run({"stats", "--json", "--explain", "l1.hits"}).out);
  CHECK(run({"stats", "l1.hits", "--json"}).out == run({"stats", "--json", "--explain", "l1.hits"}).out);
  REQUIRE(statistics["statistics"].size() == 1);
  CHECK(statistics["statistics"][0]["unit"] == "sectors");
  const std::string ptx = LOCKSTEP_SOURCE_DIR "/examples/ptx/vector_add.ptx";
  const Json lowered = Json::parse(run({"lower", ptx, "--json", "--code"}).out);
  const Json& kernel = lowered["kernels"][0];
  CHECK(kernel["code"].size() == kernel["instructions"]);
  CHECK_THAT(run({"lower", ptx}).out, Catch::Contains(kernel["name"].get<std::string>() + "\t" +
                                                      std::to_string(kernel["registers"].get<int>()) + "\t"));
}

}  // namespace lockstep::cli
