// `mpirun -n N lockstep exec -- PROGRAM`: where MPI was found at build time.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "paths.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

#ifndef LOCKSTEP_MPIEXEC
constexpr const char *kMpiexec = "", *kProgram = "", *kWithoutCuda = "";
#else
constexpr const char *kMpiexec = LOCKSTEP_MPIEXEC, *kProgram = LOCKSTEP_MPI_PROGRAM,
                     *kWithoutCuda = LOCKSTEP_MPI_WITHOUT_CUDA;
#endif

bool is_left_out() {
  if (*kMpiexec) return false;
  WARN("left out: no MPI was found at build time (Debian: openmpi-bin, libopenmpi-dev)");
  return true;
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

class MpiRuns {
 public:
  MpiRuns() {
    config::SystemConfig system = nodes(4, "inter_kernel");
    std::ofstream(path("nodes.ini")) << config::to_ini(system);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Exit code of `processes` of the program.
  [[nodiscard]] int exec(int processes, const std::string& program, const std::string& options = "",
                         const std::string& system = "") const {
    return mpirun(processes, "exec -c " + (system.empty() ? path("nodes.ini") : system) + " -t 1 " + options +
                                 " -- " + kProgram + " " + program);
  }
  /// Likewise of lockstep itself.
  [[nodiscard]] int mpirun(int processes, const std::string& arguments) const {
    return call(std::string("timeout 120 ") + kMpiexec + " -n " + std::to_string(processes) + " " +
                LOCKSTEP_BINARY + " " + arguments);
  }
  [[nodiscard]] int call(const std::string& command) const {
    const int status = std::system((command + " >" + path("output") + " 2>" + path("errors")).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string output() const { return contents(path("output")); }
  [[nodiscard]] std::string errors() const { return contents(path("errors")); }
  [[nodiscard]] std::string stats(const std::string& out) const {
    return contents(path(out) + "/stats.json") + contents(path(out) + "/stats.csv");
  }

 private:
  TemporaryFolder folder_;
};

using Json = nlohmann::json;

/// Without what the hosts compute: how often each process sends, receives and flushes, and what.
Json communication(const Json& stats) {
  Json all;
  for (const Json& process : stats["system"]["network"]["processes"]) {
    Json one;
    for (const char* what : {"send", "receive", "flush"}) one[what] = process["tasks"][what]["count"];
    one["bytes"] = process["bytes_sent"];
    all.push_back(one);
  }
  return all;
}

const std::string kPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/timing.ptx";

}  // namespace

TEST_CASE("mpirun exec: an MPI program's data are right, and its bytes the same whenever it runs", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  for (const std::string what : {"calls", "requests", "collectives", "windows"}) {
    INFO(what);
    REQUIRE(runs.exec(3, what, "-q -o " + runs.path("a") + " --record " + runs.path("a.lst")) == 0);
    CHECK(count(runs.output(), "right") == 3);
    CHECK(runs.errors().empty());  // nothing that is not simulated
    const std::string bytes = runs.stats("a");
    REQUIRE(bytes.size() > 1000);
    REQUIRE(runs.exec(3, what, "-q -o " + runs.path("b")) == 0);
    CHECK((runs.stats("b") == bytes));
    for (const char* threads : {"1", "2"}) {
      REQUIRE(runs.call(std::string(LOCKSTEP_BINARY) + " run " + runs.path("a.lst") + " -c " +
                        runs.path("nodes.ini") + " -q -t " + threads + " -o " + runs.path("c")) == 0);
      CHECK((runs.stats("c") == bytes));
    }
  }
}

TEST_CASE("mpirun exec: kernels, and messages from device memory to device memory", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  REQUIRE(runs.exec(2, "gpu " + kPtx, "-q -o " + runs.path("a") + " --record " + runs.path("a.lst")) == 0);
  CHECK(count(runs.output(), "right") == 2);
  const std::string bytes = runs.stats("a");
  CHECK(count(bytes, "\"name\":\"work\"") >= 6);
  REQUIRE(runs.call(std::string(LOCKSTEP_BINARY) + " run " + runs.path("a.lst") + " -c " +
                    runs.path("nodes.ini") + " -q -t 2 -o " + runs.path("c")) == 0);
  CHECK((runs.stats("c") == bytes));
}

TEST_CASE("mpirun exec: what is not simulated is said once", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  REQUIRE(runs.exec(2, "others") == 0);
  CHECK(count(runs.errors(), "MPI_Bcast in a communicator of another function's making, MPI_Scan") == 1);
  CHECK(count(runs.errors(), "is not simulated time") == 1);
}

TEST_CASE("mpirun exec: a process that fails, aborts or dies is the end of all, and nothing is simulated",
          "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  const std::pair<const char*, const char*> ends[] = {
      {"abort", "process 1 has called MPI_Abort with code 7: nothing is simulated"},
      {"die", "process 1 of mpi_calls was ended by signal Killed: nothing is simulated"},
      {"code", "process 1 of mpi_calls ended with exit code 9: nothing is simulated"}};
  for (const auto& [what, line] : ends) {
    INFO(what);
    CHECK(runs.exec(3, what, "-o " + runs.path("out")) != 0);
    CHECK(count(runs.errors(), line) == 1);
    CHECK(count(runs.errors(), "lockstep: ") == 1);
    CHECK(contents(runs.path("out") + "/stats.json").empty());
  }
}

TEST_CASE("mpirun exec: what cannot be simulated is one error line and exit code 2", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  const auto error = [&](int processes, const std::string& options, const std::string& system = "") {
    CHECK(runs.exec(processes, "calls", options, system) == 2);
    CHECK(count(runs.errors(), "lockstep: error") == 1);
    return runs.errors();
  };
  CHECK_THAT(error(2, "", "compnet_8"),
             Contains("expected a system with NICs and [node] design = inter_kernel"));
  CHECK_THAT(error(2, "", "v100"), Contains("2 processes of an MPI program on v100"));
  CHECK_THAT(error(2, "--gpus 1"), Contains("2 processes of an MPI program on 1 devices"));
  CHECK_THAT(error(2, "--clock simulated"), Contains("there is no time while it runs; expected a run with"));
  CHECK_THAT(error(2, "--clock " + runs.path("none")), Contains("none/stats.json"));
  CHECK_THAT(error(2, "--clock x -o y"), Contains("--out has no effect with --clock FOLDER"));
  CHECK_THAT(
      error(2, "--profile-from-start off"),
      Contains("--profile-from-start off: a program with MPI is recorded from its start; expected on"));
  CHECK_THAT(error(2, "--allreduce tree"), Contains("--allreduce: found 'tree'"));
  CHECK(runs.call(std::string(LOCKSTEP_BINARY) + " exec --eager 100 -- /bin/true") == 2);
  CHECK_THAT(runs.errors(), Contains("--eager is for MPI programs"));
}

TEST_CASE("mpirun exec --clock: a second run prints the simulated times of the first one", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  const std::string program = "times " + kPtx;
  REQUIRE(runs.exec(2, program, "-o " + runs.path("a") + " --record " + runs.path("a.lst")) == 0);
  CHECK(count(runs.errors(), "a second run with --clock " + runs.path("a") + " prints that") == 1);
  const std::string bytes = runs.stats("a");
  for (const char* threads : {"1", "2"}) {
    REQUIRE(runs.call(std::string(LOCKSTEP_BINARY) + " run " + runs.path("a.lst") + " -c " +
                      runs.path("nodes.ini") + " -q -t " + threads + " -o " + runs.path("c")) == 0);
    CHECK((runs.stats("c") == bytes));
  }
  REQUIRE(runs.mpirun(2, "run " + runs.path("a.lst") + " -c " + runs.path("nodes.ini") + " -q -t 1 -o " +
                             runs.path("d")) == 0);
  CHECK((runs.stats("d") == bytes));
  REQUIRE(runs.exec(2, program, "--clock " + runs.path("a") + " --record " + runs.path("b.lst")) == 0);
  CHECK(count(runs.errors(), "is of the simulated run in " + runs.path("a")) == 1);
  CHECK(contents(runs.path("a.lst")) == contents(runs.path("b.lst")));
  const auto stats = nlohmann::json::parse(contents(runs.path("a") + "/stats.json"));
  const auto& processes = stats["system"]["network"]["processes"];
  REQUIRE(processes.size() == 4);
  CHECK(!processes[2].contains("clock_ps"));
  std::istringstream lines(runs.output());
  unsigned found = 0;
  std::string word;
  while (lines >> word) {
    if (word != "time") continue;
    std::size_t process = 2;
    double begin = 0, end = 0, milliseconds = 0, tick = 0;
    lines >> process >> begin >> end >> milliseconds >> tick;
    REQUIRE(process < 2);
    ++found;
    CHECK(tick == 1e-12);
    const auto clock = processes[process]["clock_ps"].get<std::vector<std::uint64_t>>();
    const auto events = processes[process]["event_ps"].get<std::vector<std::uint64_t>>();
    REQUIRE(clock.size() == 2);
    REQUIRE(events.size() == 2);
    CHECK(std::llround(begin * 1e12) == static_cast<long long>(clock[0]));
    CHECK(std::llround(end * 1e12) == static_cast<long long>(clock[1]));
    CHECK(milliseconds * 1e9 == Approx(events[1] - events[0]).epsilon(1e-6));
    CHECK(events[0] >= clock[1]);
    CHECK(events[1] - events[0] > 2000);  // a kernel's additions
  }
  CHECK(found == 2);
}

TEST_CASE("mpirun exec --clock: a run that is not of this program is one error line and exit code 2",
          "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  const auto second = [&](int processes, const std::string& program) {
    CHECK(runs.exec(processes, program, "--clock " + runs.path("a")) == 2);
    CHECK(count(runs.errors(), "lockstep: error") == 1);
    return runs.errors();
  };
  REQUIRE(runs.exec(2, "adapt message", "-q -o " + runs.path("a")) == 0);
  CHECK_THAT(second(2, "adapt message"), Contains("is not of that run: it has made other calls"));
  CHECK_THAT(second(2, "adapt clock"),
             Contains("process 1 reads its clock (MPI_Wtime) more often") && Contains("which has 1 of them"));
  CHECK_THAT(second(3, "adapt message"), Contains("found a run of 2 processes; expected one of 3"));
  CHECK(runs.exec(2, "adapt message", "--set clock.core_khz=1000000 --clock " + runs.path("a")) == 2);
  CHECK_THAT(runs.errors(), Contains("found a run on another system (system.ini)"));
  REQUIRE(runs.exec(2, "others", "-q -o " + runs.path("a")) == 0);
  CHECK_THAT(second(2, "others"), Contains("found no \"clock_ps\""));
}

TEST_CASE("mpirun exec --host-time: what the host computes takes its CPU time, multiplied", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  const auto stats = [&](const std::string& between, const std::string& options) {
    REQUIRE(runs.exec(2, "computes " + between, options + " -o " + runs.path("a")) == 0);
    CHECK(count(runs.errors(), "results differ from run to run") == (options.empty() ? 0 : 1));
    return Json::parse(contents(runs.path("a") + "/stats.json"));
  };
  const auto clock_ms = [](const Json& of, std::size_t process) {
    return of["system"]["network"]["processes"][process]["clock_ps"][0].get<double>() * 1e-9;
  };
  for (const std::string between : {"mpi", "cuda"}) {
    INFO(between);
    const Json none = stats(between, "");
    CHECK(clock_ms(none, 0) < 1);
    const Json once = stats(between, "--host-time 1"), half = stats(between, "--host-time 0.5");
    for (const std::size_t process : {0u, 1u}) {  // the other one waits in the barrier
      const double more = clock_ms(once, process) - clock_ms(none, process);
      CHECK((more >= 20 && more < 30));
      const double less = clock_ms(half, process) - clock_ms(none, process);
      CHECK((less >= 10 && less < 15));
    }
    CHECK(communication(once) == communication(none));
  }
}

TEST_CASE("mpirun exec --host-time: its recording has the times, and a second run shows them", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  REQUIRE(runs.exec(2, "times " + kPtx,
                    "-q --host-time 2.5 -o " + runs.path("a") + " --record " + runs.path("a.lst")) == 0);
  const std::string bytes = runs.stats("a");
  for (const char* threads : {"1", "2"}) {
    REQUIRE(runs.call(std::string(LOCKSTEP_BINARY) + " run " + runs.path("a.lst") + " -c " +
                      runs.path("nodes.ini") + " -q -t " + threads + " -o " + runs.path("c")) == 0);
    CHECK((runs.stats("c") == bytes));
  }
  CHECK(contents(runs.path("a.lst")).substr(8, 1) == "\x0b");  // the format's version
  REQUIRE(runs.exec(2, "times " + kPtx, "--clock " + runs.path("a")) == 0);
  CHECK(count(runs.errors(), "is of the simulated run in " + runs.path("a")) == 1);
  REQUIRE(runs.exec(2, "times " + kPtx, "-q -o " + runs.path("b")) == 0);
  const auto hash = [&](const char* out) {
    return Json::parse(contents(runs.path(out) + "/stats.json"))["trace"]["hash"].get<std::string>();
  };
  CHECK(hash("a") != hash("b"));
  CHECK(hash("a").substr(0, 8) == hash("b").substr(0, 8));
  REQUIRE(runs.exec(2, "adapt message", "-q --host-time 1 -o " + runs.path("a")) == 0);
  CHECK(runs.exec(2, "adapt message", "--clock " + runs.path("a")) == 2);
  CHECK_THAT(runs.errors(), Contains("is not of that run: it has made other calls"));
}

TEST_CASE("mpirun exec --host-time: what cannot be is refused, and what is not measured said", "[long]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  for (const std::string value : {"0", "=-1", "nan", "inf", "1001", "1e99", "x", "1x"}) {
    INFO(value);
    CHECK(runs.exec(2, "calls", "--host-time" + (value.starts_with("=") ? value : " " + value)) == 2);
    CHECK(count(runs.errors(), "lockstep: error") == 1);
    CHECK_THAT(runs.errors(), Contains("expected none, or a factor above 0 and up to 1000"));
  }
  CHECK(runs.exec(2, "calls", "--host-time 1 --clock " + runs.path("none")) == 2);
  CHECK_THAT(runs.errors(), Contains("--host-time has no effect with --clock FOLDER"));
  CHECK(runs.call(std::string(LOCKSTEP_BINARY) + " exec --host-time 1 -- /bin/true") == 2);
  CHECK_THAT(runs.errors(), Contains("--host-time is for MPI programs"));
  const std::string plain = std::string("timeout 120 ") + kMpiexec + " -n 2 " + LOCKSTEP_BINARY +
                            " exec -c " + runs.path("nodes.ini") + " -t 1 --host-time 1 -- " + kWithoutCuda;
  REQUIRE(runs.call(plain) == 0);
  CHECK(count(runs.errors(), "a program that has not loaded the CUDA runtime by MPI_Init") == 1);
}

TEST_CASE("mpirun exec: a folder that only one process sees is an error that says so", "[slow]") {
  if (is_left_out()) return;
  const MpiRuns runs;
  const std::string folders = "--ranks-folder " + runs.path("of") + "$OMPI_COMM_WORLD_RANK";
  CHECK(runs.call(std::string("timeout 120 ") + kMpiexec + " -n 2 sh -c '" + LOCKSTEP_BINARY + " exec -c " +
                  runs.path("nodes.ini") + " -t 1 " + folders + " -- " + kProgram + " calls'") == 2);
  CHECK_THAT(runs.errors(), Contains("has nothing of process 1; expected a folder that all processes see"));
  CHECK(count(runs.errors(), "lockstep: error") == 1);
}

}  // namespace lockstep::test
