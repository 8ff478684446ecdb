// `--check` on real processes: reports, files and exit codes.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;
using Catch::Contains;
using lockstep::cuda::kVectorAddPtx;

namespace {

/// The example's kernel with a result of `bytes` bytes, by a launch script.
Finished play_checked(const std::string& bytes, std::vector<std::string> options) {
  const Folder folder;
  spill(folder / "add.launch", "buffer a 40000 sequence f32 0 1\nbuffer b 40000 sequence f32 0 2\nbuffer c " +
                                   bytes + "\nlaunch _Z3addPKfS0_Pfi grid 40 block 256 args a b c 10000\n");
  options.insert(options.begin(), {"run", kVectorAddPtx, "--launch", folder / "add.launch", "-q"});
  return run(std::move(options));
}

}  // namespace

TEST_CASE("--check: a clean program says so, its output and results are what they are without") {
  const Folder folder;
  const std::vector<std::string> program = {"--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "exec");
    words.insert(words.end(), program.begin(), program.end());
    return run(std::move(words));
  };
  const Finished functional = with({"--functional", "--check", "all"});
  CHECK(functional.code == 0);
  CHECK(functional.out == "PASS\n");
  CHECK(functional.err == "lockstep: check: 0 errors\n");
  CHECK(with({"-q", "-o", folder / "plain"}).code == 0);
  CHECK(with({"-q", "-o", folder / "checked", "--check", "all"}).code == 0);
  CHECK(slurp(folder / "plain/stats.json") == slurp(folder / "checked/stats.json"));
  const auto report = nlohmann::json::parse(slurp(folder / "checked/check.json"));
  CHECK(report.at("checks") == "memory,init,race");
  CHECK(report.at("errors") == 0);
  CHECK(report.at("findings").empty());
}

TEST_CASE("--check: an error is reported with its place, in check.json and by the exit code") {
  const Folder folder;
  const Finished found = play_checked("39992", {"--check", "memory", "-o", folder / "out"});
  CHECK(found.code == 5);
  CHECK_THAT(found.err, Contains("write out of bounds of 4 bytes, global memory") &&
                            Contains("in kernel add(float const*, float const*, float*, int)") &&
                            Contains("vector_add.ptx:") && Contains("thread (14,0,0) of CTA (39,0,0)") &&
                            Contains("allocation of 39992 bytes") && Contains("2 errors at 1 place"));
  const auto report = nlohmann::json::parse(slurp(folder / "out/check.json"));
  CHECK(report.at("errors") == 2);
  const auto& finding = report.at("findings").at(0);
  CHECK(finding.at("kind") == "out-of-bounds");
  CHECK(finding.at("kernel") == "_Z3addPKfS0_Pfi");
  CHECK(finding.at("site").at("cta") == std::vector<int>{39, 0, 0});
  CHECK(play_checked("39992", {}).code == 0);
  CHECK(play_checked("40000", {"--check", "memory"}).code == 0);
  CHECK(play_checked("39992", {"--check", "memory", "--error-exitcode", "0"}).code == 0);
  CHECK(play_checked("39992", {"--check", "memory", "--error-exitcode", "77"}).code == 77);
  const auto report_with =
      [](const char* threads) {  // a warning about the number of cores may come before it
        const std::string err = play_checked("39992", {"--check", "memory", "-t", threads}).err;
        return err.substr(err.find("lockstep: check"));
      };
  CHECK(report_with("1") == report_with("4"));
}

TEST_CASE("--check: a kernel that faults is reported, and the program's exit code stays") {
  const Finished null =
      run({"exec", "--functional", "--check", "memory", "--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx, "null"});
  CHECK(null.code == 5);
  CHECK(null.out == "cudaErrorIllegalAddress\n");
  CHECK_THAT(null.err, Contains("read out of bounds of 4 bytes, global memory at 0x0"));
}

TEST_CASE("--check: what it cannot do is said at once") {
  CHECK_THAT(play_checked("40000", {"--check", "rase"}).err, Contains("`rase` is not a check"));
  CHECK_THAT(play_checked("40000", {"--error-exitcode", "3"}).err, Contains("expected --check with it"));
  const Finished trace = run({"run", std::string(LOCKSTEP_SOURCE_DIR) + "/traces/sgemm", "--check", "all"});
  CHECK(trace.code == 2);
  CHECK_THAT(trace.err, Contains("a trace holds no values"));
}
