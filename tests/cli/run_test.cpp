#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "paths.hpp"
#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::json;

Json stats_of(const std::string& folder) { return Json::parse(slurp(folder + "/stats.json")); }
Json host_of(const std::string& folder) { return Json::parse(slurp(folder + "/host.json")); }

void wait_for_file(const std::string& file) {
  for (int i = 0; i < 30000 && !std::filesystem::exists(file); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  REQUIRE(std::filesystem::exists(file));
}

}  // namespace

TEST_CASE("a run writes its files and a summary") {
  const Folder folder;
  const TinyTrace trace{.kernels = 3, .ctas = 5, .warps = 2, .body = 20};
  write_trace(folder / "t", trace);
  const Finished result = run({"run", folder / "t", "-o", folder / "out"});
  CAPTURE(result.err);
  REQUIRE(result.code == 0);
  CHECK_THAT(result.out,
             Catch::Contains("tiny") && Catch::Contains("total") && Catch::Contains("results in"));
  const Json stats = stats_of(folder / "out");
  CHECK(stats["schema"] == 1);
  CHECK(stats["gpu"] == "v100");
  CHECK(stats["trace"]["name"] == "t");
  CHECK(stats["partial"] == false);
  CHECK(stats["kernels"].size() == 3);
  CHECK(stats["total"]["warp_instructions"] == trace.warp_instructions());
  CHECK(stats["total"]["thread_instructions"] == trace.warp_instructions() * 32);
  // Dependent FFMAs of four cycles each: a kernel takes at least that long.
  CHECK(stats["kernels"][0]["cycles"].get<std::uint64_t>() >= 20 * 4);
  CHECK(count_lines(slurp(folder / "out/stats.csv")) == 4);
  const Json host = host_of(folder / "out");
  CHECK(host["warp_instructions"] == trace.warp_instructions());
  CHECK(host["seconds_kernels"] > 0);
  CHECK(host["seconds_kernels"] < host["wall_seconds"]);
  CHECK_THAT(slurp(folder / "out/config.ini"), Catch::Contains("v100"));
}

TEST_CASE("what differs from the GPU model is named, and a resolved configuration says the same") {
  const Folder folder;
  write_trace(folder / "t", {});
  REQUIRE(run({"run", folder / "t", "-o", folder / "a", "--set", "sm.scheduler=lrr", "--set", "l1.ways=8",
               "--set", "launch.latency_ns=5000"})
              .code == 0);
  const Json overrides = stats_of(folder / "a")["overrides"];
  CHECK(overrides["sm.scheduler"] == "lrr");
  CHECK(overrides["l1.ways"] == "8");
  CHECK(overrides.size() == 3);
  REQUIRE(run({"run", folder / "t", "-o", folder / "b", "-c", folder / "a/config.ini"}).code == 0);
  CHECK(slurp(folder / "a/stats.json") == slurp(folder / "b/stats.json"));
  REQUIRE(run({"run", folder / "t", "-o", folder / "c"}).code == 0);
  CHECK(stats_of(folder / "c")["overrides"].empty());
  spill(folder / "mine.ini", "include = v100\n[gpu]\nname = mine\n[l1]\nways = 8\n");
  REQUIRE(run({"run", folder / "t", "-o", folder / "d", "-c", folder / "mine.ini"}).code == 0);
  CHECK(stats_of(folder / "d")["overrides"].empty());
  const Finished compared = run({"compare", folder / "c", folder / "a", folder / "b"});
  CHECK(compared.code == 1);
  CHECK_THAT(compared.out, Catch::Contains("l1.ways") && Catch::Contains("sm.scheduler"));
  CHECK(run({"compare", folder / "a", folder / "b", folder / "a"}).code == 0);
}

TEST_CASE("a warm L2 after copies is remarked where it matters, and how to change it") {
  const Folder folder;
  const std::string sgemm = LOCKSTEP_SOURCE_DIR "/traces/sgemm";
  CHECK_THAT(run({"run", sgemm}).out, Catch::Contains("--set host.warms_l2=false starts with a cold L2"));
  CHECK_THAT(run({"run", sgemm, "--set", "host.warms_l2=false"}).out, !Catch::Contains("remark"));
  write_trace(folder / "t", {});  // no copies
  CHECK_THAT(run({"run", folder / "t"}).out, !Catch::Contains("remark"));
}

