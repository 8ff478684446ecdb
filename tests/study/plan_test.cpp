// Plans of any size, baselines of speed-ups, arrays of jobs, and values of TOML.
#include "study/plan.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "stats/files.hpp"
#include "study/slurm.hpp"
#include "study/table.hpp"
#include "study/toml_reader.hpp"
#include "support.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::study {
namespace {

using Catch::Contains;

/// Puts a program in place of sbatch, which notes its arguments, one line per call, and ends with `code`.
class FakeSbatch {
 public:
  explicit FakeSbatch(int code) {
    const std::string file = folder_ / "sbatch";
    stats::write_file(
        file, "#!/bin/sh\necho \"$@\" >> " + (folder_ / "calls") + "\nexit " + std::to_string(code) + "\n");
    ::chmod(file.c_str(), 0755);
    ::setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1);
  }
  ~FakeSbatch() { ::setenv("PATH", before_.c_str(), 1); }
  FakeSbatch(const FakeSbatch&) = delete;
  FakeSbatch& operator=(const FakeSbatch&) = delete;
  [[nodiscard]] std::string calls() const { return stats::read_file(folder_ / "calls"); }

 private:
  test::TemporaryFolder folder_;
  std::string before_ = ::getenv("PATH");
};

std::string study_text(std::size_t workloads, const std::vector<std::size_t>& axes) {
  std::string text;
  for (std::size_t w = 0; w < workloads; ++w)
    text += "[[workload]]\ntrace = \"w" + std::to_string(w) + "\"\n";
  for (std::size_t a = 0; a < axes.size(); ++a)
    text += "[[axis]]\nkey = \"k" + std::to_string(a) +
            "\"\nrange = {from = 0, to = " + std::to_string(axes[a] - 1) + ", step = 1}\n";
  return text;
}

std::string value_text(const std::string& value) {
  return std::get<TomlMap>(parse_toml("x = " + value, "f").data).at("x").text();
}

}  // namespace

TEST_CASE("plan: the runs are the numbers from 0 on with the axes' sizes as bases") {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::size_t> axes(random() % 4);
    for (std::size_t& size : axes) size = 1 + random() % 4;
    const std::size_t workloads = 1 + random() % 3;
    const Study study = parse_study(study_text(workloads, axes), "s.toml");
    const auto runs = plan(study);
    std::size_t product = workloads;
    for (const std::size_t size : axes) product *= size;
    REQUIRE(runs.size() == product);
    std::set<std::vector<std::string>> different;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      std::size_t rest = r;
      for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a])
        REQUIRE(runs[r].points[a] == rest % axes[a]);
      REQUIRE(runs[r].workload == rest);
      different.insert(arguments_of(study, runs[r]));
    }
    REQUIRE(different.size() == runs.size());
  }
}

TEST_CASE("plan: a speed-up may be against another workload, at the same values of all axes") {
  const Study study = parse_study(
      study_text(3, {2}) + "[speedup]\nof = \"cycles\"\nagainst = { workload = \"w1\" }\n", "s.toml");
  const test::TemporaryFolder folder;
  const RunStore store(folder.path());
  const unsigned cycles[] = {100, 200, 10, 30, 20, 0};
  std::vector<std::string> keys;
  for (std::size_t r = 0; r < 6; ++r) {
    keys.push_back("k" + std::to_string(r));
    stats::make_folder(store.folder_of(keys[r]));
    stats::write_file(
        store.folder_of(keys[r]) + "/stats.json",
        R"({"schema":1,"trace":{},"kernels":[],"copies":[],"partial":false,"total":{"cycles":)" +
            std::to_string(cycles[r]) + "}}");
  }
  const Table table = make_table(study, plan(study), keys, store);
  const double expected[] = {10.0 / 100, 30.0 / 200, 1, 1, 10.0 / 20};
  for (std::size_t r = 0; r < 5; ++r) CHECK(table.at(r, "speedup").get<double>() == expected[r]);
  CHECK(table.at(5, "speedup").is_null());  // of no cycles
  Study wrong = study;
  wrong.speedup->of = "cycle";
  CHECK_THROWS_WITH(check_columns(wrong, table),
                    Contains("s.toml: speedup: no run has the statistic 'cycle'"));
  wrong.speedup.reset();
  wrong.figures.push_back({.name = "f",
                           .title = "",
                           .x = "k0",
                           .y = "nothing",
                           .value = "",
                           .series = "",
                           .where = {},
                           .line = 7});
  CHECK_THROWS_WITH(check_columns(wrong, table),
                    Contains("s.toml:7: figure 'f': no run has the statistic 'nothing'"));
}

