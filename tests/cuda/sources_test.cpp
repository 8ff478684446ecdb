// The programs of examples/ from their sources, where nvcc is: as a user builds and runs them.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

TEST_CASE("examples: built by nvcc with its defaults, each checks its own result under exec", "[slow]") {
  const Folder folder;
  if (std::system(("nvcc --version >" + (folder / "version") + " 2>&1").c_str()) != 0) {
    WARN("left out: there is no nvcc on the PATH");
    return;
  }
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(LOCKSTEP_SOURCE_DIR) + "/examples")) {
    if (entry.path().extension() != ".cu") continue;
    const std::string name = entry.path().stem().string(), program = folder / name;
    INFO(name);
    REQUIRE(std::system(("nvcc -o " + program + " " + entry.path().string()).c_str()) == 0);
    const Finished done = run({"exec", "--functional", "--", program});
    CHECK(done.code == 0);
    CHECK(done.out.find("PASS") != std::string::npos);
  }
}
