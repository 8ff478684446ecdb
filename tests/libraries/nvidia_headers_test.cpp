// The programs of this folder built with NVIDIA's headers and libraries, where nvcc is, in place of our own
// declarations.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

TEST_CASE("libraries: our declarations are those of NVIDIA's headers: the programs pass with either",
          "[slow][long]") {
  const Folder folder;
  const std::string here = "cd " + folder.path() + " && ";
  if (std::system((here + "nvcc --version >version 2>&1").c_str()) != 0) {
    WARN("left out: there is no nvcc on the PATH");
    return;
  }
  const std::pair<const char*, const char*> programs[] = {
      {"fft", "cufft"}, {"rand", "curand"}, {"sparse", "cusparse"}, {"nccl", "nccl"}, {"dnn", "cudnn"}};
  for (const auto& [program, library] : programs)
    for (const char* runtime : {"static", "shared"}) {
      CAPTURE(program, runtime);
      const std::string build = here + "nvcc -std=c++20 -DLOCKSTEP_NVIDIA_HEADERS -x cu -cudart " + runtime +
                                " " LOCKSTEP_SOURCE_DIR "/tests/libraries/program/" + program + ".cpp -l" +
                                library + " -o program >log 2>&1";
      INFO(build);
      REQUIRE(std::system(build.c_str()) == 0);
      const Finished done = run({"exec", "--functional", "--gpus", "2", "--", folder / "program"});
      CHECK(done.out == "PASS\n");
      CHECK(done.code == 0);
    }
}