TEST_CASE("without -o nothing is written, with --quiet nothing is said") {
  const Folder folder;
  write_trace(folder / "t", {});
  Launch launch{.arguments = {"run", "t"}, .folder = folder.path()};
  CHECK_THAT(run(launch).out, Catch::Contains("no files written"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  launch.arguments = {"run", "t", "--quiet", "-o", "out"};
  const Finished quiet = run(launch);
  CHECK(quiet.code == 0);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  CHECK(stats_of(folder / "out")["kernels"].size() == 1);
}

TEST_CASE("a work log has a line for each window and leaves the results as they are") {
  const Folder folder;
  write_trace(folder / "t", {.kernels = 2, .ctas = 7, .warps = 4, .body = 30});
  REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "plain", "--threads", "1"}).code == 0);
  REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "logged", "--threads", "1", "--work-log",
               folder / "log"})
              .code == 0);
  CHECK(slurp(folder / "plain/stats.json") == slurp(folder / "logged/stats.json"));
  const Json host = host_of(folder / "logged");
  const std::string log = slurp(folder / "log");
  CHECK(count_lines(log) == host["windows"].get<std::size_t>());
  // Each item is a domain that was awake or a task of decoding.
  const auto items = static_cast<double>(std::count(log.begin(), log.end(), ' '));
  const double domains = host["awake_domains_per_window"].get<double>() * host["windows"].get<double>();
  CHECK(items > domains - 1);
  CHECK(items < domains + 2 * 7 + 1);
  const Finished two = run({"run", folder / "t", "--threads", "2", "--work-log", folder / "two"});
  CHECK(two.code == 2);
  CHECK_THAT(two.err, Catch::Contains("--work-log: found 2 threads, expected --threads 1"));
  CHECK(!std::filesystem::exists(folder / "two"));
}

TEST_CASE("stats.json does not depend on threads, engine options, paths or earlier results") {
  const Folder folder;
  write_trace(folder / "t", {.kernels = 2, .ctas = 7, .warps = 4, .body = 30});
  std::filesystem::create_directories(folder / "elsewhere");
  std::filesystem::copy(folder / "t", folder / "elsewhere/t");
  REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "one", "--threads", "1"}).code == 0);
  const std::string expected = slurp(folder / "one/stats.json");
  const std::vector<std::vector<std::string>> variants{{"--threads", "2"},
                                                       {"--threads", "2", "--schedule", "static"},
                                                       {"--window", "1"},
                                                       {"--no-skip"},
                                                       {"--shuffle", "7"}};
  for (const auto& variant : variants) {
    std::vector<std::string> arguments{"run", folder / "elsewhere/t", "-q", "-o", folder / "two"};
    arguments.insert(arguments.end(), variant.begin(), variant.end());
    CAPTURE(variant);
    REQUIRE(run(arguments).code == 0);
    CHECK(slurp(folder / "two/stats.json") == expected);
  }
  CHECK(run({"compare", folder / "one", folder / "two"}).code == 0);
}

TEST_CASE("compare reports by its exit code whether runs differ") {
  const Folder folder;
  write_trace(folder / "t", {});
  REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "a"}).code == 0);
  write_trace(folder / "t", {.body = 11});
  REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "b"}).code == 0);
  const Finished differ = run({"compare", folder / "a", folder / "b"});
  CHECK(differ.code == 1);
  CHECK_THAT(differ.out, Catch::Contains("warp_instructions") && Catch::Contains("+4"));
  const Finished json = run({"compare", folder / "a", folder / "b", "--json"});
  CHECK(json.code == 1);
  CHECK(Json::parse(json.out)["different"].get<int>() > 0);
  CHECK(run({"compare", folder / "a", folder / "b", "--tolerance", "1000"}).code == 0);
  spill(folder / "b/stats.json", "{");
  CHECK(run({"compare", folder / "a", folder / "b"}).code == 2);
}

