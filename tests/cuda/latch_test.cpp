// Kernels that wait for what the host writes after their launch.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

const std::string kLatchPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/latch.ptx";

Finished run_latch(const std::string& which, std::vector<std::string> options) {
  options.insert(options.begin(), "exec");
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_CUDA_LATCH), kLatchPtx, which})
    options.push_back(word);
  return run(std::move(options));
}

// What each prints on a GPU: latch.cpp says what the numbers are.
const std::map<std::string, std::string> kLatchExpected = {
    {"managed", "0 0 100 600 600 0\n1 0\n8 1 8\n"},
    {"pinned", "0 0 100 600 600 0\n1 0\n8 1 8\n"},
    {"legacy", "600 600\n42\n"},
    {"kinds", "600 0\n600 0\n600 0\n600 0\n600 0 1 4\n"},
    {"late", "0 600 0 1\n"},
    {"device", "0\n0 11\n"},
    {"threads", "0 0 0 3\n"},
    {"graph", "600 0 600 0 14\n"},
    {"progress", "2000 100000\n"},
};

}  // namespace

TEST_CASE("work behind a kernel that waits for the host waits with it, other work does not") {
  for (const auto& [which, expected] : kLatchExpected) {
    INFO(which);
    const Finished done = run_latch(which, {"--functional"});
    CHECK(done.out == expected);
    CHECK(done.err.empty());
    CHECK(done.code == 0);
  }
}

TEST_CASE("a kernel that waits for the host outside of a program's ranges: results are the same") {
  const Folder folder;
  for (const auto& [which, expected] : kLatchExpected) {
    INFO(which);
    const Finished done =
        run_latch(which, {"--functional", "--record", folder / "none.lst", "--profile-from-start", "off"});
    CHECK(done.out == expected);
    CHECK(done.code == 2);  // nothing is in a range
  }
}

TEST_CASE("a thread that writes and ends in the same moment has written") {
  const Finished done = run_latch("hurry", {"--functional"});
  CHECK(done.out == "0\n");
  CHECK(done.err.empty());
}

TEST_CASE("a kernel that waits for the host: one report for every thread count, and that of its recording",
          "[matrix]") {
  for (const auto& [which, expected] : kLatchExpected) {
    INFO(which);
    const Folder folder;
    const Finished one =
        run_latch(which, {"-q", "--threads", "1", "--record", folder / "kept.lst", "-o", folder / "one"});
    CHECK(one.out == expected);
    CHECK(one.err.empty());
    const std::string stats = slurp(folder / "one/stats.json");
    CHECK(stats.find("\"partial\":false") != std::string::npos);
    for (const char* threads : {"2", "4"}) {
      CHECK(run_latch(which,
                      {"-q", "--threads", threads, "--window", "7", "--shuffle", "3", "-o", folder / "two"})
                .out == expected);
      CHECK(slurp(folder / "two/stats.json") == stats);
    }
    CHECK(run({"run", folder / "kept.lst", "-q", "-o", folder / "three"}).code == 0);
    CHECK(slurp(folder / "three/stats.json") == stats);
  }
}

TEST_CASE(
    "the host's write of a managed latch takes its page from the device, and the kernel brings it back") {
  const Folder folder;
  CHECK(run_latch("managed", {"-q", "--set", "uvm.prefetcher=none", "-o", folder / "out"}).code == 0);
  const auto managed = nlohmann::json::parse(slurp(folder / "out/stats.json")).at("managed");
  CHECK(managed.at("faults") == 1);
  CHECK(managed.at("bytes_to_device") == 4096);
}

TEST_CASE("a program that polls its memory for a kernel that waits for it is told why nothing comes") {
  const Finished done = run_latch("polls", {"--functional"});
  CHECK(done.out == "0 0 7\n");
  CHECK(done.err.find(
            "kernel await waits for a write by the program, which has made no CUDA call for 3 seconds") !=
        std::string::npos);
  CHECK(done.err.find("continues in the next call that waits or queries") != std::string::npos);
  CHECK(done.err.find('\n') == done.err.size() - 1);
}

TEST_CASE("a kernel that fails behind one that waited leaves nothing behind that waits") {
  const Finished done = run_latch("fails", {"--functional"});
  CHECK(done.out == "cudaErrorIllegalAddress 1\n");
  CHECK(done.err.find("waits for a write by the program") == std::string::npos);
}

#if !defined(__SANITIZE_THREAD__)  // has a thread of its own, that might write
TEST_CASE("a latch that can no longer be written is an error that names the kernel and its place") {
  const Folder folder;
  for (const std::string mode : {"--functional", "-q"}) {
    std::vector<std::string> options = {mode};
    if (mode == "-q") options.insert(options.end(), {"-o", folder / "out"});
    const Finished done = run_latch("never", options);
    CHECK(done.out == "cudaErrorLaunchTimeout\n");
    CHECK(done.err.find("kernel await waits for a write that can no longer happen") != std::string::npos);
    CHECK(done.err.find("CTA (0,0,0) warp 0: program:1") != std::string::npos);
  }
  const Finished left = run_latch("left", {"--functional"});
  CHECK(left.code == 0);
  CHECK(left.err.find("kernel await still waited") != std::string::npos);
  CHECK(left.err.find("2 operations in all") != std::string::npos);
}
#endif
