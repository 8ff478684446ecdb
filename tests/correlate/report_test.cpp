// What `lockstep correlate` reads and writes: CSV by RFC 4180, JSON, tables, files of pairs, results of runs.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "correlate/correlation.hpp"
#include "correlate/csv.hpp"
#include "correlate/kernel_name.hpp"
#include "correlate/metrics.hpp"
#include "correlate/pairs_file.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

using Catch::Contains;
using Texts = std::vector<std::string>;

const Texts kAwkward{"",           "plain",          "a,b",      "say \"yes\"", "\"", "\"\"",
                     "two\nlines", "CR LF\r\nin it", " blanks ", ",",           "\n", "'",
                     "a\"b,c",     "\xc3\xa9"};

/// RFC 4180 with every field in quotes, as some programs write it.
std::string all_quoted(const std::vector<Texts>& rows) {
  std::string text;
  for (const Texts& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += '"';
      for (const char c : row[i]) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += i + 1 < row.size() ? "\"," : "\"\r\n";
    }
  return text;
}

std::string refused_pairs(const std::string& text) {
  try {
    (void)parse_pairs(text, "p.csv");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

Correlation of_pairs(std::vector<Pair> pairs) {
  Matched matched;
  matched.pairs = std::move(pairs);
  return correlate(std::move(matched), {});
}

SimulatedLaunch launch(const std::string& kernel, std::uint64_t id, std::map<std::string, double> counters) {
  return {kernel, id, {1, 1, 1}, {32, 1, 1}, std::move(counters)};
}

/// A stats.json that goes at the end of the test.
struct StatsFile {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("lockstep-correlate-" + std::to_string(getpid()));
  explicit StatsFile(const std::string& text) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "stats.json") << text;
  }
  ~StatsFile() { std::filesystem::remove_all(folder); }
  StatsFile(const StatsFile&) = delete;
  StatsFile& operator=(const StatsFile&) = delete;
};

}  // namespace

TEST_CASE("CSV: every field survives quoting") {
  std::vector<Texts> rows;
  for (const std::string& first : kAwkward)
    for (const std::string& second : kAwkward) rows.push_back({first, second, "x"});
  const auto parsed = parse_csv(all_quoted(rows), "f");
  REQUIRE(parsed.size() == rows.size());
  std::uint64_t line = 1;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    CHECK(parsed[r].fields == rows[r]);
    CHECK(parsed[r].line == line);
    line += 1 + count_of(rows[r][0] + rows[r][1], "\n");
  }
}

TEST_CASE("CSV: the last line needs no end, and an empty last field is one") {
  CHECK(parse_csv("a,b\n1,", "f").at(1).fields == Texts{"1", ""});
  CHECK(parse_csv("a,b\n1,\r\n", "f").at(1).fields == Texts{"1", ""});
  CHECK(parse_csv("a,b\n1,\"\"", "f").at(1).fields == Texts{"1", ""});
  CHECK(parse_csv(",", "f").at(0).fields == Texts{"", ""});
  CHECK(parse_csv("\n\n\r\n", "f").empty());
  CHECK(parse_csv("a\"b,c\n", "f").at(0).fields == Texts{"a\"b", "c"});  // a quote inside is text
}

TEST_CASE("pairs written as CSV are read again as they were") {
  std::vector<Pair> pairs;
  double value = 1.0 / 3;
  for (const std::string& text : kAwkward) {
    pairs.push_back({text, "k" + text, pairs.size(), 1 + pairs.size(), "c" + text, {value, value * 1e-9}});
    value *= 1234.567;
  }
  pairs.push_back({"p", "k", 0, 1, "c", {0, 5}});
  const auto again = parse_pairs(to_csv(of_pairs(pairs)), "f");
  REQUIRE(again.size() == pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    CHECK(again[i].program == pairs[i].program);
    CHECK(again[i].kernel == pairs[i].kernel);
    CHECK(again[i].launch == pairs[i].launch);
    CHECK(again[i].instances == pairs[i].instances);
    CHECK(again[i].counter == pairs[i].counter);
    CHECK(again[i].values.hardware == pairs[i].values.hardware);  // to the last bit
    CHECK(again[i].values.simulated == pairs[i].values.simulated);
  }
}