TEST_CASE("threads come from SLURM, then OpenMP, then the affinity mask") {
  const Folder folder;
  write_trace(folder / "t", {});
  const auto threads = [&](std::vector<std::pair<std::string, std::string>> environment) {
    Launch launch{.arguments = {"run", folder / "t", "-q", "-o", folder / "out"}};
    launch.environment = std::move(environment);
    REQUIRE(run(launch).code == 0);
    return host_of(folder / "out")["threads"].get<int>();
  };
  CHECK(threads({{"SLURM_CPUS_PER_TASK", "1"}, {"OMP_NUM_THREADS", "2"}}) == 1);
  CHECK(threads({{"OMP_NUM_THREADS", "1,4"}}) == 1);
  CHECK(threads({{"SLURM_CPUS_PER_TASK", "many"}, {"OMP_NUM_THREADS", "1"}}) == 1);
}

TEST_CASE("more threads than cores are warned of once") {
  const Folder folder;
  write_trace(folder / "t", {});
  const Finished result = run({"run", folder / "t", "-q", "--threads", "1000", "--max-cycles", "1"});
  CHECK(result.code == 0);
  CHECK(count_lines(result.err) == 1);
  CHECK_THAT(result.err, Catch::StartsWith("lockstep: warning: "));
}

TEST_CASE("a trace of another architecture is remarked on") {
  const Folder folder;
  write_trace(folder / "t", {.arch = 80});
  const Finished result = run({"run", folder / "t", "-o", folder / "out"});
  CHECK_THAT(
      result.out,
      Catch::Contains("remark: code of sm_80 runs on v100: its instructions have the latencies of sm_70"));
  CHECK(stats_of(folder / "out")["remarks"].size() >= 1);
  write_trace(folder / "t", {.arch = 70});
  CHECK_THAT(run({"run", folder / "t"}).out, !Catch::Contains("remark: code of"));
}

TEST_CASE("kernels are selected by id") {
  const Folder folder;
  write_trace(folder / "t", {.kernels = 6});
  REQUIRE(run({"run", folder / "t", "-q", "--kernels", "2,4-5", "-o", folder / "out"}).code == 0);
  const Json stats = stats_of(folder / "out");
  std::vector<int> ids;
  for (const Json& kernel : stats["kernels"]) ids.push_back(kernel["id"]);
  CHECK(ids == std::vector<int>{2, 4, 5});
}

TEST_CASE("--max-cycles ends a run early and says so") {
  const Folder folder;
  write_trace(folder / "t", kLong);
  const Finished result = run({"run", folder / "t", "--max-cycles", "12000", "-o", folder / "out"});
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Catch::Contains("PARTIAL RESULTS: max-cycles"));
  const Json stats = stats_of(folder / "out");
  CHECK(stats["partial"] == true);
  CHECK(stats["partial_reason"] == "max-cycles");
}

TEST_CASE("intervals are written where they are asked for") {
  const Folder folder;
  const TinyTrace trace{.kernels = 1, .ctas = 4, .warps = 2, .body = 100};
  write_trace(folder / "t", trace);
  REQUIRE(run({"run", folder / "t", "-q", "--interval", "100", "-o", folder / "out"}).code == 0);
  CHECK(count_lines(slurp(folder / "out/intervals.csv")) > 2);
  const Json stats = stats_of(folder / "out");
  std::uint64_t sum = 0;
  for (const Json& row : stats["intervals"]["rows"]) sum += row[1].get<std::uint64_t>();
  CHECK(sum == trace.warp_instructions());
}

TEST_CASE("broken traces are refused with their file") {
  const Folder folder;
  write_trace(folder / "t", {.kernels = 2});
  std::filesystem::remove(folder / "t/kernel-2.traceg");
  const Finished missing = run({"run", folder / "t", "-o", folder / "out"});
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Catch::Contains("kernel-2.traceg"));
  CHECK(!std::filesystem::exists(folder / "out/stats.json"));
}

