// Simulated time in a program that runs: events, queries, clocks, streams.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

/// AddressSanitizer wants to be the first library of a process; the preloaded hook comes before it.
std::vector<std::pair<std::string, std::string>> environment() {
  const char* options = std::getenv("ASAN_OPTIONS");
  return {{"ASAN_OPTIONS", std::string(options == nullptr ? "" : options) + ":verify_asan_link_order=0"}};
}

Finished start(std::vector<std::string> arguments) {
  Launch launch;
  launch.arguments = std::move(arguments);
  launch.environment = environment();
  return run(launch);
}

const std::string kPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/timing.ptx";

Finished execute(const std::string& which, std::vector<std::string> options = {"-q"}) {
  options.insert(options.begin(), "exec");
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_CUDA_TIMING), kPtx, which})
    options.push_back(word);
  return start(std::move(options));
}

std::vector<long> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<long> all;
  for (long n = 0; in >> n;) all.push_back(n);
  return all;
}

}  // namespace

TEST_CASE("a kernel's clock shows the product's latencies: Jia et al. 2018 for the V100") {
  const Finished done = execute("clocks");
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 2);
  CHECK(found[0] ==
        Approx(400).margin(10));  // FFMA: 4 cycles; the clock itself is read once more than 128 times
  CHECK(found[1] == Approx(2800).margin(100));  // L1: 28 cycles
}

TEST_CASE("a kernel that waits for its clock ends, and it is said that its trace is a guess") {
  const Finished done = execute("spin");
  CHECK(done.out == "1\n");
  CHECK(done.err.find("spin: what it executes depends on its clock") != std::string::npos);
}

TEST_CASE("kernels of two streams run side by side, those of one do not") {
  const Finished done = execute("streams");
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 3);
  const double one = static_cast<double>(found[0]);
  CHECK(one > 2000 * 4 / 1.38);  // its dependent multiply-adds alone
  CHECK(static_cast<double>(found[1]) == Approx(2 * one).epsilon(0.15));
  CHECK(static_cast<double>(found[2]) == Approx(one).epsilon(0.15));
}

TEST_CASE("queries: not ready (600) at the host's time, then the end is waited for") {
  const Finished done = execute("queries");
  CHECK(done.err.empty());
  CHECK(done.out == "600 -600\n1 1\n");
}

TEST_CASE("a copy overlaps with a kernel of another stream, not with one of its own") {
  const auto found = numbers(execute("copies").out);
  REQUIRE(found.size() == 2);
  const double copy = (1 << 20) / 12.0;  // ns, at 12 GB/s of the link; the kernel takes about as long
  CHECK(static_cast<double>(found[0]) > copy + 30000 * 4 / 1.38);
  CHECK(static_cast<double>(found[1]) < static_cast<double>(found[0]) - 0.8 * copy);
}

TEST_CASE("the report of a live run is that of its recording, whatever threads and windows") {
  for (const std::string which : {"streams", "copies", "many", "queries", "clocks"}) {
    INFO(which);
    const Folder folder;
    const Finished one =
        execute(which, {"-q", "--threads", "1", "--record", folder / "kept.lst", "-o", folder / "one"});
    CHECK(one.code == 0);
    const std::string stats = slurp(folder / "one/stats.json");
    CHECK(stats.find("\"partial\":false") != std::string::npos);
    CHECK(start({"run", folder / "kept.lst", "-q", "-o", folder / "two"}).code == 0);
    CHECK(slurp(folder / "two/stats.json") == stats);
    CHECK(execute(which, {"-q", "--threads", "2", "--window", "7", "--shuffle", "3", "-o", folder / "three"})
              .out == one.out);
    CHECK(slurp(folder / "three/stats.json") == stats);
  }
}

TEST_CASE("a simulation that stops early leaves the program running to its end") {
  const Folder folder;
  const Finished done = execute("many", {"-q", "--max-cycles", "3000", "-o", folder / "out"});
  CHECK(done.code == 0);
  CHECK(done.out == "40\n");
  CHECK(slurp(folder / "out/stats.json").find("max-cycles") != std::string::npos);
}

TEST_CASE("a program that crashes: its exit code, and what it had launched as a partial report") {
  const Folder folder;
  const Finished done = start({"exec", "-q", "-o", folder / "out", "--", LOCKSTEP_CUDA_PROGRAM,
                               std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx/vector_add.ptx", "crash"});
  CHECK(done.code == 134);
  CHECK(done.err.find("was ended by signal") != std::string::npos);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(stats.find("\"partial\":true") != std::string::npos);
  CHECK(stats.find("\"program\"") != std::string::npos);
}

TEST_CASE("a kernel that never ends: --max-cycles stops it and says where it stands") {
  const Folder folder;
  const Finished done = execute("never", {"-q", "--max-cycles", "20000", "-o", folder / "out"});
  CHECK(done.code == 5);
  CHECK(done.out == "cudaErrorLaunchTimeout\n");
  CHECK(done.err.find(
            "kernel endless has no end within --max-cycles; its warps stand at\n  CTA (0,0,0) warp 0: ") !=
        std::string::npos);
  CHECK(done.err.find("  CTA (0,0,0) warp 1: ") != std::string::npos);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(stats.find("\"name\":\"work\"") != std::string::npos);
  CHECK(stats.find("\"partial\":true,\"partial_reason\":\"max-cycles\"") != std::string::npos);
}

TEST_CASE("a kernel that never ends: Ctrl-C stops it, says where it stands and keeps the results") {
  const Folder folder;
  Launch launch;
  launch.arguments = {"exec", "-q", "-o", folder / "out", "--", LOCKSTEP_CUDA_TIMING, kPtx, "never"};
  launch.environment = environment();
  Program program(launch);
  std::this_thread::sleep_for(std::chrono::milliseconds(3000));
  program.send(SIGINT);
  const Finished done = program.wait();
  CHECK(done.code == 130);
  CHECK(done.err.find("stopped in kernel endless; its warps stand at\n  CTA (0,0,0) warp 0: ") !=
        std::string::npos);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(stats.find("\"partial\":true") != std::string::npos);
  CHECK(stats.find("\"name\":\"work\"") != std::string::npos);
}
