// Programs with one host thread for each GPU.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep;
using namespace lockstep::cli;

namespace {

/// Keeps processors busy, so that threads of a program come late and in another order.
class Load {
 public:
  Load() {
    for (std::thread& thread : threads_)
      thread = std::thread([this] {
        while (!done_) {
        }
      });
  }
  ~Load() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread threads_[2];
};

}  // namespace

TEST_CASE("one host thread for each GPU: recording and report are the same in every run, under load, too",
          "[matrix]") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/multi_gpu.ptx";
  const Folder folder;
  const Load load;
  std::string stats, trace;
  for (int i = 0; i < 5; ++i) {
    INFO("run " << i);
    std::vector<std::string> command = {"exec",   "-q", "-c", "hgx_a100_4",
                                        "--gpus", "2",  "-o", folder / "out"};
    command.insert(command.end(), {"--threads", i % 2 == 0 ? "1" : "2"});
    command.insert(command.end(),
                   {"--record", folder / "kept.lst", "--", LOCKSTEP_HOST_THREADS_PROGRAM, ptx});
    const Finished done = run(command);
    CHECK(done.code == 0);
    CHECK(done.out == "6 406 \n1 0\n");  // 0 + 1 + 2 + 3, and 4 times 100 more; what a destructor gets
    CHECK(done.err == "");
    if (i == 0) {
      stats = slurp(folder / "out/stats.json");
      trace = slurp(folder / "kept.lst");
      CHECK(stats.find("\"partial\":false") != std::string::npos);
    }
    CHECK(slurp(folder / "out/stats.json") == stats);
    CHECK(slurp(folder / "kept.lst") == trace);
  }
}
