#include "stats/compare.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "stats/files.hpp"
#include "stats/report.hpp"
#include "tests/stats/samples.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

struct Compared {
  bool different = false;
  std::string text;
};

Compared compare_texts(const std::string& a, const std::string& b, const CompareOptions& options = {}) {
  const TemporaryFolder folder;
  // not write_file: it waits for the disk, and there are thousands of these
  std::ofstream(folder / "a.json") << a;
  std::ofstream(folder / "b.json") << b;
  Compared result;
  result.text = compare({{folder / "a.json", {}}, {folder / "b.json", {}}}, options, result.different);
  return result;
}

Compared compare_reports(const RunReport& a, const RunReport& b, const CompareOptions& options = {}) {
  return compare_texts(to_json(a), to_json(b), options);
}

nlohmann::json differences(const RunReport& a, const RunReport& b, double tolerance = 0) {
  return nlohmann::json::parse(compare_reports(a, b, {tolerance, true}).text)["differences"];
}

}  // namespace

TEST_CASE("equal reports compare equal, folders too") {
  const TemporaryFolder folder;
  write_outputs(folder / "a", sample_report(), {});
  write_outputs(folder / "b", sample_report(), {});
  bool different = true;
  CHECK(compare({{folder / "a", {}}, {folder / "b/stats.json", {}}}, {}, different).find("no difference") !=
        std::string::npos);
  CHECK(!different);
}

TEST_CASE("one unit in a large counter is a difference") {
  RunReport a = sample_report(), b = a;
  a.kernels[1].counters.mem.dram_bytes = 9007199254740993;  // 2^53 + 1: no double
  b.kernels[1].counters.mem.dram_bytes = 9007199254740992;
  a.kernels[0].counters.mem.dram_bytes = 1;  // the totals are equal, too
  b.kernels[0].counters.mem.dram_bytes = 2;
  const auto found = differences(a, b);
  REQUIRE(found.size() == 2);
  CHECK(found[1] == nlohmann::json({{"where", "kernel 2 kernel_2"},
                                    {"counter", "dram.bytes"},
                                    {"a", 9007199254740993},
                                    {"b", 9007199254740992}}));
  CHECK(compare_reports(a, b).different);
  CHECK(compare_reports(a, b).text.find("9,007,199,254,740,993") != std::string::npos);
}

TEST_CASE("every counter of a kernel is compared") {
  const RunReport a = sample_report(1);
  for (std::size_t word = 0; word < sizeof(KernelCounters) / 8; ++word) {
    RunReport b = a;
    reinterpret_cast<std::uint64_t*>(&b.kernels[0].counters)[word] += 1;
    CHECK(compare_reports(a, b).different);
  }
}

TEST_CASE("the tolerance is relative") {
  RunReport a = sample_report(1), b = a;
  a.kernels[0].counters.icnt.flits = 1000;
  b.kernels[0].counters.icnt.flits = 1010;
  CHECK(differences(a, b, 0.0098).size() == 2);  // the kernel's and the total's: 10 / 1010 = 0.0099
  CHECK(differences(a, b, 0.01).empty());
}

TEST_CASE("missing kernels, other names and cut-short runs are differences") {
  const RunReport a = sample_report(3);
  RunReport b = a;
  b.kernels.pop_back();
  CHECK(compare_reports(a, b).text.find("kernel 3 kernel_3: only in A") != std::string::npos);
  CHECK(compare_reports(b, a).text.find("kernel 3 kernel_3: only in B") != std::string::npos);
  CHECK(compare_reports(b, a).different);
  b = a;
  b.partial = true;
  CHECK(compare_reports(a, b).different);
  b = a;
  b.remarks.push_back("another");
  CHECK(compare_reports(a, b).different);
  b = a;
  b.version = "1.0.0";  // named, but no difference in the results
  CHECK(!compare_reports(a, b).different);
}

