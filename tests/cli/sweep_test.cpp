// `lockstep sweep` as a user calls it.
#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Two traces of the same content, one of another, on two schedulers and two numbers of CTAs.
struct SweepBench {
  Folder folder;
  SweepBench() {
    write_trace(folder / "t", {});
    write_trace(folder / "same", {});
    write_trace(folder / "long", {.body = 40});
    study("");
  }
  void study(const std::string& more) const {
    spill(folder / "s.toml",
          "config = \"v100\"\n[[workload]]\ntrace = \"t\"\n[[workload]]\ntrace = "
          "\"same\"\n[[workload]]\ntrace = \"long\"\n"
          "[[axis]]\nkey = \"sm.max_ctas\"\nvalues = [8, 16]\n"
          "[[axis]]\nname = \"mhz\"\nkey = \"clock.core_mhz\"\nvalues = [500, 1000]\n" +
              more);
  }
  [[nodiscard]] Finished sweep(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"sweep", folder / "s.toml", "-o", folder / "out"});
    return run(arguments);
  }
  [[nodiscard]] std::string table() const { return slurp(folder / "out/table.csv"); }
  [[nodiscard]] std::vector<std::string> runs() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder / "out/runs"))
      all.push_back(entry.path().string());
    return all;
  }
};

std::vector<Json> rows_of(const std::string& json_lines) {
  std::vector<Json> rows;
  for (std::size_t at = 0; at < json_lines.size();) {
    const std::size_t end = json_lines.find('\n', at);
    rows.push_back(Json::parse(json_lines.substr(at, end - at)));
    at = end + 1;
  }
  return rows;
}

}  // namespace

TEST_CASE("a sweep runs each different run once and has a row for each of the study") {
  const SweepBench bench;
  const Finished done = bench.sweep({"-j", "2"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const auto rows = rows_of(slurp(bench.folder / "out/table.jsonl"));
  REQUIRE(rows.size() == 12);
  CHECK(bench.runs().size() == 8);  // `t` and `same` have the same content
  CHECK(rows[0]["run"] == rows[4]["run"]);
  CHECK(rows[0]["workload"] == "t");
  CHECK(rows[11]["workload"] == "long");
  CHECK(rows[11]["mhz"] == 1000);
  // Against the same run by itself.
  const Finished alone = run({"run", bench.folder / "long", "-c", "v100", "--set", "sm.max_ctas=16", "--set",
                              "clock.core_mhz=1000", "-q", "-o", bench.folder / "alone"});
  REQUIRE(alone.code == 0);
  const Json stats = Json::parse(slurp(bench.folder / "alone/stats.json"));
  CHECK(rows[11]["cycles"] == stats["total"]["cycles"]);
  CHECK(rows[11]["l1.hits"] == stats["total"]["l1"]["hits"]);
  CHECK(rows[11]["config_hash"] == stats["config_hash"]);
  CHECK_THAT(done.out, Catch::Contains("results in ") && Catch::Contains("complete"));
}

TEST_CASE("a sweep's files are the same bytes in whatever way its runs ran") {
  const std::string figure =
      "[speedup]\nagainst = { mhz = 500 }\n[[figure]]\nname = \"f\"\nx = \"mhz\"\ny = \"cycles\"\n"
      "series = \"workload\"\nwhere = { \"sm.max_ctas\" = 8 }\n";
  const auto files = [&](const std::vector<std::string>& arguments) {
    const SweepBench bench;
    bench.study(figure);
    REQUIRE(bench.sweep(arguments).code == 0);
    return bench.table() + slurp(bench.folder / "out/table.jsonl") +
           slurp(bench.folder / "out/figures/f.svg");
  };
  const std::string one = files({"-j", "1", "-t", "1"});
  CHECK_THAT(one, Catch::Contains("<svg") && Catch::Contains(",speedup"));
  CHECK(files({"-j", "3", "-t", "2"}) == one);
  const SweepBench tasks;
  tasks.study(figure);
  for (const char* task : {"8", "3", "1", "2", "7", "5", "6", "4"})
    REQUIRE(tasks.sweep({"--task", task}).code == 0);
  REQUIRE(tasks.sweep({"--collect"}).code == 0);
  CHECK(tasks.table() + slurp(tasks.folder / "out/table.jsonl") + slurp(tasks.folder / "out/figures/f.svg") ==
        one);
}

TEST_CASE("a second start makes only what is missing") {
  const SweepBench bench;
  REQUIRE(bench.sweep({"-q"}).code == 0);
  const std::string before = bench.table();
  const std::string lost = bench.runs().front();
  const std::string kept = bench.runs().back() + "/stats.json";
  fs::remove(lost + "/stats.json");
  const auto time = fs::last_write_time(kept);
  CHECK_THAT(bench.sweep({"--list"}).out, Catch::Contains("missing"));
  const Finished again = bench.sweep({});
  CHECK_THAT(again.err, Catch::StartsWith("8 runs, 1 to do"));
  CHECK(bench.table() == before);
  CHECK(fs::last_write_time(kept) == time);
  CHECK_THAT(bench.sweep({"--rerun", "all"}).err, Catch::StartsWith("8 runs, 8 to do"));
  CHECK(bench.table() == before);
}

TEST_CASE("a column that is misspelt is refused before any run of the study") {
  const SweepBench bench;
  bench.study("[speedup]\nof = \"cycels\"\nagainst = { mhz = 500 }\n");
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{}, {"--task", "1"}, {"--slurm"}}) {
    const Finished refused = bench.sweep(how);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err,
               Catch::Contains("s.toml: speedup: no run has the statistic 'cycels'; did you mean 'cycles'?"));
  }
  CHECK_FALSE(fs::exists(bench.folder / "out"));
}

