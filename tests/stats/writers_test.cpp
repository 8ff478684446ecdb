#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "stats/derived.hpp"
#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, ignored] : object.items()) names.push_back(key);
  return names;
}

/// The first keys are the fixed ones, in order; ours may follow.
void check_starts(const Json& object, const std::vector<std::string>& fixed) {
  auto names = keys(object);
  REQUIRE(names.size() >= fixed.size());
  names.resize(fixed.size());
  CHECK(names == fixed);
}

/// A second reader of CSV: quotes, doubled quotes, commas and line breaks inside quotes.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

}  // namespace

TEST_CASE("stats.json has the fixed names in their order") {
  const Json root = Json::parse(to_json(sample_report()));
  check_starts(root, {"schema", "version", "gpu", "config_hash", "trace", "kernels", "copies", "total"});
  CHECK(root["schema"] == 1);
  CHECK(root["config_hash"] == "0000000000000abc");
  CHECK(root["trace"] == Json({{"name", "vectoradd"}, {"hash", "ffffffffffffffff"}}));
  const Json& kernel = root["kernels"][0];
  check_starts(kernel, {"name", "id", "stream", "grid", "block", "start_cycle", "launch_cycles", "cycles",
                        "time_ns", "elapsed_ns", "warp_instructions", "thread_instructions", "ipc", "lanes",
                        "l1", "l2", "dram", "icnt", "stalls"});
  const std::vector<std::string> cache{"accesses",    "hits",         "misses",
                                       "mshr_merges", "sectors_read", "sectors_written"};
  check_starts(kernel["l1"], cache);
  check_starts(kernel["l2"], cache);
  check_starts(kernel["dram"], {"reads", "writes", "row_hits", "row_misses", "bytes"});
  check_starts(kernel["icnt"], {"requests", "replies", "flits", "stall_cycles"});
  CHECK(kernel["stalls"].size() == kStalls + 1);
  CHECK(kernel["grid"] == Json({196, 2, 1}));
}

TEST_CASE("overridden parameters are named in stats.json and in the summary") {
  RunReport report = sample_report(1);
  CHECK(Json::parse(to_json(report))["overrides"] == Json::object());
  CHECK_THAT(to_text(report, {}), !Catch::Contains("l1.ways"));
  report.overrides = {{"sm.scheduler", "lrr"}, {"l1.ways", "8"}};
  CHECK(Json::parse(to_json(report))["overrides"] == Json({{"l1.ways", "8"}, {"sm.scheduler", "lrr"}}));
  CHECK_THAT(to_text(report, {}), Catch::Contains("l1.ways = 8, sm.scheduler = lrr"));
}

TEST_CASE("stats.json keeps 64-bit integers and exact times") {
  RunReport report = sample_report(1);
  report.kernels[0].counters.sm.l1.hits = 0xffffffffffffffff;
  report.kernels[0].cycles = 6204;
  const std::string text = to_json(report);
  CHECK(text.find("\"hits\":18446744073709551615") != std::string::npos);
  CHECK(text.find("\"time_ns\":4728.659,\"elapsed_ns\":8539.634") != std::string::npos);  // 11204 / 1.312
}

TEST_CASE("stalls with idle are the sub-core cycles, per kernel and in total") {
  RunReport report = sample_report(3);
  std::uint64_t all = 0;
  for (KernelResult& kernel : report.kernels) all += kernel.cycles * kernel.subcores;
  const Json root = Json::parse(to_json(report));
  const auto sum = [](const Json& object) {
    std::uint64_t total = 0;
    for (const auto& [key, v] : object["stalls"].items()) total += v.get<std::uint64_t>();
    return total;
  };
  CHECK(sum(root["kernels"][0]) == report.kernels[0].cycles * 320);
  CHECK(sum(root["total"]) == all);
}

TEST_CASE("total is the sum of the kernels, counter by counter") {
  const Json root = Json::parse(to_json(sample_report(5)));
  const Json flat_total = root["total"].flatten();
  unsigned compared = 0;
  for (const auto& [path, total] : flat_total.items()) {
    if (!total.is_number_unsigned() || path == "/kernels" || path == "/copies") continue;
    std::uint64_t sum = 0;
    for (const Json& kernel : root["kernels"]) sum += kernel[Json::json_pointer(path)].get<std::uint64_t>();
    CHECK(total.get<std::uint64_t>() == sum);
    ++compared;
  }
  CHECK(compared == descriptors().size() + 3);  // and launch_cycles, cycles, stalls.idle
}

/// Parts of 1000, 2000, ... pJ: 153,000 in all.
EnergyParts sample_energy() {
  EnergyParts parts;
  for (unsigned i = 0; i < kEnergyParts; ++i) parts.picojoules[i] = 1000 * (i + 1);
  return parts;
}

