// Results and machines as values: files that can be read again, counters by name, deadlocks.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lockstep/simulator.hpp"
#include "support.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::api_test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("Counters have names of their own, a unit and a help, and a kernel has each of them") {
  std::set<std::string_view> names;
  for (const Counter& counter : counters()) {
    CHECK(names.insert(counter.name).second);
    CHECK_FALSE(counter.unit.empty());
    CHECK_FALSE(counter.help.empty());
  }
  const Kernel kernel = simulate(loads_from({kData}), Machine("v100")).kernels().at(0);
  REQUIRE(kernel.counters.size() == counters().size());
  for (std::size_t i = 0; i < counters().size(); ++i)
    CHECK(kernel.counter(counters()[i].name) == kernel.counters[i]);
  CHECK_THROWS_AS(kernel.counter(""), Error);
  CHECK_THROWS_AS(kernel.counter("l1"), Error);
}

TEST_CASE("A result's folder has its JSON, and a configuration that makes the same machine") {
  for (const char* name : {"v100", "pcie_4"}) {
    INFO(name);
    const Machine machine(name, {"clock.core_mhz=1000"});
    const test::TemporaryFolder folder;
    const std::string out = folder / "deep/er";
    const Result result = simulate(loads_from({kData}), machine);
    result.write(out);
    const bool system = machine.devices() > 1;
    CHECK(content_of(out + "/stats.json") == result.json());
    CHECK(fs::exists(out + "/stats.csv"));
    CHECK(fs::exists(out + "/system.ini") == system);
    CHECK(content_of(out + "/config.ini") != "");
    const Machine again(out + (system ? "/system.ini" : "/config.ini"));
    CHECK(again.ini() == machine.ini());
    CHECK(again.devices() == machine.devices());
    const Result repeated = simulate(loads_from({kData}), again);
    CHECK(results_of(repeated) == results_of(result));
    // Written twice: the same files.
    const std::set<std::string> files = names_in(out);
    result.write(out);
    CHECK(names_in(out) == files);
  }
}

TEST_CASE("A folder that cannot be made is an error of the caller") {
  const Result result = simulate(loads_from({kData}), Machine("v100"));
  CHECK_THROWS_WITH(result.write("/proc/nowhere"), Contains("/proc/nowhere"));
}

TEST_CASE("Results, machines and traces are values: copies outlive what they come from") {
  std::optional<Machine> machine(Machine("v100"));
  std::optional<Trace> trace(loads_from({kData, kData + 4096}));
  const Machine machine_copy = *machine;
  const Trace trace_copy = *trace;
  machine.reset();
  trace.reset();
  std::optional<Result> result(simulate(trace_copy, machine_copy));
  const Result copy = *result;
  const std::string text = result->json();
  result.reset();
  CHECK(copy.json() == text);
  CHECK(simulate(trace_copy, machine_copy).json() == text);
  CHECK(machine_copy.devices() == 1);
}

TEST_CASE("Settings change the machine, the later one of two wins, and a wrong one is named") {
  CHECK(Machine("v100", {"l1.ways=2", "l1.ways=8"}).ini() == Machine("v100", {"l1.ways=8"}).ini());
  CHECK(Machine("v100", {"l1.ways=8"}).ini() != Machine("v100").ini());
  CHECK_THROWS_WITH(Machine("v100", {"l1.ways"}), Contains("l1.ways"));
  CHECK_THROWS_WITH(Machine("v100", {"l1.ways=-1"}), Contains("l1.ways") && Contains("-1"));
  CHECK_THROWS_AS(Machine("/nowhere/gpu.ini"), Error);
  CHECK_THROWS_AS(Machine(""), Error);
}

TEST_CASE("A clock of half the frequency takes twice the time and nearly as many cycles") {
  const auto run = [](const std::string& mhz) {
    return simulate(loads_from(std::vector<std::uint64_t>(500, kData)),
                    Machine("v100", {"clock.core_mhz=" + mhz, "launch.latency_ns=0"}));
  };
  const double fast = static_cast<double>(run("1400").cycles()),
               slow = static_cast<double>(run("700").cycles());
  CHECK(slow == Approx(fast).epsilon(0.05));  // hits in the L1: what is outside the SM hardly matters
}

TEST_CASE("A run's options are checked before it begins") {
  const Trace trace = loads_from({kData});
  const Machine machine("v100");
  const auto refused = [&](const std::string& managed_ranges, const std::string& memory) {
    Options options;
    options.managed = managed_ranges;
    options.gpu_memory = memory;
    CHECK_THROWS_AS(simulate(trace, machine, options), Error);
  };
  refused("0x10", "");
  refused("all", "much");
  refused("all", "0");
  refused("", "0.5x");  // of nothing
}

}  // namespace lockstep::api_test
