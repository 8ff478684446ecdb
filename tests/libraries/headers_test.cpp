// Programs by NVIDIA's headers, where nvcc is: with the static and with the shared runtime.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

TEST_CASE("libraries: programs that are built with NVIDIA's headers and libraries run with ours",
          "[slow][long]") {
  const Folder folder;
  const std::string here = "cd " + folder.path() + " && ";
  if (std::system((here + "nvcc --version >version 2>&1").c_str()) != 0) {
    WARN("left out: there is no nvcc on the PATH");
    return;
  }
  for (const char* runtime : {"static", "shared"}) {
    CAPTURE(runtime);
    const std::string build =
        here + "nvcc -std=c++17 -arch=sm_75 -cudart " + runtime +
        " " LOCKSTEP_SOURCE_DIR
        "/tests/libraries/program/headers.cu -lcublas -lcublasLt -lcusolver -o program >log 2>&1";
    REQUIRE(std::system(build.c_str()) == 0);
    const Finished done = run({"exec", "--functional", "--", folder / "program"});
    CHECK(done.out == "PASS\n");
    CHECK(done.err.empty());
    CHECK(done.code == 0);
  }
}