TEST_CASE("values are counted in the sections that two runs have, and what one of them lacks beside these") {
  // Files written by hand: totals of two and three values, of which one is the same, and a kernel in one
  // only.
  const std::string head = "{\"schema\":1,\"trace\":{},\"copies\":[],", kernel = "{\"id\":1,\"name\":\"k\"";
  const std::string with =
      head + "\"kernels\":[" + kernel + ",\"x\":1,\"y\":2,\"z\":3}],\"total\":{\"p\":1,\"q\":2}}";
  const std::string without = head + "\"kernels\":[],\"total\":{\"p\":1,\"q\":3,\"r\":4}}";
  for (const bool first : {true, false}) {
    CAPTURE(first);
    const auto json =
        nlohmann::json::parse(compare_texts(first ? with : without, first ? without : with, {0, true}).text);
    CHECK(json["values"] == 3);     // p, q, r
    CHECK(json["different"] == 2);  // q, and r, which one lacks
    REQUIRE(json["lone"].size() == 1);
    CHECK(json["lone"][0]["only_in"] == (first ? "A" : "B"));
    CHECK(json["lone"][0]["sections"] == 1);
  }
}

TEST_CASE("of three runs, what the first lacks is compared between the others") {
  const TemporaryFolder folder;
  std::vector<ComparedRun> runs;
  for (unsigned i = 0; i < 3; ++i) {
    RunReport report = sample_report(i == 0 ? 1 : 2);
    if (i == 2) report.kernels[1].cycles += 1;
    runs.push_back({folder / std::string(1, static_cast<char>('a' + i)), {}});
    write_outputs(runs.back().path, report, {});
  }
  bool different = false;
  const auto json = nlohmann::json::parse(compare(runs, {0, true}, different));
  CHECK(json["different"] <= json["values"]);
  CHECK(json["lone"][0]["only_in"] == "B, C");
  bool found = false;
  for (const auto& d : json["differences"])
    found =
        found || (d["where"] == "kernel 2 kernel_2" && d.contains("counter") && d["counter"] == "cycles" &&
                  d["a"].is_null() && d["c"] == d["b"].get<std::uint64_t>() + 1);
  CHECK(found);
}

TEST_CASE("kernels of the same id and name are matched one by one") {
  RunReport a = sample_report(2);
  a.kernels[1] = a.kernels[0];
  a.kernels[1].cycles += 5;
  CHECK(!compare_reports(a, a).different);
  RunReport b = a;
  std::swap(b.kernels[0], b.kernels[1]);
  CHECK(compare_reports(a, b).different);
}

TEST_CASE("several runs are compared with the first, side by side") {
  const TemporaryFolder folder;
  std::vector<ComparedRun> runs;
  for (unsigned i = 0; i < 4; ++i) {
    RunReport report = sample_report(2);
    if (i == 1 || i == 3) report.kernels[0].cycles = 4000 + 1000 * i;  // A and C: 6001
    if (i == 2) report.kernels.pop_back();
    const std::string path = folder / std::string(1, static_cast<char>('a' + i));
    write_outputs(path, report, {});
    runs.push_back({path, {}});
  }
  bool different = false;
  const auto json = nlohmann::json::parse(compare(runs, {0, true}, different));
  CHECK(different);
  CHECK(json["d"] == runs[3].path + "/stats.json");
  CHECK(json["different"] <= json["values"]);
  bool cycles = false, missing = false;
  for (const auto& d : json["differences"]) {
    if (d["where"] == "kernel 1 kernel_1" && d["counter"] == "cycles") {
      cycles = true;
      CHECK(d["a"] == 6001);
      CHECK(d["b"] == 5000);
      CHECK(d["c"] == 6001);
      CHECK(d["d"] == 7000);
    }
    if (d["where"] == "kernel 2 kernel_2") {
      missing = true;
      CHECK(d["only_in"] == "A, B, D");
    }
  }
  CHECK(cycles);
  CHECK(missing);
  const std::string text = compare(runs, {}, different);
  CHECK_THAT(text, Catch::Contains("kernel 2 kernel_2: only in A, B, D"));
  CHECK_THAT(text, Catch::Contains("5,000 (-16.68%)"));  // 5000 / 6001 = 0.8332
  CHECK_THROWS_AS(compare({{folder / "a", {}}}, {}, different), UserError);
  CHECK_THROWS_AS(compare(std::vector<ComparedRun>(27, {folder / "a", {}}), {}, different), UserError);
}

