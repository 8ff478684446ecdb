// What launches cost a program: closed forms in simulated time, and what was measured on an A100.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;
using lockstep::cuda::kTimingPtx;

namespace {

Finished run_launches(const std::string& which, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"exec", "-q", "-c", "a100"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", LOCKSTEP_LAUNCHES_PROGRAM, kTimingPtx, which});
  return run(words);
}

/// Microseconds, as the program prints them.
std::vector<double> times(const std::string& which, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> options;
  for (const std::string& setting : settings) options.insert(options.end(), {"--set", setting});
  const Finished done = run_launches(which, options);
  CHECK(done.err.empty());
  std::istringstream in(done.out);
  std::vector<double> all;
  for (double n = 0; in >> n;) all.push_back(n / 1e6);
  return all;
}

// openfabric-systems/simllm @9c2672cd, A100 SXM4 80 GB, empty kernels.
constexpr double kPipelined = 1.80605822, kRoundTrip = 6.0686745, kGraphNode = 0.791331805;

}  // namespace

TEST_CASE("launches, graph nodes and round trips take what they take on an A100", "[long]") {
  const auto calls = times("calls");
  REQUIRE(calls.size() == 2);
  CHECK(calls[0] == Approx(kPipelined).epsilon(0.01));
  CHECK(calls[1] == Approx(kRoundTrip).epsilon(0.01));
  const auto graphs = times("graphs");
  REQUIRE(graphs.size() == 3);
  CHECK(graphs[0] == Approx(kGraphNode).epsilon(0.02));  // with a call and a floor every 200 nodes
  CHECK(graphs[2] - graphs[1] == Approx(kGraphNode).epsilon(0.01));
}

TEST_CASE("a stream of launches takes the longer of the host's call and what the device needs for a kernel",
          "[long]") {
  const std::vector<std::string> fast = {"launch.call_ns=0", "launch.wait_ns=0"};
  const auto device = times("calls", fast);
  REQUIRE(device.size() == 2);
  CHECK(device[0] > 1.24);
  CHECK(device[0] < 1.8);
  for (const int call : {700, 3000}) {
    INFO(call);
    const auto found = times("calls", {"launch.call_ns=" + std::to_string(call), "launch.wait_ns=500"});
    REQUIRE(found.size() == 2);
    CHECK(found[0] == Approx(std::max(device[0], call / 1e3)).margin(0.004));  // one in 1000 more
    CHECK(found[1] - device[1] == Approx(call / 1e3 + 0.5).margin(0.003));     // whole cycles
  }
}

TEST_CASE("a graph's launch is one call; its nodes follow each other faster, never slower than launches",
          "[long]") {
  const auto floor_only = times("graphs", {"launch.call_ns=0", "launch.graph_node_ns=1240"});
  const auto nodes = times("graphs", {"launch.call_ns=0", "launch.graph_node_ns=740"});
  const auto slow = times("graphs", {"launch.call_ns=0", "launch.graph_node_ns=9000"});
  const auto called = times("graphs", {"launch.call_ns=2000", "launch.graph_node_ns=740"});
  REQUIRE(called.size() == 3);
  CHECK(floor_only[0] - nodes[0] == Approx(0.5 * 199 / 200).margin(0.002));
  CHECK(floor_only[1] == nodes[1]);
  CHECK(slow == floor_only);
  CHECK(called[0] - nodes[0] ==
        Approx(2.0 / 1000).margin(0.0005));  // the first of five; the others are ahead
  CHECK(called[1] - nodes[1] == Approx(2.0).margin(0.002));
  CHECK(called[2] - nodes[2] == Approx(2.0).margin(0.002));
}

TEST_CASE("two host threads launch side by side", "[long]") {
  const auto found = times("threads", {"launch.call_ns=4000"});
  REQUIRE(found.size() == 2);
  CHECK(found[0] == Approx(8.0).epsilon(0.01));
  CHECK(found[1] == Approx(4.0).epsilon(0.01));
}

TEST_CASE("copies between host and device: the runtime's fixed time, where it is set, comes once for each",
          "[long]") {
  const auto none = times("copies"), some = times("copies", {"host.copy_start_ns=25 us"});
  REQUIRE(none.size() == 2);
  REQUIRE(some.size() == 2);
  for (const std::size_t i : {0u, 1u}) {
    CHECK(none[i] > 0);
    CHECK(some[i] - none[i] == Approx(25).margin(0.001));
  }
}

TEST_CASE("the report says which floor a kernel had", "[long]") {
  const Folder folder;
  CHECK(run_launches("graphs", {"-o", folder / "out"}).code == 0);
  const auto report = nlohmann::json::parse(slurp(folder / "out/stats.json"));
  const auto& kernels = report.at("kernels");
  REQUIRE(kernels.size() == 1003);
  const double launched = kernels.at(0).at("launch_cycles"), node = kernels.at(1).at("launch_cycles");
  CHECK(launched == Approx(1.24 * 1410).margin(1));
  CHECK(node == Approx(0.715 * 1410).margin(1));
  CHECK(kernels.at(200).at("launch_cycles") == launched);
  CHECK(kernels.at(1000).at("launch_cycles") == launched);
  CHECK(kernels.at(1002).at("launch_cycles") == node);
}

TEST_CASE("launches of threads and graphs: live as recorded, whatever threads and windows", "[long]") {
  for (const std::string which : {"calls", "graphs", "threads", "copies"}) {
    INFO(which);
    const Folder folder;
    const Finished one =
        run_launches(which, {"--threads", "1", "--record", folder / "kept.lst", "-o", folder / "one"});
    CHECK(one.code == 0);
    const std::string stats = slurp(folder / "one/stats.json"), trace = slurp(folder / "kept.lst");
    CHECK(stats.find("\"partial\":false") != std::string::npos);
    CHECK(trace[8] == 6);  // the format's version
    CHECK(run({"run", "-c", "a100", folder / "kept.lst", "-q", "-o", folder / "two"}).code == 0);
    CHECK(slurp(folder / "two/stats.json") == stats);
    CHECK(run_launches(which, {"--threads", "2", "--window", "7", "--shuffle", "3", "--record",
                               folder / "again.lst", "-o", folder / "three"})
              .out == one.out);
    CHECK(slurp(folder / "three/stats.json") == stats);
    CHECK(slurp(folder / "again.lst") == trace);
  }
}
