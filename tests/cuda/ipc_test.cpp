// Processes of one program that share memory and events.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep;
using namespace lockstep::cli;
using lockstep::cuda::kMultiGpuPtx;

namespace {

Finished run_ipc(std::vector<std::string> options, const std::string& which = {}) {
  options.insert(options.begin(), {"exec", "-q", "--gpus", "2"});
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_IPC_PROGRAM), kMultiGpuPtx})
    options.push_back(word);
  if (!which.empty()) options.push_back(which);
  return run(std::move(options));
}

}  // namespace

TEST_CASE("processes: they see each other's memory, and a kernel waits for the other one's") {
  const Finished done = run_ipc({"--functional"});
  // The parent's errors; those of handles as file descriptors; then the child: one place for two openings,
  // the parent's 11 and 12, its own 33, and 50 in memory of a descriptor. It stores 77, 60, and what the
  // parent's kernel waits for. Two openings are closed once each.
  CHECK(done.out ==
        "1 0 400 0 201 1 400 400 1 \n0 1 1 \n1 11 12 33 \n50 \n11 0 1 \n0 11 77 1 5 \n50 60 \n1 12 5 \n");
  CHECK(done.code == 0);
}

TEST_CASE("processes: where one is simulated or recorded they share nothing, which is said") {
  const Folder folder;
  for (const auto& options : {std::vector<std::string>{"-c", "hgx_a100_4"},
                              std::vector<std::string>{"--functional", "--record", folder / "t.lst"}}) {
    const Finished done = run_ipc(options, "timed");
    CHECK(done.out.starts_with("0 0 0 801 801 \n"));
    CHECK(done.err.find("with `lockstep exec --functional` only") != std::string::npos);
  }
  CHECK(run_ipc({"--functional"}, "timed").out == "1 1 0 201 0 \n");
}