TEST_CASE("energy by component, its sum and mean power are in every file where they are known") {
  RunReport report = sample_report(2);
  report.energy_source = "test";
  report.intervals = {{1312, {}, sample_energy()}, {3936, {}, sample_energy()}};
  for (KernelResult& kernel : report.kernels) {
    kernel.cycles = 1312;  // 1 us
    kernel.energy = sample_energy();
  }
  const Json root = Json::parse(to_json(report));
  CHECK(root["energy_source"] == "test");
  const Json& energy = root["kernels"][1]["energy"];
  CHECK(energy.size() == kEnergyParts + 2);
  CHECK(energy["total_pj"] == 153'000);
  CHECK(energy["average_mw"] == 153);  // 153 nJ in 1 us
  CHECK(energy["instructions_pj"] == 1000);
  CHECK(energy["board_pj"] == 17'000);
  CHECK(root["total"]["energy"]["total_pj"] == 306'000);
  CHECK(root["total"]["energy"]["average_mw"] == 153);

  const auto csv = parse_csv(to_csv(report));
  const auto column = std::find(csv[0].begin(), csv[0].end(), "energy.total_pj") - csv[0].begin();
  CHECK(csv[2].at(static_cast<std::size_t>(column)) == "153000");
  CHECK(csv[2].at(static_cast<std::size_t>(column) + 1) == "153");

  const Json& rows = root["intervals"]["rows"];
  CHECK(root["intervals"]["columns"].size() == rows[0].size());
  CHECK(root["intervals"]["columns"].back() == "energy.average_mw");
  CHECK(rows[0].back() == 153);
  CHECK(rows[1].back() == 77);  // the second one is 2 us long: 76.5, rounded half up
  CHECK(parse_csv(intervals_csv(report)).at(2).back() == "77");
  CHECK_THAT(to_text(report, {}),
             Catch::Contains("energy: 0.3 uJ in kernels, 0.2 W on average (test), board 11 %"));
}

TEST_CASE("where no energy is known the files have none and the summary says so") {
  RunReport report = sample_report(2);
  report.intervals = {{1312, {}, {}}};
  const Json root = Json::parse(to_json(report));
  CHECK(root["energy_source"] == "none");
  CHECK_FALSE(root["kernels"][0].contains("energy"));
  CHECK_FALSE(root["total"].contains("energy"));
  const auto rows = parse_csv(to_csv(report));  // the columns of every run, with empty cells
  const auto column = std::find(rows[0].begin(), rows[0].end(), "energy.total_pj") - rows[0].begin();
  REQUIRE(rows[0].at(static_cast<std::size_t>(column) + 1) == "energy.average_mw");
  for (std::size_t row = 1; row < rows.size(); ++row)
    CHECK((rows[row][static_cast<std::size_t>(column)].empty() &&
           rows[row][static_cast<std::size_t>(column) + 1].empty()));
  CHECK_THAT(intervals_csv(report), !Catch::Contains("energy"));
  CHECK_THAT(to_text(report, {}),
             Catch::Contains("energy: not known, the configuration has no coefficients"));
}

TEST_CASE("hostile names leave the files well-formed") {
  RunReport report = sample_report(1);
  const std::string name = "a\",\"b\n\x01\xff,;";
  report.kernels[0].name = name;
  report.trace_name = name;
  report.unknown_opcodes = {{name, 1}};
  report.remarks = {name};
  const Json root = Json::parse(to_json(report));
  CHECK(root["kernels"][0]["name"] == "a\",\"b\n\x01\xef\xbf\xbd,;");
  CHECK(parse_csv(to_csv(report)).at(1).at(1) == name);
  const std::string text = to_text(report, {});
  CHECK(text.find('\x01') == std::string::npos);
  CHECK(text.find('\xff') == std::string::npos);
}

TEST_CASE("stats.csv says what stats.json says") {
  const RunReport report = sample_report(4);
  const auto rows = parse_csv(to_csv(report));
  const Json root = Json::parse(to_json(report));
  REQUIRE(rows.size() == 5);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    REQUIRE(rows[row].size() == rows[0].size());
    for (std::size_t column = 0; column < rows[0].size(); ++column) {
      if (rows[0][column].starts_with("energy.")) continue;  // not known: the test above
      std::string path = "/" + rows[0][column];
      if (path.find("grid_") != std::string::npos || path.find("block_") != std::string::npos) {
        path = path.substr(0, path.size() - 2) + "/" + std::to_string(path.back() - 'x');
      }
      std::replace(path.begin(), path.end(), '.', '/');
      const Json& expected = root["kernels"][row - 1].at(Json::json_pointer(path));
      CAPTURE(path);
      const std::string& found = rows[row][column];
      if (expected.is_string()) {
        CHECK(found == expected.get<std::string>());
      } else {
        CHECK(Json::parse(found) == expected);
      }
    }
  }
}

TEST_CASE("intervals add up in rows") {
  RunReport report = sample_report(1);
  report.intervals = {{100, sample_kernel(1, 1).counters}, {200, sample_kernel(1, 7).counters}};
  const auto rows = parse_csv(intervals_csv(report));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].size() == 1 + descriptors().size());
  CHECK(rows[2][0] == "200");
  const Json root = Json::parse(to_json(report));
  CHECK(root["intervals"]["columns"].size() == rows[0].size());
  CHECK(root["intervals"]["rows"][1][0] == 200);
  CHECK(root["intervals"]["rows"][1][1] == report.intervals[1].counters.sm.warp_instructions);
  CHECK(!Json::parse(to_json(sample_report())).contains("intervals"));
}

