// Programs that check by themselves what CUDA's documentation says of arguments, captures and graphs.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

void passes(const char* program, const std::string& warnings = "", const char* gpu = "h100_sxm") {
  const Finished done = run({"exec", "--functional", "-c", gpu, "--", program});
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  CHECK(done.err == warnings);
}

}  // namespace

TEST_CASE("wrong flags, directions, pitches and extents are the errors that the documentation names") {
  passes(LOCKSTEP_ARGUMENTS_PROGRAM);
}

TEST_CASE("captures fork and join; a graph takes another one's place where it has the same shape") {
  passes(LOCKSTEP_CAPTURES_PROGRAM);
}

TEST_CASE("copies and fills of random lines, rectangles and boxes move the bytes that they name") {
  passes(LOCKSTEP_COPIES_PROGRAM);
}

TEST_CASE(
    "what is set of devices, contexts, streams and functions is found again; what cannot be is refused") {
  passes(LOCKSTEP_SETTINGS_PROGRAM, "lockstep: warning: stream attribute 3 has no effect\n");
}

TEST_CASE("occupancy is the smallest of the limits that the device's attributes state") {
  passes(LOCKSTEP_OCCUPANCY_PROGRAM);
}

TEST_CASE("occupancy of another GPU: coarser shared memory, no clusters") {
  passes(LOCKSTEP_OCCUPANCY_PROGRAM, "", "v100");
}

TEST_CASE("copies and fills whose sizes do not fit 64 bits are refused and change nothing") {
  passes(LOCKSTEP_EXTREMES_PROGRAM);
}

TEST_CASE("runs of bytes in a stream, by every call that can move them, and in batches") {
  passes(LOCKSTEP_BATCHES_PROGRAM);
}

TEST_CASE("graphs that are changed, their instances, updates and clones do what their lists of steps do") {
  passes(LOCKSTEP_GRAPH_CHANGES_PROGRAM);
}

TEST_CASE("libraries, launches, entry points and handles are those that the documentation describes") {
  const Folder folder;
  const Finished done =
      run({"exec", "--functional", "-c", "h100_sxm", "--", LOCKSTEP_LIBRARIES_PROGRAM, folder.path()});
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  CHECK(done.err.find("unknown register") != std::string::npos);
}

TEST_CASE("advice on managed memory is that of each page; ranges tell what their pages have in common") {
  passes(LOCKSTEP_ADVICE_PROGRAM, "lockstep: warning: memory that is discarded is moved all the same\n");
}

TEST_CASE("arrays, textures, surfaces and pools are as they were made; fills reach what they name") {
  passes(LOCKSTEP_OBJECTS_PROGRAM);
}

TEST_CASE("edges, clones, parameters and kept objects of graphs are those that the program made") {
  passes(LOCKSTEP_GRAPH_QUERIES_PROGRAM);
}
