// `mpirun -n R lockstep run`: where MPI was found at build time.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "../gpu/end_to_end.hpp"
#include "paths.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

#ifndef LOCKSTEP_MPIEXEC
constexpr const char* kMpiexec = "";
#else
constexpr const char* kMpiexec = LOCKSTEP_MPIEXEC;
#endif

bool is_left_out() {
  if (*kMpiexec) return false;
  WARN("left out: no MPI was found at build time (Debian: openmpi-bin, libopenmpi-dev)");
  return true;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A system of four devices whose kernels use each other's memory, and a folder for what comes of it.
class Runs {
 public:
  Runs() {
    synth::synthesize("streaming", {{"ctas", "48"}}, path("t"));
    std::ofstream list(path("t") + "/kernelslist.g");
    list << "Device,1\nPlace,0x7f8020000000,16777216\nDevice,0\nPlace,0x7f8000000000,16777216\n"
            "MemcpyHtoD,0x7f8000000000,65536\n";
    for (int d = 0; d < 4; ++d) list << "Device," << d << "\nkernel-1.traceg\nEventRecord,0\n";
    list << "Device,1\nStreamWait,5,0\nMemcpyPeer,0x7f8000000000,0x7f8020000000,100001,5\nWait\n"
            "Device,3\nkernel-1.traceg\nWait\nDevice,0\nkernel-1.traceg\n";
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string lockstep(const std::string& options) const {
    return std::string(LOCKSTEP_BINARY) + " run " + path("t") + " -c dgx_a100 --gpus 4 -q " + options;
  }
  /// Of `ranks` processes, whose errors go to errors().
  [[nodiscard]] int start(int ranks, const std::string& options) const {
    return call(mpirun() + " -n " + std::to_string(ranks) + " " + lockstep(options));
  }
  [[nodiscard]] static std::string mpirun() { return std::string("timeout 120 ") + kMpiexec; }
  [[nodiscard]] int call(const std::string& command) const {
    const int status = std::system((command + " 2>" + path("errors")).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string errors() const { return contents(path("errors")); }
  [[nodiscard]] std::string stats(const std::string& out) const {
    return contents(path(out) + "/stats.json") + contents(path(out) + "/stats.csv");
  }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("mpirun: any number of ranks and threads writes the bytes of one process", "[long]") {
  if (is_left_out()) return;
  const Runs runs;
  REQUIRE(runs.call(runs.lockstep("-t 1 -o " + runs.path("one"))) == 0);
  const std::string one = runs.stats("one");
  REQUIRE(one.size() > 1000);
  for (int ranks = 1; ranks <= 4; ++ranks)
    for (const char* threads : {"1", "2"}) {
      INFO("ranks " << ranks << ", threads " << threads);
      CHECK(runs.start(ranks, std::string("-t ") + threads + " -o " + runs.path("many")) == 0);
      CHECK((runs.stats("many") == one));
    }
  CHECK_THAT(contents(runs.path("many") + "/host.json"), Contains("\"ranks\":[") && Contains("\"rank\":3"));
}

TEST_CASE("mpirun: a limit ends all ranks at the same cycle", "[long]") {
  if (is_left_out()) return;
  const Runs runs;
  REQUIRE(runs.call(runs.lockstep("-t 1 --max-cycles 9000 -o " + runs.path("one"))) == 0);
  REQUIRE(runs.start(2, "-t 1 --max-cycles 9000 -o " + runs.path("two")) == 0);
  CHECK((runs.stats("two") == runs.stats("one")));
}

TEST_CASE("mpirun: what is wrong is one error line and exit code 2", "[long]") {
  if (is_left_out()) return;
  const Runs runs;
  const auto lines = [&] {
    const std::string text = runs.errors();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("lockstep: error", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(runs.start(3, "-t 1 --bogus") == 2);
  CHECK((lines() == 1 && runs.errors().find("--bogus") != std::string::npos));
  CHECK(runs.start(5, "-t 1") == 2);
  CHECK_THAT(runs.errors(), Contains("5 processes for the 4 devices"));
  CHECK(lines() == 1);
  CHECK(runs.call(Runs::mpirun() + " -n 1 " + runs.lockstep("-t 1") + " : -n 1 " +
                  runs.lockstep("-t 1 --set gpu.sms=100")) == 2);
  CHECK_THAT(runs.errors(), Contains("ranks 0 and 1 do not simulate the same"));
  CHECK(lines() == 1);
}

}  // namespace
}  // namespace lockstep::test