TEST_CASE("kernels that were done before an error in the trace are kept") {
  const Folder folder;
  write_trace(folder / "t", {.kernels = 2});
  std::string text = slurp(folder / "t/kernel-2.traceg");
  text.replace(text.find("FFMA 3 R4"), 9, "FFMA x R4");
  spill(folder / "t/kernel-2.traceg", text);
  const Finished broken = run({"run", folder / "t", "-o", folder / "out"});
  CHECK(broken.code == 2);
  CHECK_THAT(broken.err, Catch::Contains("kernel-2.traceg:"));
  const Json stats = stats_of(folder / "out");
  CHECK(stats["partial"] == true);
  CHECK(stats["kernels"].size() == 1);
}

TEST_CASE("a full disk is an error, not a broken file") {
  const Folder folder;
  write_trace(folder / "t", {.kernels = 30});
  REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "good"}).code == 0);
  const auto config = std::filesystem::file_size(folder / "good/config.ini");
  const auto stats = std::filesystem::file_size(folder / "good/stats.json");
  REQUIRE(config + 1000 < stats);
  const Finished at_end =
      run(Launch{.arguments = {"run", folder / "t", "-o", folder / "out"}, .file_limit = stats - 500});
  CHECK(at_end.code == 4);
  CHECK_THAT(at_end.err, Catch::Contains("cannot be written"));
  const std::string left = slurp(folder / "out/stats.json");  // none, or of a moment during the run
  if (!left.empty()) CHECK(Json::parse(left)["partial"] == true);
  const Finished at_start =
      run(Launch{.arguments = {"run", folder / "t", "-o", folder / "none"}, .file_limit = config - 1});
  CHECK(at_start.code == 4);
  CHECK_THAT(at_start.err, Catch::Contains("none/config.ini: cannot be written"));
}

TEST_CASE("an interrupted run keeps what it has, marked partial") {
  const Folder folder;
  write_trace(folder / "t", kLong);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    Program program(
        {.arguments = {"run", folder / "t", "--no-skip", "-o", folder / "out", "--threads", "1"}});
    wait_for_file(folder / "out/config.ini");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    program.send(signal);
    const Finished result = program.wait();
    CAPTURE(result.err);
    CHECK(result.code == 130);
    CHECK_THAT(result.err, Catch::Contains("stopping"));
    const Json stats = stats_of(folder / "out");
    CHECK(stats["partial"] == true);
    CHECK(stats["partial_reason"] == "interrupted");
    std::filesystem::remove_all(folder / "out");
  }
}

TEST_CASE("a kill leaves whole files") {
  const Folder folder;
  write_trace(folder / "t", kLong);
  Program program({.arguments = {"run", folder / "t", "--no-skip", "-o", folder / "out", "--threads", "1"}});
  wait_for_file(folder / "out/stats.json");
  program.send(SIGKILL);
  CHECK(program.wait().code == 128 + SIGKILL);
  const Json stats = stats_of(folder / "out");
  CHECK(stats["partial"] == true);
  CHECK(stats["kernels"].size() >= 1);
}

TEST_CASE("a barrier that never completes ends with a dump and exit code 3") {
  const Folder folder;
  // Two barriers that both warps use, but in opposite order: each waits for the other.
  const std::string first = "00a0 ffffffff 0 BAR.SYNC 0 0 0 \n", second = "00b0 ffffffff 0 BAR.SYNC 0 0 1 \n";
  write_trace(folder / "t", {.ctas = 1, .last_lines = first + second, .last_count = 2});
  std::string text = slurp(folder / "t/kernel-1.traceg");
  text.replace(text.rfind(first), first.size() + second.size(), second + first);
  spill(folder / "t/kernel-1.traceg", text);
  const Finished result = run({"run", folder / "t", "-o", folder / "out"});
  CAPTURE(result.err);
  CHECK(result.code == 3);
  CHECK_THAT(result.err, Catch::Contains("lockstep: error: deadlock"));
  CHECK_THAT(slurp(folder / "out/deadlock.txt"), Catch::Contains("barrier"));
  CHECK(stats_of(folder / "out")["partial_reason"] == "deadlock");
}

}  // namespace lockstep::cli
