// Programs that call our cuFFT, cuRAND, cuSPARSE, NCCL and cuDNN: each compares with computations of its own,
// and prints PASS or what is wrong.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

/// The program's end, where all it has computed is right.
Finished right_run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"exec", "--functional", "-q"});
  const Finished done = run(arguments);
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  return done;
}

}  // namespace

TEST_CASE("cuFFT: transforms of random sizes and layouts are what their definition says", "[long]") {
  CHECK(right_run({"--", LOCKSTEP_FFT, "11", "60"}).err.empty());
}

TEST_CASE("cuRAND: generators give what was published, distributions have their moments", "[long]") {
  const Finished done = right_run({"--", LOCKSTEP_RAND});
  CHECK(done.err ==
        "lockstep: curandCreateGenerator: generator type 7 is not supported by Lockstep's own library\n"
        "lockstep: curandSetQuasiRandomGeneratorDimensions: 41 dimensions is not supported by Lockstep's own "
        "library\n");
}

TEST_CASE("cuSPARSE: products, solutions and conversions are what their definition says") {
  const Finished done = right_run({"--", LOCKSTEP_SPARSE, "1", "3"});
  CHECK(done.err ==
        "lockstep: cusparseSpMV: values and computation of different types: 0 0 2 0 is not supported by "
        "Lockstep's own library\n"
        "lockstep: cusparse: incomplete factors of a matrix of type 2 is not supported by "
        "Lockstep's own library\n");
}

TEST_CASE("cuDNN: forward operations are what their definition says") {
  CHECK(right_run({"--", LOCKSTEP_DNN}).err ==
        "lockstep: cudnnSetTensor4dDescriptor: data of type 2 is not supported by Lockstep's own library\n");
}

TEST_CASE("NCCL: operations between GPUs are what their definition says", "[long]") {
  for (const char* gpus : {"1", "2", "4"}) {
    INFO(gpus << " GPUs");
    CHECK_THAT(right_run({"--gpus", gpus, "--", LOCKSTEP_NCCL, gpus, "12"}).err,
               Catch::Contains("ncclCommInitRank: more ranks than this process has GPUs is not supported"));
  }
}

TEST_CASE("NCCL: a host thread may call for each GPU") {
  right_run({"--gpus", "3", "--", LOCKSTEP_NCCL, "7", "8", "threads"});
}

TEST_CASE("NCCL: operations go over the links of a system") {
  const Finished done = run({"exec", "-c", "dgx_a100", "--gpus", "2", "--", LOCKSTEP_NCCL, "5", "3"});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Catch::Contains("link gpu0 to nvswitch"));
}

TEST_CASE("libraries: the same statistics for every number of threads and order of domains", "[matrix]") {
  const auto statistics = [](const std::vector<std::string>& options) {
    const Folder folder;
    std::vector<std::string> arguments = {"exec",   "-q", "-c", "dgx_a100",
                                          "--gpus", "2",  "-o", folder / "out"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", LOCKSTEP_NCCL, "5", "3"});
    CHECK(run(arguments).code == 0);
    return slurp(folder / "out/stats.json");
  };
  const std::string one = statistics({"--threads", "1"});
  CHECK_THAT(one, Catch::Contains("lockstep_nccl_"));
  CHECK(statistics({"--threads", "2"}) == one);
  CHECK(statistics({"--threads", "4", "--shuffle", "7"}) == one);
}