TEST_CASE("host.json has the engine's sums as means") {
  HostReport host;
  host.windows = 10;
  host.window_cycles = 250;
  host.awake_domains = 35;
  host.wall_seconds = 2;
  host.warp_instructions = 3000;
  host.seconds_busy = {0.5, 0.25};
  const Json root = Json::parse(to_json(host));
  CHECK(root["mean_window_cycles"] == 25.0);
  CHECK(root["awake_domains_per_window"] == 3.5);
  CHECK(root["warp_instructions_per_second"] == 1500.0);
  CHECK(root["seconds_busy"] == Json({0.5, 0.25}));
  CHECK(Json::parse(to_json(HostReport{}))["mean_window_cycles"] == 0.0);
  CHECK_FALSE(root.contains("ranks"));
  host.ranks = {{.host = "a", .devices = 4, .synchronisations = 7}, {.host = "b", .seconds_sync = 0.5}};
  const Json ranks = Json::parse(to_json(host))["ranks"];
  CHECK((ranks.size() == 2 && ranks[0]["devices"] == 4 && ranks[1]["rank"] == 1));
  CHECK((ranks[0]["synchronisations"] == 7 && ranks[1]["seconds_sync"] == 0.5 && ranks[1]["host"] == "b"));
}

TEST_CASE("the summary fits a screen") {
  for (const std::uint64_t kernels : {0u, 1u, 20u, 21u, 5000u}) {
    RunReport report = sample_report(kernels);
    report.partial = true;
    report.remarks.assign(30, "a remark");
    HostReport host;
    host.wall_seconds = 1;
    std::istringstream text(to_text(report, host, {.columns = 110}));
    std::size_t lines = 0, in_table = 0;
    for (std::string line; std::getline(text, line); ++lines) {
      if (line.find("kernel_") != std::string::npos) {
        ++in_table;
        CHECK(line.size() <= 110);
      }
    }
    CHECK(lines <= 44);
    CHECK(in_table == (kernels <= 20 ? kernels : 15 + 1));
  }
}

TEST_CASE("many launches are one row for each kernel, as in nsys' cuda_gpu_kern_sum") {
  RunReport report = sample_report(0);
  report.core_khz = 1'000'000;  // a cycle is a nanosecond
  const auto launch = [&](const char* name, std::uint64_t id, Cycle cycles) {
    KernelResult kernel = sample_kernel(id, 0);
    kernel.name = name;
    kernel.cycles = cycles;
    kernel.counters = {};
    kernel.counters.sm.warp_instructions = 2 * cycles;
    report.kernels.push_back(kernel);
  };
  for (std::uint64_t i = 0; i < 20; ++i) launch("_Z5smallIfEvPT_", i, 1000 + 100 * i);  // 39 us
  launch("_Z5smallIdEvPT_", 20, 61000);
  report.kernels[3].partial = true;
  const std::string text = to_text(report, {}, {.columns = 110});
  // name, launches, total, share, mean, minimum, maximum, IPC
  CHECK_THAT(text,
             Catch::Contains("small<double>                  1      61.00   61.0     61.00     61.00     "
                             "61.00   2.00  -\nsmall<float>*                 20      39.00   39.0      "
                             "1.95      1.00      2.90   2.00  -\n"));
  CHECK_THAT(text, Catch::Contains("total, 2 kernels              21      100.0  100.0      4.76"));
  CHECK_THAT(text, Catch::Contains("longest launch: id 20, small<double>, 61.00 us"));
  const std::string all = to_text(report, {}, {.all_launches = true});
  CHECK(std::count(all.begin(), all.end(), '\n') > 21);
  CHECK_THAT(all, Catch::Contains("    3 small<float>*"));
}

TEST_CASE("the summary names the heaviest stall and the rates") {
  RunReport report = sample_report(1);
  KernelResult& kernel = report.kernels[0];
  kernel.counters = {};
  kernel.cycles = 1312;  // 1 us
  kernel.counters.sm.stalls[static_cast<unsigned>(Stall::kIssued)] = 900;
  kernel.counters.sm.stalls[static_cast<unsigned>(Stall::kWait)] = 25;
  kernel.counters.sm.stalls[static_cast<unsigned>(Stall::kLongScoreboard)] = 75;
  kernel.counters.sm.stalls[static_cast<unsigned>(Stall::kEmpty)] = 5000;
  kernel.counters.mem.dram_bytes = 900000;  // in 1 us: 900 GB/s
  kernel.counters.mem.l2.accesses = 3;
  kernel.counters.mem.l2.hits = 2;
  const std::string text = to_text(report, {});
  CHECK(text.find("long_scoreboard 75%") != std::string::npos);
  CHECK(text.find(" 900.0 ") != std::string::npos);
  CHECK(text.find(" 66.7 ") != std::string::npos);
  CHECK(text.find("FROB (12x)") != std::string::npos);
}

}  // namespace lockstep::stats