TEST_CASE("files of pairs: two columns are enough, mistakes are named by line") {
  const auto two = parse_pairs("simulated,note,hardware\n3,x,\"1,500\"\n", "p.csv");
  REQUIRE(two.size() == 1);
  CHECK(two[0].values.hardware == 1500);
  CHECK(two[0].values.simulated == 3);
  CHECK(two[0].counter == "value");
  CHECK(two[0].instances == 1);
  CHECK_THAT(refused_pairs(""),
             Contains("p.csv:1: found nothing, expected a header with hardware and simulated"));
  CHECK_THAT(refused_pairs("\nhardware,b\n1,2\n"),
             Contains("p.csv:2: expected a header with the columns hardware and simulated"));
  const auto row = [](const std::string& header, const std::string& values) {
    return refused_pairs("hardware,simulated" + header + "\n1,2" + (header.empty() ? "" : ",0") + "\n" +
                         values + "\n");
  };
  CHECK_THAT(row("", "1,x"), Contains("p.csv:3: simulated: found 'x', expected a number"));
  CHECK_THAT(row("", "nan,1"), Contains("p.csv:3: hardware: found 'nan', expected a number"));
  CHECK_THAT(row("", "1"), Contains("p.csv:3: simulated: found '', expected a number"));
  CHECK_THAT(row(",launch", "1,2,-1"), Contains("p.csv:3: launch: found '-1', expected a whole number"));
  CHECK_THAT(row(",launch", "1,2,1.5"), Contains("launch: found '1.5', expected a whole number"));
  CHECK_THAT(row(",instances", "1,2,1e17"), Contains("instances: found '1e17', expected a whole number"));
  CHECK(row(",instances", "1,2,9007199254740992") == "accepted");  // 2^53
}

TEST_CASE("JSON has every pair, and no error where the hardware has 0") {
  Correlation c = of_pairs({{"p", "k", 0, 1, "cycles", {100, 110}},
                            {"q", "k", 1, 4, "cycles", {0, 5}},
                            {"q", "k", 2, 1, "l1.hits", {0, 1}}});
  c.matched.unmatched = {"f:2: x"};
  c.matched.unmeasured = 7;
  c.unknown = {"m\"1"};
  const auto json = nlohmann::json::parse(to_json(c));
  CHECK(json["schema"] == 1);
  REQUIRE(json["by_counter"].size() == 2);
  CHECK(json["by_counter"][0]["values"] == 2);
  CHECK(json["by_counter"][0]["hardware_zeros"] == 1);
  CHECK(json["by_counter"][0]["mean"].get<double>() == Approx(0.1));
  CHECK(json["by_counter"][0]["correlation"].is_null());
  CHECK_FALSE(json["by_counter"][1].contains("mean"));  // there is no error to take the mean of
  REQUIRE(json["by_program"].size() == 3);
  CHECK(json["by_program"][2]["program"] == "q");
  REQUIRE(json["pairs"].size() == 3);
  CHECK(json["pairs"][0]["error"].get<double>() == Approx(0.1));
  CHECK_FALSE(json["pairs"][1].contains("error"));
  CHECK(json["pairs"][1]["instances"] == 4);
  CHECK(json["unmatched"] == nlohmann::json{"f:2: x"});
  CHECK(json["unmeasured_launches"] == 7);
  CHECK(json["unknown_metrics"] == nlohmann::json{"m\"1"});
}

TEST_CASE("text shows ten of a long list, dashes for what has no error, and no control characters") {
  Correlation c = of_pairs({{"p\x1b[31m", "k", 3, 1, "bell\a", {0, 5}}, {"q", "k", 0, 9, "cycles", {8, 6}}});
  for (int i = 0; i < 12; ++i) c.unknown.push_back("metric" + std::to_string(i));
  const std::string text = to_text(c, true);
  CHECK_THAT(text, Contains("metrics without a counterpart: 12\n") && Contains("  metric9\n") &&
                       !Contains("metric10") && Contains("... and 2 more"));
  CHECK_THAT(text, Contains("-25.0 %") && Contains("x9"));
  for (const char c1 : text) CHECK((c1 == '\n' || static_cast<unsigned char>(c1) >= ' '));
  CHECK_THAT(to_text(c, false), !Contains("x9"));
}

TEST_CASE("a scatter plot has a point for each of the counter's pairs") {
  const Correlation c =
      of_pairs({{"p", "k", 0, 1, "a", {1, 2}}, {"p", "k", 1, 1, "a", {3, 4}}, {"q", "k", 0, 1, "b", {5, 6}}});
  const std::string a = scatter_plot(c, "a"), b = scatter_plot(c, "b");
  CHECK(count_of(a, "<circle") - count_of(b, "<circle") == 1);
}

