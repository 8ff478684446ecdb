// Programs that check by themselves what CUDA's documentation says of arguments, captures and graphs.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

void passes(const char* program, const std::string& warnings = "") {
  const Finished done = run({"exec", "--functional", "--", program});
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

TEST_CASE("arrays, textures, surfaces and pools are as they were made; fills reach what they name") {
  passes(LOCKSTEP_OBJECTS_PROGRAM);
}

TEST_CASE("edges, clones, parameters and kept objects of graphs are those that the program made") {
  passes(LOCKSTEP_GRAPH_QUERIES_PROGRAM);
}
