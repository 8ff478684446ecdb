// The kernels of examples/multi_gpu, in the PTX that is checked in: right results for every number of GPUs,
// and one report for every number of threads.
#include <catch2/catch.hpp>
#include <map>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep;
using namespace lockstep::cli;

namespace {

/// By what the program does: the example whose PTX it is.
const std::map<std::string, std::string> kPtxOf = {
    {"allreduce_tree_copy", "allreduce_tree_copy"}, {"allreduce_tree_peer", "allreduce_tree_peer"},
    {"allreduce_rings", "allreduce_rings"},         {"allreduce_rings_words", "allreduce_rings"},
    {"all_to_all_copy", "all_to_all_copy"},         {"jacobi_copy", "jacobi_copy"},
};

Finished run_example(const std::string& which, std::vector<std::string> options) {
  options.insert(options.begin(), "exec");
  const std::string folder = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/multi_gpu/ptx/";
  options.insert(options.end(),
                 {"--", LOCKSTEP_MULTI_GPU_EXAMPLES, folder + kPtxOf.at(which) + ".ptx", which});
  return run(std::move(options));
}

}  // namespace

TEST_CASE("examples of several GPUs: results are right for every number of GPUs") {
  for (const auto& [which, file] : kPtxOf)
    for (const char* gpus : {"1", "2", "4", "7"}) {
      INFO(which << " on " << gpus);
      const Finished done = run_example(which, {"--functional", "--gpus", gpus});
      CHECK(done.out == "0\n");
      CHECK(done.code == 0);
    }
}

TEST_CASE("examples of several GPUs: simulated, one report for every number of threads", "[matrix]") {
  const Folder folder;
  for (const auto& example : kPtxOf) {
    const auto& which = example.first;
    if (which == "all_to_all_copy") continue;  // it has no kernel, which a recording needs
    INFO(which);
    const auto report = [&](const std::vector<std::string>& how) {
      std::vector<std::string> options = {"-q", "-c", "hgx_a100_4", "--gpus", "3", "-o", folder / "out"};
      options.insert(options.end(), how.begin(), how.end());
      CHECK(run_example(which, options).out == "0\n");
      return slurp(folder / "out/stats.json");
    };
    const std::string one = report({"--threads", "1"});
    CHECK(one.find("\"partial\":false") != std::string::npos);
    CHECK(report({"--threads", "2", "--window", "7"}) == one);
  }
}