TEST_CASE("a result folder: launches by id, counters by path, elapsed cycles with the launch") {
  const StatsFile file(R"({"schema":1,"trace":{"name":"mine"},"kernels":[
    {"name":"b","id":2,"grid":[4,2,1],"block":[64,1,1],"cycles":10,"launch_cycles":5,"l1":{"hits":3,"rate":0.5},"note":"x"},
    {"name":"a","id":1,"cycles":7,"launch_cycles":1,"stream":9,"device":3,"start_cycle":8},
    {"name":"c","id":3,"elapsed_ns":2}]})");
  const SimulatedProgram p = load_program(file.folder.string(), "");
  CHECK(p.program == "mine");
  CHECK(load_program(file.folder.string(), "other").program == "other");
  REQUIRE(p.launches.size() == 3);
  CHECK(p.launches[0].kernel == "a");
  CHECK(p.launches[0].grid == Dimensions{1, 1, 1});
  CHECK(p.launches[0].counters ==
        std::map<std::string, double>{{"cycles", 7}, {"elapsed_cycles", 8}, {"launch_cycles", 1}});
  CHECK(p.launches[1].grid == Dimensions{4, 2, 1});
  CHECK(p.launches[1].block == Dimensions{64, 1, 1});
  CHECK(p.launches[1].counters.at("l1.hits") == 3);
  CHECK(p.launches[1].counters.at("l1.rate") == 0.5);
  CHECK(p.launches[1].counters.at("elapsed_cycles") == 15);
  CHECK(p.launches[2].counters == std::map<std::string, double>{{"elapsed_ns", 2}});  // nothing is made up
}

TEST_CASE("a result folder without kernels is refused") {
  const StatsFile file(R"({"schema":1,"total":{}})");
  CHECK_THROWS_WITH(load_program(file.folder.string(), ""),
                    Contains("stats.json: found no list \"kernels\""));
}

TEST_CASE("a mean of a counter that some launches lack is left out") {
  const std::vector<SimulatedProgram> programs{
      {"p", {launch("k", 1, {{"elapsed_ns", 10}}), launch("k", 2, {{"cycles", 5}})}}};
  const std::string csv = "Time (%),Total Time (ns),Instances,Avg (ns),Name\n1,50,2,25,k\n";
  CHECK(match(programs, parse_measurements(csv, "f"), "f", "p").pairs.empty());
}

TEST_CASE("instances of a mean are whole") {
  CHECK_THROWS_WITH(parse_measurements("Time (%),Instances,Avg (ns),Name\n1,2.5,5,k\n", "f.csv"),
                    Contains("f.csv:2: Instances: found 2.5, expected a whole number from 1 on"));
}

TEST_CASE("template arguments of every integer type are the same for both tools") {
  // Mangled by the Itanium C++ ABI: Li int, Lj unsigned, Ll long, Lm unsigned long, Lx long long, Ly unsigned
  // long long, Ls short, Lb bool.
  const std::vector<std::pair<std::string, std::string>> types{
      {"Li5", "(int)5"},           {"Lj5", "(unsigned int)5"}, {"Ll5", "(long)5"},
      {"Lm5", "(unsigned long)5"}, {"Lx5", "(long long)5"},    {"Ly5", "(unsigned long long)5"},
      {"Ls5", "(short)5"},         {"Lb1", "(bool)1"},         {"Lb0", "(bool)0"}};
  for (const auto& [mangled, written] : types) {
    INFO(mangled);
    CHECK(kernel_name("_Z1kI" + mangled + "EEvPf").function ==
          kernel_name("void k<" + written + ">(float *)").function);
    CHECK_FALSE(kernel_name("_Z1kI" + mangled + "EEvPf").function ==
                kernel_name("void k<(int)6>(float *)").function);
  }
}

TEST_CASE("metrics: names are unique, and counters are those of stats.json's kernels") {
  std::vector<std::string_view> names;
  for (const Metric& metric : metrics()) {
    CHECK(std::ranges::find(names, metric.profiler) == names.end());
    names.push_back(metric.profiler);
    CHECK(counter_of(metric.profiler) == metric.counter);
  }
  CHECK(counter_of("gpu__time_duration.sum") == "elapsed_ns");
  CHECK_FALSE(counter_of("gpu__time_duration"));
  CHECK_FALSE(counter_of(""));
}

}  // namespace lockstep::correlate