TEST_CASE("a run that fails is kept with its error and the others are the better for nothing") {
  const SweepBench bench;
  // The list is in order, and so is the first line of the kernel; a later one is not.
  std::string kernel = slurp(bench.folder / "long/kernel-1.traceg");
  kernel.replace(kernel.find("FFMA", kernel.size() / 2), 4, "FF A");
  spill(bench.folder / "long/kernel-1.traceg", kernel);
  const Finished done = bench.sweep({});
  CHECK(done.code == 1);
  const auto rows = rows_of(slurp(bench.folder / "out/table.jsonl"));
  CHECK(rows[0]["state"] == "complete");
  CHECK(rows[8]["state"] == "failed");
  CHECK(!rows[8].contains("cycles"));
  CHECK_THAT(rows[8]["error"].get<std::string>(),
             Catch::StartsWith("exit code 2: error: ") && Catch::Contains("kernel-1.traceg:"));
  CHECK_THAT(bench.sweep({}).err, Catch::StartsWith("8 runs, 0 to do"));
  CHECK_THAT(bench.sweep({"--rerun", "failed"}).err, Catch::StartsWith("8 runs, 4 to do"));
}

TEST_CASE("Ctrl-C keeps what is finished; what was cut off is run again") {
  const SweepBench bench;
  write_trace(bench.folder / "long", {.ctas = 400, .body = 4000});  // seconds
  Program program({.arguments = {"sweep", bench.folder / "s.toml", "-o", bench.folder / "out", "-j", "1"}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto done = [&] {
    std::error_code none;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(bench.folder / "out/runs", none))
      count += entry.is_directory();
    return count >= 5;  // four short ones, and the first long one has begun
  };
  while (!done() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  program.send(SIGINT);
  const Finished cut = program.wait();
  CHECK(cut.code == 130);
  const auto rows = rows_of(slurp(bench.folder / "out/table.jsonl"));
  REQUIRE(rows.size() == 12);
  CHECK(rows[0]["state"] == "complete");
  CHECK(rows[11]["state"] == "missing");
  write_trace(bench.folder / "long", {.body = 40});  // another trace: other runs
  CHECK_THAT(bench.sweep({}).err, Catch::StartsWith("8 runs, 4 to do"));
}

TEST_CASE("a sweep that is killed is resumed") {
  const SweepBench bench;
  write_trace(bench.folder / "long", {.ctas = 40, .body = 1000});
  REQUIRE(run({"sweep", bench.folder / "s.toml", "-o", bench.folder / "whole", "-q"}).code == 0);
  {
    Program program({.arguments = {"sweep", bench.folder / "s.toml", "-o", bench.folder / "out", "-j", "2"}});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    program.send(SIGKILL);
    (void)program.wait();
  }
  // A process of the killed one may still be at its run: then that is not started twice.
  Finished again = bench.sweep({"-q"});
  for (int i = 0; i < 200 && again.code != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    again = bench.sweep({"-q"});
  }
  CHECK(again.code == 0);
  CHECK(bench.table() == slurp(bench.folder / "whole/table.csv"));
}

TEST_CASE("bad studies end before the first run, with one line") {
  const SweepBench bench;
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Finished result = bench.sweep(arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(count_lines(result.err) == 1);
    CHECK(!fs::exists(bench.folder / "out"));
    return result.err;
  };
  bench.study("[[axis]]\nkey = \"l1.wais\"\nvalues = [1]\n");
  CHECK_THAT(refused({}), Catch::Contains("s.toml:2: t, sm.max_ctas 8, mhz 500, l1.wais 1: ") &&
                              Catch::Contains("did you mean 'l1.ways'?"));
  bench.study("[[axis]]\noption = \"thread\"\nvalues = [1]\n");
  CHECK_THAT(refused({}), Catch::Contains("unknown option '--thread=1'; did you mean '--threads'?"));
  bench.study("[[axis]]\noption = \"threads\"\nvalues = [1]\n");
  CHECK_THAT(refused({}), Catch::Contains("option 'threads' is not for studies"));
  bench.study("[[workload]]\ntrace = \"none\"\n");
  CHECK_THAT(refused({}), Catch::Contains("none, sm.max_ctas 8, mhz 500: ") && Catch::Contains("none"));
  bench.study("[[workload]]\nprogram = [\"./none\"]\n");
  CHECK_THAT(refused({}), Catch::Contains("program ./none: no such file"));
  bench.study("[[axis]]\nconfig = []\n");
  CHECK_THAT(refused({}), Catch::Contains("expected a list with at least one element"));
  bench.study("");
  CHECK_THAT(refused({"--task", "9"}), Catch::Contains("--task: found 9, expected 1 to 8"));
  CHECK_THAT(refused({"--list", "--slurm"}), Catch::Contains("--list and --slurm; expected one of them"));
  CHECK_THAT(refused({"--list", "-j", "2"}), Catch::Contains("--jobs has no effect with --list"));
  CHECK_THAT(refused({"--rerun", "some"}), Catch::Contains("expected failed or all"));
  CHECK_THAT(refused({"--", "-c", "8"}), Catch::Contains("expected --slurm"));
}

TEST_CASE("programs and launch scripts are workloads, too") {
  const SweepBench bench;
  const std::string ptx = LOCKSTEP_SOURCE_DIR "/examples/ptx/vector_add.ptx";
  spill(bench.folder / "s.toml",
        "[[workload]]\nname = \"program\"\nprogram = [\"" LOCKSTEP_DRIVER_EXAMPLE "\", \"" + ptx +
            "\"]\n"
            "[[workload]]\nname = \"script\"\ntrace = \"" +
            ptx +
            "\"\nlaunch = \"" LOCKSTEP_SOURCE_DIR
            "/examples/vector_add.launch\"\n"
            "[[axis]]\nconfig = [\"v100\", \"a100\"]\n");
  const Finished done = bench.sweep({});
  INFO(done.err);
  CHECK(done.code == 0);
  const auto rows = rows_of(slurp(bench.folder / "out/table.jsonl"));
  REQUIRE(rows.size() == 4);
  for (const Json& row : rows) CHECK(row["kernels"] >= 1);
  CHECK(rows[1]["gpu"] == "a100");
}

TEST_CASE("the study that ships runs", "[long]") {
  const Folder folder;
  const Finished done =
      run({"sweep", LOCKSTEP_SOURCE_DIR "/studies/quick.toml", "-o", folder / "out", "--json"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const Json table = Json::parse(done.out);
  REQUIRE(table["runs"].size() == 24);
  // A memory that is faster, all else the same, makes the trace that misses everywhere faster and never
  // slower.
  for (std::size_t r = 3; r < 12; ++r)
    CHECK(table["runs"][r]["elapsed_ns"] < table["runs"][r - 3]["elapsed_ns"]);
  CHECK(table["runs"][0]["speedup"] == 1);
  for (const char* name : {"time", "ipc", "speedup", "pareto"})
    CHECK_THAT(slurp(folder / fmt::format("out/figures/{}.svg", name)), Catch::Contains("</svg>"));
  CHECK(run({"sweep", LOCKSTEP_SOURCE_DIR "/studies/lulesh_clocks.toml", "--list"}).code ==
        2);  // no trace there
}

TEST_CASE("a study as a SLURM array: what is missing, in chunks, and its tasks") {
  const SweepBench bench;
  fs::create_directory(bench.folder / "bin");
  spill(bench.folder / "bin/sbatch", "#!/bin/sh\necho \"$@\" >>" + (bench.folder / "sbatch.log"));
  fs::permissions(bench.folder / "bin/sbatch", fs::perms::owner_all);
  const std::string path =
      (bench.folder / "bin:") + (std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin");
  const auto submit = [&](const std::string& program, std::vector<std::string> arguments) {
    return run(Launch{.arguments = std::move(arguments),
                      .environment = {{"PATH", path}, {"LOCKSTEP", LOCKSTEP_BINARY}},
                      .program = program});
  };
  REQUIRE(bench.sweep({"--task", "2"}).code == 0);
  const std::string out = bench.folder / "out";
  REQUIRE(submit(LOCKSTEP_BINARY,
                 {"sweep", bench.folder / "s.toml", "-o", out, "--slurm", "-t", "4", "--", "-p", "short"})
              .code == 0);
  CHECK(slurp(bench.folder / "sbatch.log") ==
        fmt::format("--array=1,3-8 --output={0}/logs/%A_%a.log -p short {0}/array.sbatch 0\n", out));
  CHECK_THAT(slurp(out + "/array.sbatch"), Catch::Contains("--cpus-per-task=4"));
  // A task, as SLURM would start it.
  const Finished task =
      run(Launch{.arguments = {out + "/array.sbatch", "0"},
                 .environment = {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_CPUS_PER_TASK", "2"}},
                 .program = "/bin/bash"});
  INFO(task.err);
  CHECK(task.code == 0);
  CHECK_THAT(bench.sweep({"--list"}).out,
             Catch::Contains("   5  complete") && Catch::Contains("   6  missing"));
  // tools/slurm's array takes a study for a list.
  fs::remove(bench.folder / "sbatch.log");
  REQUIRE(
      submit(LOCKSTEP_SOURCE_DIR "/tools/slurm/submit.sh", {bench.folder / "s.toml", out, "-c", "8"}).code ==
      0);
  CHECK_THAT(slurp(bench.folder / "sbatch.log"),
             Catch::StartsWith("--array=1,3-4,6-8 ") && Catch::Contains(" -c 8 "));
  spill(bench.folder / "bin/sbatch", "#!/bin/sh\nexit 3\n");
  CHECK(submit(LOCKSTEP_BINARY, {"sweep", bench.folder / "s.toml", "-o", out, "--slurm"}).code == 2);
}

TEST_CASE("a task of a study is kept at the time limit, queued again, and goes on", "[long]") {
  const SweepBench bench;
  write_trace(bench.folder / "t", {.kernels = 200, .ctas = 160, .warps = 8, .body = 60});
  spill(bench.folder / "s.toml", "config = \"v100\"\n[[workload]]\ntrace = \"t\"\n");
  fs::create_directory(bench.folder / "bin");
  for (const char* name : {"sbatch", "scontrol"}) {
    const std::string script = bench.folder / "bin/" + name;
    spill(script, "#!/bin/sh\necho \"$@\" >>" + (bench.folder / name) + ".log\n");
    fs::permissions(script, fs::perms::owner_all);
  }
  const std::string path = (bench.folder / "bin:") + (std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin");
  REQUIRE(run({"run", bench.folder / "t", "-q", "-c", "v100", "-o", bench.folder / "whole"}).code == 0);
  const std::string out = bench.folder / "out";
  REQUIRE(run(Launch{.arguments = {"sweep", bench.folder / "s.toml", "-o", out, "--slurm"},
                     .environment = {{"PATH", path}}})
              .code == 0);
  const Launch task{.arguments = {out + "/array.sbatch", "0"},
                    .environment = {{"PATH", path}, {"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_JOB_ID", "77"}},
                    .program = "/bin/bash"};
  Program job(task);
  const auto under_way = [&] {
    return fs::exists(out + "/runs") && !bench.runs().empty() && fs::exists(bench.runs()[0] + "/stats.json");
  };
  for (int i = 0; i < 30000 && !under_way(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(under_way());  // a kernel is done
  job.send(SIGUSR1);
  const Finished stopped = job.wait();
  CAPTURE(stopped.err);
  REQUIRE(stopped.code == 75);
  CHECK_THAT(stopped.err, Catch::Contains("cut off, with a checkpoint"));
  CHECK(slurp(bench.folder / "scontrol.log") == "requeue 77\n");
  CHECK_THAT(bench.sweep({"--list"}).out, Catch::Contains("missing"));
  // It goes on from the newest checkpoint: where that is damaged it says so, and --rerun begins anew.
  const std::string place = bench.runs()[0];
  std::string newest;
  for (const auto& entry : fs::directory_iterator(place + "/checkpoints"))
    newest = std::max(newest, entry.path().string());
  const std::string whole = slurp(newest);
  spill(newest, whole.substr(0, whole.size() / 2));
  CHECK(run(task).code == 1);
  CHECK_THAT(bench.sweep({"--list"}).out, Catch::Contains("failed") && Catch::Contains(newest));
  spill(newest, whole);
  fs::remove(place + "/failure.json");
  const Finished last = run(task);
  CAPTURE(last.err);
  CHECK(last.code == 0);
  CHECK(fs::is_empty(place + "/checkpoints"));
  CHECK(slurp(bench.runs()[0] + "/stats.json") == slurp(bench.folder / "whole/stats.json"));
}

}  // namespace lockstep::cli
