// Functions of both APIs that few programs call.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep;
using namespace lockstep::cli;

TEST_CASE(
    "entries: arrays, textures, managed memory, libraries, values in memory, contexts do as documented") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const Finished done = run({"exec", "--functional", "--", LOCKSTEP_ENTRIES_PROGRAM, ptx});
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  CHECK(
      done.err.find("the program called functions that are not supported: cuGetExportTable cuGreenCtxCreate "
                    "cuMemAlloc cudaGLSetGLDevice\n") != std::string::npos);
  const std::string program = LOCKSTEP_ENTRIES_PROGRAM;
  CHECK(done.err.find("cuMemAlloc is not supported: cudaErrorNotSupported (called by " + program + ")\n") !=
        std::string::npos);
  CHECK(done.err.find(program + " contains NVIDIA's CUDA runtime without a symbol table") !=
        std::string::npos);
}

TEST_CASE("entries: a stream that waits for a value that is never written is an error that says so") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const Finished done = run({"exec", "--functional", "--", LOCKSTEP_ENTRIES_PROGRAM, ptx, "wait-for-ever"});
  CHECK(done.out == "result 702\n");
  CHECK(done.err.find("a stream (cuStreamWaitValue) waits for a write that can no longer happen") !=
        std::string::npos);
}

TEST_CASE("exec --interleave: a whole program whose warps advance together; bad numbers are errors") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const auto with = [&](const char* number) {
    return run({"exec", "--functional", "--interleave", number, "--", LOCKSTEP_DRIVER_PROGRAM, ptx});
  };
  CHECK(with("1").out == "PASS\n");
  for (const char* bad : {"0", "-1", "many"}) {
    CHECK(with(bad).code == 2);
    CHECK(with(bad).err.find("--interleave") != std::string::npos);
  }
}

TEST_CASE("exec: a program that is linked statically as a whole is one clear error") {
  const Finished done = run({"exec", "--functional", "--", LOCKSTEP_STATIC_PROGRAM});
  CHECK(done.code == 2);
  CHECK(done.out.empty());
  CHECK(done.err.find("found a program that is linked statically as a whole, expected one that loads the C "
                      "library") != std::string::npos);
}
