// Files that a report reads and that something else has written: one error each, which names the file and
// what was found.
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "report/profile_file.hpp"
#include "report/run.hpp"
#include "stats/report.hpp"
#include "util/error.hpp"

namespace lockstep::report {
namespace {

using Json = nlohmann::ordered_json;

/// A profile of one kernel of one instruction, on one sub-core.
Json profile() {
  stats::RunReport report;
  report.config_hash = 1;
  report.trace_hash = 2;
  report.codes = {{"k", {{16, "0 EXIT 0", "exit;", "a.cu", 3}}}};
  stats::KernelResult& kernel = report.kernels.emplace_back();
  kernel.profile.instructions.resize(1);
  kernel.profile.subcores.resize(1);
  return Json::parse(stats::profile_json(report));
}

std::string error_of_profile(const std::string& text) {
  try {
    (void)parse_profile(text, "p.json");
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

struct Row {
  std::function<void(Json&)> change;
  std::string message;
};

/// The place that `pointer` names takes `value`.
std::function<void(Json&)> at(const std::string& pointer, const Json& value) {
  return [=](Json& json) { json[Json::json_pointer(pointer)] = value; };
}
std::function<void(Json&)> without(const std::string& object, const std::string& key) {
  return [=](Json& json) { json[Json::json_pointer(object)].erase(key); };
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    Json json = profile();
    REQUIRE(error_of_profile(json.dump()) == "no error");
    row.change(json);
    INFO(row.message);
    CHECK(error_of_profile(json.dump()) == "p.json: " + row.message);
  }
}

}  // namespace

TEST_CASE("a profile whose parts are missing or of another type is named with what was found") {
  const std::string tail = ", expected a profile.json of lockstep";
  for (const std::string text : {"", "{", "nonsense", "{\"schema\":1} x"})
    CHECK(error_of_profile(text) == "p.json: not valid JSON" + tail);
  for (const std::string text : {"[]", "5", "null", "{}"})
    CHECK(error_of_profile(text) == "p.json: found no \"schema\" of type number" + tail);
  check({
      {at("/schema", 2), "found schema 2, this program reads schema 1"},
      {at("/schema", "1"), "found no \"schema\" of type number" + tail},
      {without("", "columns"), "found no \"columns\" of type array" + tail},
      {at("/columns/0", "other"), "found other columns than this program writes" + tail},
      {at("/columns", Json::array()), "found other columns than this program writes" + tail},
      {at("/subcore_columns/0", 5), "found other columns than this program writes" + tail},
      {at("/config_hash", 5), "found no \"config_hash\" of type string" + tail},
      {at("/trace", "x"), "found no \"trace\" of type object" + tail},
      {at("/codes", 1), "found no \"codes\" of type array" + tail},
      {at("/kernels", Json::object()), "found no \"kernels\" of type array" + tail},
  });
}

TEST_CASE("a profile in which a key is there twice is refused, whichever value would count") {
  std::string text = profile().dump();
  const std::string hash = "\"hash\":";
  text.insert(text.find(hash), hash + "\"first\",");
  CHECK(error_of_profile(text) == "p.json: found \"trace.hash\" twice, expected a profile.json of lockstep");
}

TEST_CASE("a profile's codes, rows and sub-cores are read only where they fit") {
  const std::string tail = ", expected a profile.json of lockstep";
  const auto columns = std::to_string(stats::profile_columns().size());
  const auto subcore_columns = std::to_string(stats::subcore_columns().size());
  check({
      {at("/codes/0", 7), "found no \"kernel\" of type string" + tail},
      {at("/codes/0/instructions/0/pc", -1), "found no \"pc\" of type number" + tail},
      {at("/codes/0/instructions/0/pc", std::uint64_t{1} << 32), "found a pc of 4294967296" + tail},
      {at("/codes/0/instructions/0/text", Json()), "found no \"text\" of type string" + tail},
      {at("/codes/0/instructions/0/line", "x"), "found \"x\" in place of a whole number" + tail},
      {at("/kernels/0/code", 1), "found code 1 of 1" + tail},
      {at("/kernels/0/rows", Json::array()), "found 0 rows for 1 instructions" + tail},
      {at("/kernels/0/rows/0", Json::array({1, 2})), "found a row without " + columns + " numbers" + tail},
      {at("/kernels/0/rows/0/3", 1.5), "found 1.5 in place of a whole number" + tail},
      {at("/kernels/0/rows/0/0", -1), "found -1 in place of a whole number" + tail},
      {at("/kernels/0/subcores/0", 1), "found a sub-core without " + subcore_columns + " numbers" + tail},
      {at("/kernels/0/subcores", 1), "found no \"subcores\" of type array" + tail},
  });
}

TEST_CASE("a line number beyond 32 bits is the largest one") {
  Json json = profile();
  json["codes"][0]["instructions"][0]["line"] = std::uint64_t{1} << 40;
  CHECK(parse_profile(json.dump(), "p").codes[0].instructions[0].source_line == 0xffffffffu);
}

TEST_CASE("values of a result are found by path, and what is missing or no number is named") {
  const Values values("f: kernel 1", Json::parse(R"({"a":{"b":1.5,"c":"x\u0007y","d":[1,2,3],"e":[1,2,3,4]},
                                                     "n":null,"t":true,"less":-5})"));
  const auto message = [](const auto& body) {
    try {
      body();
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(values.number("a.b") == 1.5);
  CHECK(values.number("a.d[2]") == 3);
  CHECK_FALSE(values.has("a.e[0]"));  // lists stay with those who walk over them
  CHECK(values.text("a.c") == "x?y");
  CHECK(values.number_if_any("a.z") == 0);
  CHECK(message([&] { (void)values.number("a.z"); }) ==
        "f: kernel 1 has no \"a.z\": the run is of another version of lockstep; simulate it again");
  CHECK(message([&] { (void)values.number("a.c"); }) ==
        "f: kernel 1: \"a.c\" is \"x\\u0007y\", expected a number");
  CHECK(message([&] { (void)values.number_if_any("n"); }) == "f: kernel 1: \"n\" is null, expected a number");
  CHECK(message([&] { (void)values.number("less"); }) ==
        "f: kernel 1: \"less\" is -5, expected a number of 0 or more");
  CHECK(message([&] { (void)values.text("t"); }) ==
        "f: kernel 1 has no text \"t\", expected a result of lockstep");
  Intervals intervals{{"end_cycle"}, {{5}}, "s.json"};
  CHECK(intervals.column("end_cycle") == 0);
  CHECK(message([&] { (void)intervals.column("x"); }) == "s.json: \"intervals\" has no column \"x\"");
}

}  // namespace lockstep::report
