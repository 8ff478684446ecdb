// Programs whose CUDA libraries are linked statically, or not found where ours are; without a symbol table a
// static runtime is found by the code of the archive that it is from.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/preload/static_runtime.hpp"
#include "paths.hpp"
#include "tests/cli/program.hpp"
#include "tests/random.hpp"

using namespace lockstep;
using namespace lockstep::cuda;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  REQUIRE(file.good());
  return text.str();
}

std::string output_with(const std::string& archives) {
  const cli::Finished done =
      cli::run(cli::Launch{.arguments = {"exec", "--functional", "--", LOCKSTEP_STRIPPED_PROGRAM},
                           .environment = {{"LOCKSTEP_CUDART_STATIC", archives}}});
  CHECK(done.code == 0);
  return done.out;
}

}  // namespace

TEST_CASE(
    "a stripped program: the runtime is replaced where its archive is known, and stays where it is not") {
  // The program's own runtime counts -3 devices, and its third function is not one that Lockstep has.
  CHECK(output_with("/nowhere.a:" LOCKSTEP_STRIPPED_RUNTIME) == "result 0, 1 devices, 46\n");
  CHECK(output_with("/nowhere.a:" LOCKSTEP_STRIPPED_PROGRAM ":/") == "result 999, -3 devices, 46\n");
}

TEST_CASE("cuBLAS that a program is linked with statically, or that its run path has, is replaced") {
  for (const char* program : {LOCKSTEP_WITH_STATIC_LIBRARY, LOCKSTEP_WITH_RUN_PATH}) {
    INFO(program);
    const cli::Finished done = cli::run({"exec", "--functional", "--", program});
    CHECK(done.out == "CUBLAS_STATUS_NOT_INITIALIZED, NVIDIA's\n");
    CHECK(done.code == 0);
  }
}

TEST_CASE("the code of a static runtime is found wherever the linker put it, and nowhere else") {
  const auto runtimes = read_runtime_archive(content_of(LOCKSTEP_STRIPPED_RUNTIME));
  REQUIRE(runtimes.size() == 1);
  REQUIRE(runtimes[0].functions().size() == 4);
  std::string program = content_of(LOCKSTEP_STRIPPED_PROGRAM);
  const auto at = runtimes[0].find(program);
  REQUIRE(at);
  CHECK(runtimes[0].find(std::string(12345, '\0') + program) == *at + 12345);
  CHECK_FALSE(runtimes[0].find(std::string_view(program).substr(0, *at + 100)));
  // Another version of the runtime: every function begins otherwise.
  for (const auto& function : runtimes[0].functions()) program[*at + function.offset] ^= 0x55;
  CHECK_FALSE(runtimes[0].find(program));
}

TEST_CASE("damaged archives have no runtime, or one whose functions are within its code") {
  const std::string archive = content_of(LOCKSTEP_STRIPPED_RUNTIME),
                    program = content_of(LOCKSTEP_STRIPPED_PROGRAM);
  const auto check = [&](const std::string& damaged) {
    for (const ArchivedCode& code : read_runtime_archive(damaged)) {
      (void)code.find(program);
      for (const auto& function : code.functions()) CHECK(function.offset + function.bytes <= damaged.size());
    }
  };
  for (std::size_t bytes = 0; bytes < archive.size(); bytes += 1 + bytes / 64)
    check(archive.substr(0, bytes));
  lockstep::test::Random32 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = archive;
    for (int k = 0; k < 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    check(damaged);
  }
}