TEST_CASE("parameters are shown where they differ") {
  const TemporaryFolder folder;
  RunReport a = sample_report(1), b = a;
  b.overrides = {{"l1.ways", "8"}, {"sm.scheduler", "lrr"}};
  write_outputs(folder / "a", a, {});
  write_outputs(folder / "b", b, {});
  bool different = true;
  const auto parameters = [&](std::map<std::string, std::string> of_a,
                              std::map<std::string, std::string> of_b) {
    const std::string text =
        compare({{folder / "a", std::move(of_a)}, {folder / "b", std::move(of_b)}}, {0, true}, different);
    return nlohmann::json::parse(text)["parameters"];
  };
  const nlohmann::json scheduler = {{"name", "sm.scheduler"}, {"a", nullptr}, {"b", "lrr"}};
  CHECK(parameters({}, {}) == nlohmann::json({{{"name", "l1.ways"}, {"a", nullptr}, {"b", "8"}}, scheduler}));
  // With both whole configurations, those are what counts.
  CHECK(parameters({{"l1.ways", "4"}, {"l1.bytes", "64 KiB"}}, {{"l1.ways", "8"}, {"l1.bytes", "64 KiB"}}) ==
        nlohmann::json({{{"name", "l1.ways"}, {"a", "4"}, {"b", "8"}}}));
  CHECK(!different);  // what differs are parameters, no results
  b.gpu = "a100";
  write_outputs(folder / "b", b, {});
  CHECK(parameters({}, {})[0] == nlohmann::json({{"name", "gpu.name"}, {"a", "v100"}, {"b", "a100"}}));
}

TEST_CASE("broken files are named with line and byte") {
  const std::string good = to_json(sample_report(1));
  CHECK_THROWS_WITH(compare_texts(good, "{\n\"schema\":1,\n]"),
                    Catch::Contains("b.json:3: byte") && Catch::Contains("not valid JSON"));
  CHECK_THROWS_WITH(compare_texts("", good), Catch::Contains("a.json:1: byte 1"));
  CHECK_THROWS_WITH(compare_texts(good, "{}"), Catch::Contains("b.json: found no \"schema\""));
  CHECK_THROWS_WITH(compare_texts(good, "[]"), Catch::Contains("b.json: found no object"));
  CHECK_THROWS_WITH(compare_texts(good, "{\"schema\":3}"), Catch::Contains("found schema 3"));
  CHECK_THROWS_WITH(
      compare_texts(good, "{\"schema\":1,\"trace\":{},\"kernels\":[3],\"copies\":[],\"total\":{}}"),
      Catch::Contains("kernel 0 is no object"));
  CHECK_THROWS_WITH(compare_texts(good, "{\"schema\":1,\"trace\":{},\"kernels\":{}}"),
                    Catch::Contains("found no \"kernels\" of type array"));
  CHECK_THROWS_WITH(
      compare_texts(good, "{\"schema\":1,\"trace\":{},\"kernels\":[],\"copies\":[],\"total\":{\"x\":1e30}}"),
      Catch::Contains("\"x\" is 1e+30, more than 64 bits"));
  CHECK_THROWS_WITH(
      compare_texts(good, "{\"schema\":1,\"trace\":{},\"kernels\":[],\"copies\":[],\"total\":{\"x\":" +
                              std::string(100, '[') + std::string(100, ']') + "}}"),
      Catch::Contains("nested too deeply"));
  bool different = false;
  CHECK_THROWS_AS(compare({{"/nonexistent/x", {}}, {"/nonexistent/y", {}}}, {}, different), UserError);
}

TEST_CASE("mutated files give a comparison or a UserError, nothing else") {
  const std::string good = to_json(sample_report(1));
  std::mt19937 random(1);
  unsigned refused = 0, read = 0;
  for (unsigned round = 0; round < 1500; ++round) {
    std::string bad = good;
    for (unsigned i = 0; i <= round % 4; ++i) {
      const std::size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0:
          bad[at] = static_cast<char>(random());
          break;
        case 1:
          bad.resize(at + 1);
          break;
        case 2:
          bad.erase(at, random() % 40);
          break;
        default:
          bad.insert(at, bad.substr(random() % bad.size(), random() % 40));
          break;
      }
      if (bad.empty()) bad = "{";
    }
    try {
      (void)compare_texts(good, bad, {0, round % 2 == 0});
      ++read;
    } catch (const UserError&) {
      ++refused;
    }
  }
  CHECK(read > 50);
  CHECK(refused > 500);
}

}  // namespace lockstep::stats
