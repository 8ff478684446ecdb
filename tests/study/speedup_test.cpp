// Speed-ups of random studies, against a search through the rows of their tables by the labels.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "stats/files.hpp"
#include "study/plan.hpp"
#include "study/table.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::study {
namespace {

/// A study of up to three axes, of whose rows some have no results.
class RandomStudy {
 public:
  explicit RandomStudy(std::mt19937& random) {
    std::string text, against = "{ ";
    for (std::uint64_t w = 0, n = 1 + random() % 3; w < n; ++w)
      text += fmt::format("[[workload]]\nname = \"w{}\"\ntrace = \"t{}\"\n", w, w);
    const auto axes = 1 + random() % 3;
    for (std::uint64_t a = 0; a < axes; ++a) {
      text += fmt::format("[[axis]]\nname = \"a{}\"\nkey = \"k{}\"\nvalues = [", a, a);
      const auto values = 1 + random() % 3;
      for (std::uint64_t v = 0; v < values; ++v) text += fmt::format("{}{}", v > 0 ? ", " : "", 10 * a + v);
      text += "]\n";
      if (a > 0 && random() % 2) continue;  // at least one axis is in the baseline
      const auto chosen = 10 * a + random() % values;
      against += fmt::format("{}a{} = {}", a > 0 ? ", " : "", a, chosen);
      baseline_["a" + std::to_string(a)] = chosen;
    }
    study = parse_study(text + "[speedup]\nof = \"cycles\"\nagainst = " + against + " }\n", "s.toml");
    runs = plan(study);
    for (std::size_t r = 0; r < runs.size(); ++r) keys.push_back("key" + std::to_string(r));
  }
  /// Of the row that has the labels of the baseline and else those of `row`; nullptr: it has no result.
  [[nodiscard]] Cell baseline_of(const Table& table, std::size_t row) const {
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      bool same = table.at(r, "workload") == table.at(row, "workload");
      for (const Axis& axis : study.axes) {
        const auto fixed = baseline_.find(axis.name);
        same &= table.at(r, axis.name) ==
                (fixed != baseline_.end() ? Cell(fixed->second) : table.at(row, axis.name));
      }
      if (same) return table.at(r, "cycles");
    }
    FAIL("no baseline for row " << row);
    return nullptr;
  }

  Study study;
  std::vector<PlannedRun> runs;
  std::vector<std::string> keys;

 private:
  std::map<std::string, std::uint64_t> baseline_;
};

void put_result(const RunStore& store, const std::string& key, std::uint64_t cycles) {
  stats::make_folder(store.folder_of(key));
  stats::write_file(
      store.folder_of(key) + "/stats.json",
      fmt::format(R"({{"schema":1,"trace":{{"name":"t","hash":"0"}},"kernels":[],"copies":[],)"
                  R"("total":{{"cycles":{}}},"core_khz":1000,"total_cycles":{},"partial":false,)"
                  R"("partial_reason":""}})",
                  cycles, 2 * cycles));
}

}  // namespace

TEST_CASE(
    "speed-ups of random studies are over the run that has the baseline's labels, where both have a value") {
  std::mt19937 random(79);
  std::size_t with = 0, without = 0;
  for (int round = 0; round < 25; ++round) {
    const RandomStudy s(random);
    const test::TemporaryFolder folder;
    const RunStore store(folder.path().string());
    std::map<std::string, std::uint64_t> cycles;
    for (const std::string& key : s.keys)
      if (random() % 4) put_result(store, key, cycles[key] = random() % 10 ? 1 + random() % 1000 : 0);
    const Table table = make_table(s.study, s.runs, s.keys, store);
    REQUIRE(table.rows.size() == s.runs.size());
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto own = cycles.find(s.keys[r]);
      REQUIRE(table.at(r, "cycles").is_null() == (own == cycles.end()));
      if (cycles.empty()) continue;  // there is no such column
      REQUIRE(table.at(r, "state") == (own == cycles.end() ? "missing" : "complete"));
      const Cell base = s.baseline_of(table, r), speedup = table.at(r, "speedup");
      const bool both = own != cycles.end() && own->second > 0 && base.is_number() && base > 0;
      REQUIRE(speedup.is_number() == both);
      (both ? with : without)++;
      if (both)
        REQUIRE(speedup.get<double>() * static_cast<double>(own->second) == Approx(base.get<double>()));
      // total_cycles at a clock of 1 MHz
      if (own != cycles.end()) REQUIRE(table.at(r, "run_ns") == 2000 * own->second);
    }
  }
  CHECK(with > 50);
  CHECK(without > 50);
}

TEST_CASE("speed-ups: the baseline's own is 1, and there is no column without the one that it is of") {
  std::mt19937 random(83);
  const RandomStudy s(random);
  const test::TemporaryFolder folder;
  const RunStore store(folder.path().string());
  for (const std::string& key : s.keys) put_result(store, key, 7);
  const Table table = make_table(s.study, s.runs, s.keys, store);
  for (std::size_t r = 0; r < table.rows.size(); ++r) CHECK(table.at(r, "speedup") == 1.0);
  Study other = s.study;
  other.speedup->of = "ipc";
  CHECK(make_table(other, s.runs, s.keys, store).column("speedup") == table.columns.size() - 1);
  CHECK(make_table(other, s.runs, s.keys, store).columns.size() == table.columns.size() - 1);
}

}  // namespace lockstep::study
