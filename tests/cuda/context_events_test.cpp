// cuCtxRecordEvent and cuCtxWaitEvent: the order in simulated time, kernels that wait for the host, errors.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

Finished run_context_events(const std::string& which, std::vector<std::string> options) {
  options.insert(options.begin(), "exec");
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_CONTEXT_EVENTS),
                                  std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/ranges.ptx", which})
    options.push_back(word);
  return run(std::move(options));
}

struct Span {
  double start, end;  // cycles
};

/// Of the kernels in simulated time, in the order of their launches.
std::vector<Span> spans_of(const std::string& which, const std::string& output) {
  const Folder folder;
  const Finished done = run_context_events(which, {"-q", "-o", folder / "out"});
  CHECK(done.out == output);
  CHECK(done.err.empty());
  const auto stats = nlohmann::json::parse(slurp(folder / "out/stats.json"));
  std::vector<Span> spans(stats.at("kernels").size());
  for (const auto& kernel : stats.at("kernels")) {
    const double start = kernel.at("start_cycle");
    spans.at(kernel.at("id").get<std::size_t>() - 1) = {start, start + kernel.at("cycles").get<double>()};
  }
  return spans;
}

}  // namespace

TEST_CASE("an event of a context is behind the work of all its streams, and orders nothing else", "[long]") {
  const auto k = spans_of("records", "0 0 0 0 \n");
  REQUIRE(k.size() == 6);
  CHECK(k[1].start < k[0].end);  // side by side
  for (const unsigned before : {0U, 1U, 2U}) CHECK(k[5].start >= k[before].end);
  CHECK(k[5].start < k[3].end);  // which came later
  CHECK(k[4].start < k[1].end);  // of another stream
}

TEST_CASE("what a context's streams are given behind its wait comes after the event, in new streams, too",
          "[long]") {
  const auto k = spans_of("waits", "0 0 \n0 \n");
  REQUIRE(k.size() == 8);
  CHECK(k[1].end < k[0].end);
  for (const unsigned behind : {2U, 3U, 4U, 5U, 6U}) CHECK(k[behind].start >= k[0].end);
}

TEST_CASE("events of contexts and kernels that wait for the host") {
  for (const bool functional : {true, false}) {
    const Finished done = run_context_events("held", {functional ? "--functional" : "-q"});
    CHECK(done.out == "0 600 0 0 0 \n600 600 \n0 0 0 1 7 \n");
    CHECK(done.code == 0);
  }
}

TEST_CASE("events of contexts: errors are CUDA's, and a capture in progress becomes invalid") {
  const Finished done = run_context_events("errors", {"--functional"});
  CHECK(done.out ==
        "400 400 0 \n0 \n"      // an event of another context
        "201 201 \n201 201 \n"  // no context: null, one that was destroyed
        "400 400 \n"            // no event
        "900 2 901 901 1 \n0 0 \n900 2 901 901 1 \n0 0 \n"
        "0 0 \n");
  CHECK(done.code == 0);
}

TEST_CASE("events of contexts: the same bytes for every number of threads, and from the recording",
          "[matrix][long]") {
  for (const std::string which : {"records", "waits", "held"}) {
    INFO(which);
    const Folder folder;
    const auto one = run_context_events(
        which, {"-q", "--threads", "1", "--record", folder / "kept.lst", "-o", folder / "one"});
    CHECK(one.code == 0);
    CHECK(run_context_events(which, {"-q", "--threads", "2", "--window", "7", "-o", folder / "two"}).out ==
          one.out);
    CHECK(slurp(folder / "two/stats.json") == slurp(folder / "one/stats.json"));
    CHECK(run({"run", folder / "kept.lst", "-q", "-o", folder / "again"}).code == 0);
    CHECK(slurp(folder / "again/stats.json") == slurp(folder / "one/stats.json"));
  }
}
