// Runs as processes, with a shell script in the place of the simulator, and jobs for SLURM, with one in the
// place of sbatch.
#include "study/runner.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "stats/files.hpp"
#include "study/slurm.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

namespace fs = std::filesystem;

/// A folder with programs and results that goes at the end of the test.
struct Place {
  std::string path = (fs::temp_directory_path() / ("lockstep-runner-" + std::to_string(getpid()))).string();
  RunStore store{path};
  Place() {
    fs::remove_all(path);
    stats::make_folder(path);
  }
  ~Place() { fs::remove_all(path); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] std::string program(const std::string& name, const std::string& body) const {
    stats::make_folder(path + "/bin");
    const std::string file = path + "/bin/" + name;
    stats::write_file(file, "#!/bin/sh\n" + body);
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    return stats::read_file(path + "/" + name);
  }
};

const std::string kStats =
    R"({"schema":1,"trace":{"name":"t","hash":"0"},"kernels":[],"copies":[],"total":{},"partial":false})";

/// The simulator: called as "run -o FOLDER -q -t N ... WHAT", it does as the last word says.
const std::string kProgram =
    "echo \"$*\" > \"$3/arguments\"\nfor what; do :; done\ncase \"$what\" in\n"
    "  well) echo '" +
    kStats +
    "' > \"$3/stats.json\" ;;\n"
    "  wrong) echo starting; echo 'lockstep: error: no such trace' >&2\n"
    "    echo 'lockstep: warning: slow'; echo bye; exit 3 ;;\n"
    "  silent) exit 4 ;;\n"
    "  chatty) echo one; echo two; echo; exit 5 ;;\n"
    "  killed) kill -KILL $$ ;;\n"
    "  nothing) echo done ;;\n"
    "  long) trap 'exit 75' TERM; echo > \"$3/begun\"; while :; do sleep 0.01; done ;;\n"
    "esac\n";

std::vector<Job> jobs_of(const std::vector<std::string>& whats) {
  std::vector<Job> jobs;
  for (const std::string& what : whats) jobs.push_back({"key-" + what, "identity of " + what, {"run", what}});
  return jobs;
}

RunnerOptions options_of(unsigned jobs, unsigned threads = 1, std::string program = "") {
  RunnerOptions options;
  options.jobs = jobs;
  options.threads = threads;
  options.program = std::move(program);
  return options;
}

/// What `ended` was told of each job.
std::map<std::string, Stored> run(const Place& place, const std::vector<Job>& jobs, RunnerOptions options) {
  std::map<std::string, Stored> all;
  if (options.program.empty()) options.program = place.program("simulator", kProgram);
  options.ended = [&](std::size_t job, const Stored& stored, double seconds) {
    CHECK(seconds >= 0);
    CHECK(all.emplace(jobs[job].key, stored).second);
  };
  run_jobs(place.store, jobs, options);
  return all;
}

/// What a shell command prints, and its exit code.
std::pair<std::string, int> output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  return {text, WEXITSTATUS(status)};
}

}  // namespace

TEST_CASE("runs end complete, or failed with why, and one's failure is its own") {
  const Place place;
  const auto jobs = jobs_of({"wrong", "well", "silent", "chatty", "killed", "nothing"});
  const auto ended = run(place, jobs, options_of(2));
  REQUIRE(ended.size() == 6);
  CHECK(ended.at("key-well").state == State::kComplete);
  const std::map<std::string, std::string> errors{{"key-wrong", "exit code 3: error: no such trace"},
                                                  {"key-silent", "exit code 4"},
                                                  {"key-chatty", "exit code 5: two"},
                                                  {"key-killed", "ended by signal 9 (Killed)"},
                                                  {"key-nothing", "exit code 0: done"}};
  for (const auto& [key, error] : errors) {
    INFO(key);
    CHECK(ended.at(key).state == State::kFailed);
    CHECK(ended.at(key).error == error);
    CHECK(place.store.lookup(key).state == State::kFailed);  // and the folder says so
    CHECK(place.store.lookup(key).error == error);
  }
  CHECK(place.text("runs/key-well/identity.txt") == "identity of well");
  CHECK(place.text("runs/key-wrong/log") ==
        "starting\nlockstep: error: no such trace\nlockstep: warning: slow\nbye\n");
}

TEST_CASE("a run is started with its folder and threads, and its state where it can be resumed") {
  const Place place;
  std::vector<Job> jobs = jobs_of({"well"});
  jobs[0].arguments = {"run", "-c", "v100", "well"};
  (void)run(place, jobs, options_of(1, 3));
  const std::string folder = place.store.folder_of("key-well");
  CHECK(place.text("runs/key-well/arguments") == "run -o " + folder + " -q -t 3 -c v100 well\n");
  jobs[0].resumable = true;
  (void)run(place, jobs, options_of(1));
  CHECK(place.text("runs/key-well/arguments") ==
        "run -o " + folder + " -q -t 1 --checkpoint " + folder + "/checkpoints -c v100 well\n");
}

TEST_CASE("a run that failed and then succeeds is complete, and a forgotten one is missing") {
  const Place place;
  std::vector<Job> jobs = jobs_of({"silent"});
  CHECK(run(place, jobs, {}).at("key-silent").state == State::kFailed);
  jobs[0].arguments.back() = "well";
  CHECK(run(place, jobs, {}).at("key-silent").state == State::kComplete);
  CHECK(place.store.lookup("key-silent").state == State::kComplete);
  place.store.forget("key-silent");
  CHECK(place.store.lookup("key-silent").state == State::kMissing);
}

