// A stats.json that is read again: values by their paths, sections by their keys, and what is refused.
#include "stats/stored_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/stats/samples.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

using Catch::Contains;
using Found = nlohmann::ordered_json;

StoredRun load_text(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "stats.json") << text;
  return load_run(folder.path());
}

/// The least that is a stats.json, with more members before its end.
std::string least(const std::string& more = "", const std::string& kernels = "[]") {
  return R"({"schema":1,"gpu":"v100","trace":{"name":"t"},"kernels":)" + kernels +
         R"(,"copies":[],"total":{})" + more + "}";
}

const Section& section_of(const StoredRun& run, const std::string& key) {
  const auto found = std::ranges::find(run.sections, key, &Section::key);
  REQUIRE(found != run.sections.end());
  return *found;
}

Found value_of(const Section& section, const std::string& path) {
  for (const auto& [name, value] : section.values)
    if (name == path) return value;
  return nullptr;
}

std::string stored_refusal(const std::string& text) {
  try {
    (void)load_text(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("stored run: what was written has its sections in order, and its counters by their names") {
  const TemporaryFolder folder;
  RunReport report = sample_report(2);
  report.overrides = {{"l1.bytes", "64KiB"}};
  report.intervals.push_back({100, report.kernels[0].counters});
  write_outputs(folder.path(), report, {});
  const StoredRun run = load_run(folder.path());
  CHECK(run.file == folder / "stats.json");
  CHECK(load_run(folder / "stats.json").sections.size() == run.sections.size());
  CHECK(run.gpu == "v100");
  CHECK(run.overrides == std::map<std::string, std::string>{{"l1.bytes", "64KiB"}});
  CHECK_THAT(run.identity, Contains("v100 (configuration 0000000000000abc), trace vectoradd "
                                    "(ffffffffffffffff), lockstep 9.8.7"));
  std::vector<std::string> keys;
  for (const Section& section : run.sections) keys.push_back(section.key);
  CHECK(keys == std::vector<std::string>{"kernel 1 kernel_1/0", "kernel 2 kernel_2/0", "copy 0/0",
                                         "intervals", "total"});
  const Section& second = section_of(run, "kernel 2 kernel_2/0");
  CHECK(value_of(second, "cycles") == 6002);
  CHECK(value_of(second, "dram.bytes") == report.kernels[1].counters.mem.dram_bytes);
  CHECK(value_of(section_of(run, "intervals"), "columns[0]") == "end_cycle");
  CHECK(value_of(section_of(run, "intervals"), "rows[0][0]") == 100);
  CHECK(value_of(section_of(run, "copy 0/0"), "bytes") == 1 << 20);
  CHECK(value_of(section_of(run, "total"), "total_cycles") == 123456);
  CHECK(value_of(section_of(run, "total"), "remarks[0]") == "tensor maps are not traced");
}

TEST_CASE("stored run: kernels of the same id and name are numbered, with readable labels") {
  const StoredRun run = load_text(least(
      "", R"([{"id":3,"name":"_Z5scalePf"},{"id":3,"name":"_Z5scalePf"},{"id":4,"name":"_Z5scalePf"},{}])"));
  CHECK(run.sections[0].key == "kernel 3 _Z5scalePf/0");
  CHECK(run.sections[0].title == "kernel 3 _Z5scalePf");
  CHECK(run.sections[0].label == "kernel 3 scale");
  CHECK(run.sections[1].key == "kernel 3 _Z5scalePf/1");
  CHECK(run.sections[1].title == "kernel 3 _Z5scalePf (1 more of this id before)");
  CHECK(run.sections[2].key == "kernel 4 _Z5scalePf/0");
  CHECK(run.sections[3].key == "kernel ? ?/0");
}

TEST_CASE("stored run: what is not there is unknown; names of others are made printable") {
  const StoredRun run = load_text(
      "{\"schema\":2,\"gpu\":7,\"trace\":{\"name\":\"a\\u0007b\"},\"overrides\":{\"x\":1,\"y\":\"z\"},"
      "\"kernels\":[],\"copies\":[],\"total\":{\"a\":[1,{\"b\":null}]}}");
  CHECK(run.gpu == "?");
  CHECK_THAT(run.identity, Contains("trace a?b (?), lockstep ?"));
  CHECK(run.overrides == std::map<std::string, std::string>{{"x", "?"}, {"y", "z"}});
  REQUIRE(run.sections.size() == 1);
  CHECK(value_of(run.sections[0], "a[0]") == 1);
  REQUIRE(run.sections[0].values.size() == 2);
  CHECK(run.sections[0].values[1].first == "a[1].b");
}

TEST_CASE("stored run: whole numbers keep all 64 bits, and more than that is refused by its path") {
  const StoredRun run = load_text(least(R"(,"total_cycles":18446744073709551615)"));
  CHECK(value_of(section_of(run, "total"), "total_cycles") == 18446744073709551615u);
  CHECK_THAT(stored_refusal(least(R"(,"total_cycles":18446744073709551616)")),
             Contains(R"("total_cycles" is 1.844674)") && Contains("more than 64 bits"));
  CHECK_THAT(stored_refusal(least("", R"([{"l1":{"hits":[1,-2e19]}}])")),
             Contains(R"("l1.hits[1]" is -2e+19)"));
  CHECK(stored_refusal(least(R"(,"total_cycles":1.7e19)")).empty());
}

TEST_CASE("stored run: values may be 16 levels deep") {
  const auto nested = [](unsigned levels) {
    return least("", "[{\"a\":" + std::string(levels, '[') + "1" + std::string(levels, ']') + "}]");
  };
  CHECK(stored_refusal(nested(15)).empty());
  CHECK_THAT(stored_refusal(nested(16)), Contains("is nested too deeply"));
  for (const unsigned levels : {100u, 200'000u})
    CHECK_THAT(stored_refusal(nested(levels)),
               Contains("stats.json:1: byte ") && Contains("nested too deeply"));
  // Brackets in texts are no levels, also behind an escaped quotation mark.
  CHECK(stored_refusal(least(R"(,"note":"a\")" + std::string(300, '[') + R"(\\")")).empty());
}

TEST_CASE("stored run: what is no stats.json is refused, naming the file, the line, and what was expected") {
  struct Case {
    std::string text;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases{
      {"", {"stats.json:1", "byte 1", "not valid JSON"}},
      {"{\"schema\":1,\n\"gpu\":\n}", {"stats.json:3", "not valid JSON"}},
      {"[]", {"found no object, expected a stats.json of lockstep"}},
      {"{}", {"found no \"schema\" of type number"}},
      {R"({"schema":"1"})", {"found no \"schema\" of type number"}},
      {R"({"schema":-1})", {"found no \"schema\" of type number"}},
      {R"({"schema":3})", {"found schema 3, this program reads schemas 1 and 2"}},
      {R"({"schema":1,"kernels":[],"copies":[],"total":{}})", {"found no \"trace\" of type object"}},
      {R"({"schema":1,"trace":{},"kernels":{},"copies":[],"total":{}})",
       {"found no \"kernels\" of type array"}},
      {R"({"schema":1,"trace":{},"kernels":[],"total":{}})", {"found no \"copies\" of type array"}},
      {R"({"schema":1,"trace":{},"kernels":[],"copies":[],"total":[]})",
       {"found no \"total\" of type object"}},
      {least("", "[{},5]"), {"kernel 1 is no object"}},
  };
  for (const Case& c : cases) {
    const std::string message = stored_refusal(c.text);
    INFO(c.text);
    for (const std::string& part : c.expected) CHECK_THAT(message, Contains(part));
    CHECK_THAT(message, Contains("stats.json"));
  }
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(load_run(folder.path()), Contains("stats.json: cannot open"));
  CHECK_THROWS_WITH(load_run(folder / "missing"), Contains("missing: cannot open"));
}

TEST_CASE("stored run: the place at which a text is no JSON, in words of our own") {
  const auto message = [](const std::string& text) {
    const std::string refused = stored_refusal(text);
    return refused.substr(refused.find("stats.json"));
  };
  CHECK(message("{\"schema\":1,\n\"gpu\"") ==
        "stats.json:2: byte 19: not valid JSON: the file ends too early");
  CHECK_THAT(message("{}\n{}"),
             Catch::StartsWith("stats.json:2: byte 4: not valid JSON: found '") && Catch::EndsWith("{'"));
  CHECK(message("{\n\"a\":\n1e999}") == "stats.json:3: byte 12: not valid JSON: found '1e999'");
  CHECK(message("{\"a\":\"\\ud800x\"}") == "stats.json:1: byte 13: not valid JSON: found '\"\\ud800x'");
  CHECK(message("{\"a\":\"" + std::string(100, 'x') + "\n\"}") ==
        "stats.json:1: byte 107: not valid JSON: found '" + std::string(32, 'x') + "<U+000A>'");
}

}  // namespace lockstep::stats
