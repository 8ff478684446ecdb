// `lockstep config --assumed`: values that have not been measured, and their effect.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "paths.hpp"
#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::json;

/// v100 with a name of its own, of which these values are said to be assumed, and nothing else.
std::string small_gpu(const Folder& folder) {
  const std::map<std::string, std::string> notes = {{"l1.hit_latency", "assumed: for this test"},
                                                    {"frontend.branch_latency", "measured"},
                                                    {"pipe.nop.latency", "assumed: the least"},
                                                    {"l2.replacement", "assumed: a choice"}};
  std::istringstream in(run({"config", "v100"}).out);
  const std::string file = folder / "mine.ini";
  std::ofstream out(file);
  std::string group;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("[")) group = line.substr(1, line.find(']') - 1);
    const auto note = notes.find(group + "." + line.substr(0, line.find(" =")));
    out << (line == "name = v100" ? "name = mine" : line) << (note == notes.end() ? "" : " ; " + note->second)
        << "\n";
  }
  return file;
}

std::uint64_t cycles_with(const std::string& gpu, const std::string& assignment) {
  return Json::parse(run({"run", kChain, "-c", gpu, "--set", assignment, "--json"}).out)["total_cycles"]
      .get<std::uint64_t>();
}

}  // namespace

TEST_CASE("config --assumed lists the values whose source says so, in the order of the schema") {
  const Folder folder;
  const std::string gpu = small_gpu(folder);
  const Finished text = run({"config", gpu, "--assumed"});
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Catch::Contains("3 of "));
  CHECK_THAT(text.out, Catch::Contains("l1.hit_latency = 28 cycles ; assumed: for this test ("));
  CHECK(text.out.find("branch_latency") == std::string::npos);
  const Json json = Json::parse(run({"config", gpu, "--assumed", "--json"}).out);
  REQUIRE(json["assumed"].size() == 3);
  CHECK(json["assumed"][0]["key"] == "pipe.nop.latency");
  CHECK(json["assumed"][1]["key"] == "l1.hit_latency");
  CHECK(json["assumed"][2]["key"] == "l2.replacement");
  CHECK(json["assumed"][1]["source"] == "assumed: for this test");
  CHECK(!json["assumed"][1].contains("half"));
  // What the user sets is no longer assumed.
  CHECK(Json::parse(run({"config", gpu, "--assumed", "--json", "--set", "l1.hit_latency=30"}).out)["assumed"]
            .size() == 2);
}

TEST_CASE("config --influence gives the cycles that runs with half and double of the value give") {
  const Folder folder;
  const std::string gpu = small_gpu(folder);
  const Finished first = run({"config", gpu, "--assumed", "--influence", kChain, "--json"});
  REQUIRE(first.code == 0);
  CHECK(run({"config", gpu, "--assumed", "--influence", kChain, "--json"}).out == first.out);
  const Json json = Json::parse(first.out);
  CHECK(json["traces"][0]["cycles"] == cycles_with(gpu, "l1.hit_latency=28"));
  const auto row = [&](const std::string& key) {
    return *std::find_if(json["assumed"].begin(), json["assumed"].end(),
                         [&](const Json& r) { return r["key"] == key; });
  };
  const Json latency = row("l1.hit_latency");
  CHECK(latency["half"]["value"] == "14 cycles");
  CHECK(latency["half"]["cycles"][0] == cycles_with(gpu, "l1.hit_latency=14"));
  CHECK(latency["double"]["cycles"][0] == cycles_with(gpu, "l1.hit_latency=56"));
  CHECK_THAT(row("pipe.nop.latency")["half"]["reason"].get<std::string>(),
             Catch::Contains("0 is out of range"));
  CHECK(row("l2.replacement")["double"]["reason"] == "a choice, not a number");
  const Finished text = run({"config", gpu, "--assumed", "--influence", kChain});
  CHECK_THAT(text.out, Catch::Contains("    half   14 cycles:  chain ") &&
                           Catch::Contains("none: a choice, not a number"));
}

TEST_CASE("config --assumed with what it has no use for is refused") {
  CHECK(run({"config", "v100", "--influence", kChain}).code == 2);
  CHECK(run({"config", "v100", "--assumed", "--explain", "l1"}).code == 2);
  CHECK(run({"config", "hgx_a100_4", "--assumed"}).code == 2);
  CHECK(run({"config", "v100", "--assumed", "--influence", "/none"}).code == 2);
}

}  // namespace lockstep::cli
