// The bookkeeping of tools/slurm, without SLURM: sbatch is a script here that notes its arguments.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

const std::string kTools = LOCKSTEP_SOURCE_DIR "/tools/slurm/";

struct SlurmBench {
  Folder folder;

  SlurmBench() {
    write_trace(folder / "t", {});
    std::filesystem::create_directory(folder / "bin");
    spill(folder / "bin/sbatch", "#!/bin/sh\necho \"$@\" >>" + folder / "sbatch.log");
    std::filesystem::permissions(folder / "bin/sbatch", std::filesystem::perms::owner_all);
  }

  [[nodiscard]] Launch launch(const std::string& name, const std::vector<std::string>& arguments) const {
    Launch launch{.arguments = arguments, .folder = folder.path(), .program = kTools + name};
    launch.environment = {
        {"LOCKSTEP", LOCKSTEP_BINARY},
        {"PATH", (folder / "bin:") + (std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin")}};
    return launch;
  }
  [[nodiscard]] Finished script(const std::string& name, const std::vector<std::string>& arguments) const {
    return run(launch(name, arguments));
  }

  void list(const std::string& text) const { spill(folder / "list", text); }
  [[nodiscard]] std::string pending() const { return script("batch.sh", {"pending", "list", "results"}).out; }
};

template <class Done>
bool eventually(Done&& done) {
  for (int i = 0; i < 30000 && !done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return done();
}

}  // namespace

TEST_CASE("an array resumes what is missing or partial") {
  const SlurmBench bench;
  bench.list(
      "# runs\nt v100\n\nt v100 --max-cycles 5\nt v100 --set sm.max_ctas=8\nt a100");  // no last newline
  CHECK(bench.pending() == "2,4-6\n");
  REQUIRE(bench.script("batch.sh", {"task", "list", "results", "2"}).code == 0);
  CHECK(std::filesystem::exists(bench.folder / "results/t-v100/stats.json"));
  CHECK(bench.pending() == "4-6\n");
  REQUIRE(bench.script("batch.sh", {"task", "list", "results", "4"}).code == 0);
  CHECK(bench.pending() == "5-6\n");  // cut by --max-cycles, as asked for
  REQUIRE(bench.script("batch.sh", {"task", "list", "results", "5"}).code == 0);
  CHECK(std::filesystem::exists(bench.folder / "results/t-v100-set_sm.max_ctas=8/stats.json"));
  CHECK(bench.pending() == "6\n");

  const std::string stats = bench.folder / "results/t-v100/stats.json";
  std::string text = slurp(stats);
  const std::string whole = "\"partial\":false,\"partial_reason\":\"\"";
  REQUIRE(text.find(whole) != std::string::npos);
  text.replace(text.find(whole), whole.size(), "\"partial\":true,\"partial_reason\":\"interrupted\"");
  spill(stats, text);
  CHECK(bench.pending() == "2,6\n");
  REQUIRE(bench.script("batch.sh", {"task", "list", "results", "2"}).code == 0);
  CHECK(bench.pending() == "6\n");
  CHECK(count_lines(slurp(bench.folder / "results/t-v100/attempts")) == 2);

  const auto before = std::filesystem::last_write_time(stats);
  CHECK(bench.script("batch.sh", {"task", "list", "results", "2"}).out == "results/t-v100: complete\n");
  CHECK(std::filesystem::last_write_time(stats) == before);
}

TEST_CASE("submit.sh asks sbatch for the missing lines only") {
  const SlurmBench bench;
  bench.list("t v100\nt a100\nt v100 --window 1\n");
  REQUIRE(bench.script("batch.sh", {"task", "list", "results", "2"}).code == 0);
  REQUIRE(bench.script("submit.sh", {"list", "results", "-c", "8"}).code == 0);
  CHECK_THAT(slurp(bench.folder / "sbatch.log"),
             Catch::StartsWith("--array=1,3 --output=results/logs/%A_%a.log -c 8 ") &&
                 Catch::EndsWith("/array.sbatch " + kTools + "batch.sh list results 0\n"));
  bench.list("t a100\n");
  CHECK_THAT(bench.script("submit.sh", {"list", "results"}).out, Catch::Contains("nothing to do"));
}

TEST_CASE("a list may have whole command lines, of exec too, and names") {
  const SlurmBench bench;
  std::filesystem::create_directories(bench.folder / "with blank");
  write_trace(bench.folder / "with blank/u", {});
  const std::string program = std::string(LOCKSTEP_DRIVER_EXAMPLE) + " ";
  bench.list(
      "run \"with blank/u\" -c v100 --set sm.max_ctas=8\n" + std::string("exec -c v100 -- ") + program +
      LOCKSTEP_SOURCE_DIR "/examples/ptx/vector_add.ptx\n# it's a comment\nmine: t a100 --max-cycles 5\n");
  CHECK(bench.pending() == "1-2,4\n");
  for (const char* line : {"1", "2", "4"}) {
    const Finished result = bench.script("batch.sh", {"task", "list", "results", line});
    INFO(result.err);
    CHECK(result.code == 0);
  }
  for (const char* folder : {"u_v100_set_sm.max_ctas=8", "v100_vector_add_vector_add.ptx", "mine"})
    CHECK(std::filesystem::exists(bench.folder / ("results/" + std::string(folder) + "/stats.json")));
  CHECK(bench.pending().empty());
}

TEST_CASE("a run that always fails is given up") {
  const SlurmBench bench;
  bench.list("t v100\nnone v100\n");
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    CHECK(bench.pending() == "1-2\n");
    CHECK(bench.script("batch.sh", {"task", "list", "results", "2"}).code == 2);
  }
  CHECK(bench.pending() == "1\n");
  const Finished more = bench.script("batch.sh", {"task", "list", "results", "2"});
  CHECK(more.code == 1);
  CHECK_THAT(more.err, Catch::Contains("results/none-v100: given up after 3 attempts"));
  CHECK(count_lines(slurp(bench.folder / "results/none-v100/attempts")) == 3);
  const Finished submitted = bench.script("submit.sh", {"list", "results"});
  CHECK(submitted.code == 0);
  CHECK_THAT(slurp(bench.folder / "sbatch.log"), Catch::StartsWith("--array=1 "));
  CHECK_THAT(submitted.err,
             Catch::Contains("given up after 3 attempts") && Catch::Contains("results/none-v100"));
  std::filesystem::remove(bench.folder / "results/none-v100/attempts");
  CHECK(bench.pending() == "1-2\n");
}

TEST_CASE("the statistics of all runs are collected in one table") {
  const SlurmBench bench;
  write_trace(bench.folder / "three", {.kernels = 3});
  bench.list("t v100\nthree a100\nnone v100\nthree v100\n");
  for (const char* line : {"1", "2", "3"}) (void)bench.script("batch.sh", {"task", "list", "results", line});
  const Finished collected = bench.script("batch.sh", {"collect", "list", "results"});
  REQUIRE(collected.code == 0);
  std::istringstream table(collected.out);
  std::vector<std::string> rows;
  for (std::string row; std::getline(table, row);) rows.push_back(row);
  REQUIRE(rows.size() == 1 + 1 + 3 + 2);
  std::istringstream own(slurp(bench.folder / "results/t-v100/stats.csv"));
  std::string header, kernel;
  std::getline(own, header);
  std::getline(own, kernel);
  CHECK(rows[0] == "run,state,attempts,gpu,config_hash," + header);
  CHECK_THAT(rows[1], Catch::StartsWith("\"t-v100\",complete,1,v100,") && Catch::EndsWith("," + kernel));
  CHECK_THAT(rows[4], Catch::StartsWith("\"three-a100\",complete,1,a100,"));
  CHECK_THAT(rows[5], Catch::StartsWith("\"none-v100\",missing,1,,"));
  CHECK_THAT(rows[6], Catch::StartsWith("\"three-v100\",missing,0,,"));
  for (const std::string& row : rows)
    CHECK(std::count(row.begin(), row.end(), ',') == std::count(rows[0].begin(), rows[0].end(), ','));
}

TEST_CASE("long lists are submitted in chunks of a thousand") {
  const SlurmBench bench;
  std::string list;
  for (int i = 1; i <= 1203; ++i) list += fmt::format("trace{} v100\n", i);
  bench.list(list);
  REQUIRE(bench.script("submit.sh", {"list", "results"}).code == 0);
  const std::string log = slurp(bench.folder / "sbatch.log");
  CHECK(count_lines(log) == 2);
  CHECK_THAT(log, Catch::Contains("--array=1-1000 ") && Catch::Contains("batch.sh list results 0\n"));
  CHECK_THAT(log, Catch::Contains("--array=1-203 ") && Catch::Contains("batch.sh list results 1000\n"));
}

TEST_CASE("mistakes in a list are named by line") {
  const SlurmBench bench;
  const auto refused = [&](const char* text) {
    bench.list(text);
    const Finished result = bench.script("submit.sh", {"list", "results"});
    CHECK(result.code == 2);
    CHECK(!std::filesystem::exists(bench.folder / "sbatch.log"));
    return result.err;
  };
  CHECK_THAT(refused("t v100\nt\n"), Catch::Contains("list:2: found 't', expected TRACE CONFIG"));
  CHECK_THAT(refused("t v100\nother/t v100\n"),
             Catch::Contains("list:2: line 1 writes to results/t-v100, too"));
  CHECK_THAT(refused("t v100 -o x\n"), Catch::Contains("list:1: found 't v100 -o x', expected no -o"));
  CHECK_THAT(refused("t v100 'x\n"), Catch::Contains("expected a closing quote"));
  CHECK(bench.script("batch.sh", {"pending", "none", "results"}).code == 2);
  CHECK(bench.script("batch.sh", {"task", "list", "results", "9"}).code == 2);
  CHECK(bench.script("batch.sh", {"task", "list", "results"}).code == 2);
}

TEST_CASE("at the time limit a run is kept, queued again, and goes on; a cancelled one is not queued again",
          "[long]") {
  const SlurmBench bench;
  write_trace(bench.folder / "long", {.kernels = 200, .ctas = 160, .warps = 8, .body = 60});
  spill(bench.folder / "bin/scontrol", "#!/bin/sh\necho \"$@\" >>" + bench.folder / "scontrol.log");
  std::filesystem::permissions(bench.folder / "bin/scontrol", std::filesystem::perms::owner_all);
  REQUIRE(run({"run", bench.folder / "long", "-q", "-c", "v100", "-o", bench.folder / "whole"}).code == 0);
  bench.list("long v100\n");
  const std::string place = bench.folder / "results/long-v100/";
  Launch launch =
      bench.launch("array.sbatch", {kTools + "array.sbatch", kTools + "batch.sh", "list", "results", "0"});
  launch.program = "/bin/bash";
  launch.environment.emplace_back("SLURM_ARRAY_TASK_ID", "1");
  launch.environment.emplace_back("SLURM_JOB_ID", "77");
  unsigned stopped = 0;
  for (const int signal : {SIGTERM, SIGUSR1, SIGUSR1}) {
    Program job(launch);
    REQUIRE(eventually([&] { return std::filesystem::exists(place + "stats.json"); }));  // a kernel is done
    job.send(signal);
    const Finished result = job.wait();
    CAPTURE(result.err);
    if (result.code == 0) break;  // it was quicker
    CHECK(result.code == 75);
    ++stopped;
    CHECK(count_lines(slurp(place + "attempts")) == stopped);
    if (signal == SIGTERM) CHECK_FALSE(std::filesystem::exists(bench.folder / "scontrol.log"));
    if (signal == SIGUSR1) CHECK(slurp(bench.folder / "scontrol.log").ends_with("requeue 77\n"));
    CHECK(bench.pending() == "1\n");
    std::filesystem::remove(place + "stats.json");
  }
  CHECK(stopped > 0);
  const Finished last = run(launch);
  CAPTURE(last.err);
  CHECK(last.code == 0);
  CHECK(slurp(place + "stats.json") == slurp(bench.folder / "whole/stats.json"));
  CHECK_THAT(slurp(place + "attempts"), Catch::Contains(" from kernels-"));
  CHECK(bench.pending().empty());
}

TEST_CASE("attempts count from where a run would go on") {
  const SlurmBench bench;
  bench.list("t v100\n");
  const std::string place = bench.folder / "results/t-v100/";
  std::filesystem::create_directories(place + "checkpoints");
  spill(place + "checkpoints/kernels-000000000007.checkpoint", "");
  spill(place + "attempts",
        "1\n2\n3\n4 from kernels-000000000003.checkpoint\n5 from kernels-000000000007.checkpoint\n");
  CHECK(bench.pending() == "1\n");  // once from there
  spill(place + "attempts", slurp(place + "attempts") + "6 from kernels-000000000007.checkpoint\n" +
                                "7 from kernels-000000000007.checkpoint\n");
  CHECK(bench.pending().empty());
  std::filesystem::remove_all(place + "checkpoints");
  CHECK(bench.pending().empty());  // three times from the beginning
  spill(place + "attempts", "1\n2\n4 from kernels-000000000003.checkpoint\n");
  CHECK(bench.pending() == "1\n");
}

}  // namespace lockstep::cli