TEST_CASE("no more processes than asked for run at a time, and in the order of the jobs") {
  const Place place;
  const std::string program = place.program(
      "counting",
      "cd \"$3/../..\"\necho \"$6\" >> order\nmkdir -p now\n: > now/$$\nls now | wc -l >> counts\n"
      "sleep 0.05\nrm now/$$\necho '" +
          kStats + "' > \"$3/stats.json\"\n");
  for (const unsigned limit : {1u, 3u}) {
    std::vector<Job> jobs;
    for (int i = 0; i < 6; ++i)
      jobs.push_back({std::to_string(limit) + "-" + std::to_string(i), "", {"run", "x"}});
    fs::remove(place.path + "/counts");
    CHECK(run(place, jobs, options_of(limit, 1, program)).size() == 6);
    std::istringstream counts(place.text("counts"));
    unsigned most = 0, lines = 0;
    for (unsigned count = 0; counts >> count; ++lines) most = std::max(most, count);
    CHECK(lines == 6);
    CHECK(most <= limit);
    if (limit == 1) CHECK(most == 1);
  }
}

TEST_CASE("a run that another process has is skipped") {
  const Place place;
  stats::make_folder(place.store.folder_of("key-well"));
  const auto lock = RunLock::take(place.store.folder_of("key-well"));
  REQUIRE(lock);
  const auto ended = run(place, jobs_of({"well", "silent"}), {});
  CHECK(ended.size() == 1);
  CHECK(ended.contains("key-silent"));
  CHECK_FALSE(fs::exists(place.store.folder_of("key-well") + "/arguments"));
}

TEST_CASE("a signal is handed on, and what it interrupts is missing and not failed") {
  const Place place;
  const auto jobs = jobs_of({"long", "well"});
  const std::string begun = place.store.folder_of("key-long") + "/begun";
  RunnerOptions options = options_of(1);
  options.signal = [&] { return fs::exists(begun) ? SIGTERM : 0; };
  const auto ended = run(place, jobs, options);
  REQUIRE(ended.size() == 1);  // the second was not started
  CHECK(ended.at("key-long").state == State::kMissing);
  CHECK(ended.at("key-long").error.empty());
  CHECK(place.store.lookup("key-long").state == State::kMissing);
}

TEST_CASE("a program that cannot be started is an error of the whole") {
  const Place place;
  CHECK_THROWS_WITH(run(place, jobs_of({"well"}), options_of(1, 1, place.path + "/none")),
                    Catch::Contains("/none: cannot be started: No such file or directory"));
}

TEST_CASE("a key is of the text, in 16 hexadecimal digits") {
  const std::string key = key_of("a");
  CHECK(key.size() == 16);
  CHECK(key.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(key == key_of("a"));
  CHECK(key != key_of("b"));
  CHECK(key_of("") != key_of(std::string(1, '\0')));
}

TEST_CASE("the script of a SLURM array passes words as they are, and its number behind them") {
  const Place place;
  const std::string show = place.program("show", "for word; do echo \"[$word]\"; done\n");
  stats::write_file(
      place.path + "/array.sbatch",
      array_script({{show, "it's", "a  b", "$HOME", "\"q\"", "`x`", "", "back\\slash"}, place.path, 2, {}}));
  const auto [text, code] = output_of("SLURM_ARRAY_TASK_ID=7 bash " + place.path + "/array.sbatch 2000");
  CHECK(text == "[it's]\n[a  b]\n[$HOME]\n[\"q\"]\n[`x`]\n[]\n[back\\slash]\n[2007]\n");
  CHECK(code == 0);
  const std::string fail = place.program("fail", "exit 9\n");
  stats::write_file(place.path + "/array.sbatch", array_script({{fail}, place.path, 2, {}}));
  CHECK(output_of("SLURM_ARRAY_TASK_ID=7 bash " + place.path + "/array.sbatch 0").second == 9);
}

TEST_CASE("tasks are submitted by the thousand, with indices that SLURM allows") {
  const Place place;
  (void)place.program("sbatch", "echo \"$*\" >> " + place.path + "/calls\n");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (place.path + "/bin:" + path).c_str(), 1);
  submit_array({{"/p/lockstep"}, place.path, 1, {"--partition=x", "--time=1"}},
               std::vector<std::size_t>{1, 2, 3, 999, 1000, 1001, 3000});
  const std::string script = place.path + "/array.sbatch", log = "--output=" + place.path + "/logs/%A_%a.log";
  CHECK(place.text("calls") == "--array=1-3,999-1000 " + log + " --partition=x --time=1 " + script + " 0\n" +
                                   "--array=1 " + log + " --partition=x --time=1 " + script + " 1000\n" +
                                   "--array=1000 " + log + " --partition=x --time=1 " + script + " 2000\n");
  (void)place.program("sbatch", "exit 1\n");
  CHECK_THROWS_WITH(submit_array({{"/p/lockstep"}, place.path, 1, {}}, std::vector<std::size_t>{1}),
                    Catch::Contains("sbatch refused the array"));
  ::setenv("PATH", "/nowhere", 1);
  CHECK_THROWS_WITH(submit_array({{"/p/lockstep"}, place.path, 1, {}}, std::vector<std::size_t>{1}),
                    Catch::Contains("expected SLURM's commands in PATH"));
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace lockstep::study
