// Libraries that a program brings with it, and where ours are searched for.
#include "cli/run_path.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <regex>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

TEST_CASE("run path: a program's own folders are searched for a library") {
  CHECK(brings_library(LOCKSTEP_DRIVER_EXAMPLE, "libcudart.so.13"));
  CHECK_FALSE(brings_library(LOCKSTEP_DRIVER_EXAMPLE, "libno-such-library.so"));
  CHECK_FALSE(brings_library("sh", "libcudart.so.13"));
  CHECK_FALSE(brings_library("no-such-program", "libcudart.so.13"));
}

TEST_CASE("run path: what is no program of 64 bits has none") {
  const Folder folder;
  for (const char* text : {"", "#!/bin/sh\n", "\177ELF", "\177ELF\1\1\1"}) {
    std::ofstream(folder / "program") << text;
    CHECK_FALSE(brings_library(folder / "program", "libcudart.so.13"));
  }
}

TEST_CASE(
    "run path: the program's own folders come before that of our NCCL, and after that of our other "
    "libraries") {
  const Finished done = run(Launch{.arguments = {"exec", "-q", "--", "sh", "-c", "echo $LD_LIBRARY_PATH"},
                                   .environment = {{"LD_LIBRARY_PATH", "/own"}}});
  INFO(done.out << done.err);
  CHECK(std::regex_search(done.out, std::regex("(^|\n)([^:\n]+):/own:\\2/nccl\n")));
}