TEST_CASE("plan: a thousand tasks an array, with indices from 1 on behind an offset") {
  const test::TemporaryFolder folder;
  const ArrayOptions options{.task = {"task"}, .folder = folder.path(), .threads = 2, .sbatch = {"--mem=4G"}};
  {
    const FakeSbatch sbatch(0);
    submit_array(options, std::vector<std::size_t>{1, 2, 1000, 1001, 1003, 2500, 3001});
    const std::string rest =
        " --output=" + (folder / "logs/%A_%a.log") + " --mem=4G " + (folder / "array.sbatch") + " ";
    CHECK(sbatch.calls() == "--array=1-2,1000" + rest + "0\n--array=1,3" + rest + "1000\n--array=500" + rest +
                                "2000\n--array=1" + rest + "3000\n");
    CHECK(stats::read_file(folder / "array.sbatch") == array_script(options));
    CHECK(std::filesystem::is_directory(folder / "logs"));
  }
  const FakeSbatch refuses(1);
  CHECK_THROWS_WITH(submit_array(options, std::vector<std::size_t>{1}), Contains("sbatch refused the array"));
}

TEST_CASE("plan: values of TOML as text are read back as themselves") {
  const std::pair<const char*, const char*> rows[] = {{"true", "true"},
                                                      {"false", "false"},
                                                      {"1_000", "1000"},
                                                      {"-7", "-7"},
                                                      {"0x10", "16"},
                                                      {"0.5", "0.5"},
                                                      {"1e3", "1000"},
                                                      {"\"a\\tb\"", "a\tb"},
                                                      {"'raw\\t'", "raw\\t"},
                                                      {"0.1", "0.1"},
                                                      {"1979-05-27", "1979-05-27"}};
  for (const auto& [value, text] : rows) CHECK(value_text(value) == text);
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> number(-1e6, 1e6);
  for (int i = 0; i < 200; ++i) {
    const double value = number(random);
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);  // enough digits for any double
    const std::string point = std::string(text).find('.') == std::string::npos ? ".0" : "";
    REQUIRE(std::stod(value_text(text + point)) == value);
  }
}

TEST_CASE("plan: what an axis before sets is not set again, be it the configuration or an option") {
  const auto axes = [](const std::string& first, const std::string& second) {
    return refused(kWorkload + "[[axis]]\nname = \"a\"\n" + first + "\n[[axis]]\nname = \"b\"\n" + second +
                   "\n");
  };
  const std::string config = "config = [\"v100\"]", option = "option = \"kernels\"\nvalues = [\"1\"]",
                    points =
                        "[[axis.point]]\nlabel = \"l\"\nconfig = \"a100\"\noptions = { kernels = \"2\" }";
  CHECK_THAT(axes(config, config), Contains("axis 'b' sets what an axis before it sets (config)"));
  CHECK_THAT(axes(option, option), Contains("axis 'b' sets what an axis before it sets (option kernels)"));
  CHECK_THAT(axes(config, points), Contains("s.toml:6: axis 'b' sets what an axis before it sets (config)"));
  CHECK_THAT(axes(option, points), Contains("(option kernels)"));
  CHECK(axes(config, option) == "accepted");
}

TEST_CASE("plan: values of the wrong kind are shown, and what would be right") {
  const std::pair<const char*, const char*> rows[] = {
      {"title = \"\"", "title = '': expected a string that is not empty"},
      {"title = [1]", "title = a list: expected a string that is not empty"},
      {"columns = \"x\"", "columns = 'x': expected a list with at least one element"},
      {"columns = [[1]]", "columns = a list: expected strings, numbers or booleans in the list"},
      {"columns = [{}]", "columns = a table: expected strings, numbers or booleans in the list"},
      {"jobs = 1.5", "jobs = '1.5': expected a whole number from 1 to 1024"},
      {"set = { a = [1] }", "a = a list: expected a string, a number or a boolean"},
      {"set = { a.b.c = {} }\nset2 = 1", "unknown key 'set2'; did you mean 'set'?"},
      {"speedup = 1", "speedup = '1': expected a table"}};
  for (const auto& [text, message] : rows)
    CHECK_THAT(refused(std::string(text) + "\n" + kWorkload), Contains(message));
}

}  // namespace lockstep::study
