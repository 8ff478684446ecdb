#include "study/table.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "stats/descriptors.hpp"
#include "stats/files.hpp"
#include "study/slurm.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

/// A folder of results that goes at the end of the test.
struct Results {
  std::string path =
      (std::filesystem::temp_directory_path() / ("lockstep-study-" + std::to_string(getpid()))).string();
  RunStore store{path};
  Results() { std::filesystem::remove_all(path); }
  ~Results() { std::filesystem::remove_all(path); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  void put(const std::string& key, unsigned cycles,
           const std::string& partial = "false,\"partial_reason\":\"\"") const {
    stats::make_folder(store.folder_of(key));
    stats::write_file(store.folder_of(key) + "/stats.json",
                      "{\"schema\":1,\"trace\":{\"name\":\"t\",\"hash\":\"0\"},\"kernels\":[],\"copies\":[],"
                      "\"total\":{\"cycles\":" +
                          std::to_string(cycles) +
                          ",\"l1\":{\"hits\":7}},\"core_khz\":500000,\"total_cycles\":" +
                          std::to_string(cycles) + ",\"partial\":" + partial + "}");
  }
};

/// What the studies here have in common.
const std::string kWorkloadAndClocks = R"([[workload]]
trace = "t"
[[axis]]
name = "mhz"
key = "clock.core_mhz"
values = [500, 1000]
)";

const Study& study() {
  static const Study value = parse_study("columns = [\"cycles\"]\n" + kWorkloadAndClocks + R"([[axis]]
name = "how"
key = "x"
values = ["a, b", "c"]
[speedup]
of = "cycles"
against = { mhz = 500 }
)",
                                         "s.toml");
  return value;
}

const std::vector<std::string> kKeys{"k0", "k1", "k2", "k1"};  // the last row needs the run of the second

}  // namespace

TEST_CASE("the table has a row for each run, with statistics where it is complete") {
  const Results results;
  results.put("k0", 1000);
  results.put("k1", 600);
  stats::make_folder(results.store.folder_of("k2"));
  results.store.fail("k2", "exit code 3: deadlock");
  const Table table = make_table(study(), plan(study()), kKeys, results.store);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.at(0, "cycles") == 1000);
  CHECK(table.at(1, "cycles") == 600);
  CHECK(table.at(2, "cycles").is_null());
  CHECK(table.at(3, "cycles") == 600);
  CHECK(table.at(0, "l1.hits") == 7);
  CHECK(table.at(0, "run_ns") == 2000);  // 1000 cycles of 500 MHz
  CHECK(table.at(2, "state") == "failed");
  CHECK(table.at(2, "error") == "exit code 3: deadlock");
  CHECK(table.at(0, "speedup") == 1);
  CHECK(table.at(1, "speedup") == 1);  // its own baseline: 500 MHz, c
  CHECK(table.at(2, "speedup").is_null());
  CHECK(table.at(3, "speedup") == 1);
  CHECK_NOTHROW(check_columns(study(), table));
  const std::string csv = to_csv(table);
  CHECK_THAT(csv, Catch::StartsWith("workload,mhz,how,state,error,run,") &&
                      Catch::Contains("\nt,500,\"a, b\",complete,,runs/k0,") &&
                      Catch::Contains("\nt,1000,\"a, b\",failed,exit code 3: deadlock,runs/k2,"));
  const std::string lines = to_json_lines(table);
  CHECK_THAT(
      lines,
      Catch::StartsWith(
          "{\"workload\":\"t\",\"mhz\":500,\"how\":\"a, b\",\"state\":\"complete\",\"run\":\"runs/k0\","));
}

TEST_CASE("a speed-up is the baseline's value over the run's own") {
  const Results results;
  for (const auto& [key, cycles] : {std::pair("k0", 1000u), {"k1", 600u}, {"k2", 400u}, {"k3", 800u}})
    results.put(key, cycles);
  const std::vector<std::string> keys{"k0", "k1", "k2", "k3"};
  const Table table = make_table(study(), plan(study()), keys, results.store);
  CHECK(table.at(2, "speedup").get<double>() == 1000.0 / 400);  // 1000 MHz "a, b" against 500 MHz "a, b"
  CHECK(table.at(3, "speedup").get<double>() == 600.0 / 800);
}

