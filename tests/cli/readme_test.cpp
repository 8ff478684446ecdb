#include <catch2/catch.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace lockstep::cli {

TEST_CASE("README's example is what the program says (`./dev docs` writes it)") {
  const std::string readme = slurp(LOCKSTEP_SOURCE_DIR "/README.md");
  const Finished result = run({"run", LOCKSTEP_SOURCE_DIR "/traces/sgemm"});
  REQUIRE(result.code == 0);
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.rfind("speed:", 0) == 0) continue;
    CHECK_THAT(readme, Catch::Contains("\n    " + line + "\n"));
  }
}

}  // namespace lockstep::cli