TEST_CASE("what was cut off is missing, what a limit of its own has ended is complete") {
  const Results results;
  results.put("k0", 1, "true,\"partial_reason\":\"interrupted\"");
  results.put("k1", 1, "true,\"partial_reason\":\"max-cycles\"");
  stats::make_folder(results.store.folder_of("k2"));
  stats::write_file(results.store.folder_of("k2") + "/stats.json", "{\"sche");
  CHECK(results.store.lookup("k0").state == State::kMissing);
  CHECK(results.store.lookup("k1").state == State::kComplete);
  CHECK(results.store.lookup("k2").state == State::kMissing);
  CHECK(results.store.lookup("k3").state == State::kMissing);
}

TEST_CASE("one process at a time has a run") {
  const Results results;
  results.put("k0", 1);
  auto lock = RunLock::take(results.store.folder_of("k0"));
  REQUIRE(lock);
  CHECK(!RunLock::take(results.store.folder_of("k0")));
  CHECK(results.store.lookup("k0").state == State::kRunning);
  lock.reset();
  CHECK(results.store.lookup("k0").state == State::kComplete);
  CHECK(RunLock::take(results.store.folder_of("k0")));
}

TEST_CASE("columns that no run has are refused") {
  const Results results;
  results.put("k0", 1);
  Study wrong = study();
  wrong.columns = {"l1.hit"};
  const Table table = make_table(wrong, plan(wrong), kKeys, results.store);
  CHECK_THROWS_WITH(check_columns(wrong, table),
                    Catch::Contains("columns: no run has the statistic 'l1.hit'"));
}

TEST_CASE("a column that no run can have is refused before the first one") {
  const auto error = [](const std::string& columns, const std::string& more = "") {
    const std::string text = "columns = [" + columns + "]\n" + kWorkloadAndClocks + more;
    try {
      check_names_of_columns(parse_study(text, "s.toml"));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  // Every counter that is documented, and what the whole run says.
  for (const stats::Descriptor& d : stats::descriptors())
    CHECK(error("\"" + std::string(d.name) + "\"") == "");
  CHECK(error(R"("workload", "mhz", "state", "cycles", "run_ns", "elapsed_ns", "ipc", "trace.name",
                 "energy.total_pj", "managed.faults", "sampling.launches_timed",
                 "system.network.nics")") == "");
  CHECK(error(R"("l1.hit")") ==
        "s.toml: columns: no run has the statistic 'l1.hit'; did you mean 'l1.hits'?; "
        "`lockstep stats` lists them");
  CHECK_THAT(error(R"("speedup")"), Catch::Contains("no run has the statistic 'speedup'"));
  const std::string speedup = "[speedup]\nof = \"cycels\"\nagainst = { mhz = 500 }\n";
  CHECK_THAT(error("\"cycles\"", speedup),
             Catch::StartsWith("s.toml: speedup: no run has the statistic 'cycels'"));
  const std::string figure = "[[figure]]\nname = \"f\"\nkind = \"lines\"\nx = \"mhz\"\ny = \"ipcs\"\n";
  CHECK_THAT(error("\"cycles\"", figure),
             Catch::StartsWith("s.toml:8: figure 'f': no run has the statistic 'ipcs'"));
}

TEST_CASE("array indices are ranges") {
  CHECK(ranges(std::vector<std::size_t>{1, 3, 4, 5, 9, 10}) == "1,3-5,9-10");
  CHECK(ranges(std::vector<std::size_t>{7}) == "7");
  CHECK(ranges({}).empty());
  const std::string script = array_script({{"/p/lockstep", "sweep", "it's"}, "/out", 4, {}});
  CHECK_THAT(script,
             Catch::Contains("#SBATCH --cpus-per-task=4\n") &&
                 Catch::EndsWith(
                     "run_and_requeue '/p/lockstep' 'sweep' 'it'\\''s' $((SLURM_ARRAY_TASK_ID + $1))\n"));
}

}  // namespace lockstep::study
