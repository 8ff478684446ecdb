// The library as programs use it: only its public headers.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lockstep/policies.hpp"
#include "paths.hpp"
#include "support.hpp"

namespace {

using namespace lockstep::api_test;
using Catch::Contains;
using lockstep::Instruction;
using lockstep::Machine;
using lockstep::Options;
using lockstep::Pages;
using lockstep::simulate;
using lockstep::Trace;
using lockstep::TraceBuilder;
using lockstep::Warp;

// Policies that do what built-in ones say that they do, written again.
const bool kAdded = [] {
  lockstep::add_prefetcher("leaf", "the 64 KiB of each page that faults",
                           [](const lockstep::PrefetchTree& tree, Pages& along) {
                             for (unsigned page = 0; page < tree.pages; ++page)
                               if (tree.faults.test(page))
                                 for (unsigned i = 0; i < 16; ++i) along.set(page / 16 * 16 + i);
                           });
  lockstep::add_evictor("oldest", "the tree that was not touched the longest", lockstep::EvictionUnit::kTree,
                        [](const lockstep::EvictionUnits& units) {
                          std::optional<std::uint64_t> found;
                          units.walk(0,
                                     [&](std::uint64_t position, const lockstep::EvictionUnits::Unit& unit) {
                                       if (unit.pages.none()) return false;
                                       found = position;
                                       return true;
                                     });
                          return found;
                        });
  return true;
}();

}  // namespace

TEST_CASE("A chase of the library's records takes the L1's hit latency a load, as V100s do") {
  // Jia et al. 2018, table 3.1: 28 cycles for a hit in the V100's L1. One line, so all loads but the first
  // hit.
  const auto cycles = [](std::size_t loads) {
    return simulate(loads_from(std::vector<std::uint64_t>(loads, kData)), Machine("v100"))
        .kernels()
        .at(0)
        .cycles;
  };
  const double each = static_cast<double>(cycles(1040) - cycles(40)) / 1000;
  CHECK(each == Approx(28).epsilon(0.2));
}

TEST_CASE("Counters of the library's records are what the records say") {
  TraceBuilder builder;
  builder.copy_to_device(kData, 4096);
  builder.kernel({.name = "counted", .grid = {3, 2, 1}, .block = {96, 1, 1}},
                 [](const Warp& warp, std::vector<Instruction>& code) {
                   for (std::uint32_t i = 0; i <= warp.index; ++i)
                     code.push_back({.opcode = "FFMA", .destination = 1, .sources = {1, 2, 3}});
                   code.push_back({.opcode = "LDG.E",
                                   .destination = 4,
                                   .sources = {2},
                                   .access_bytes = 4,
                                   .addresses = {kData, kData + 1024},
                                   .lanes = 3u});
                   code.push_back({.opcode = "EXIT"});
                 });
  const lockstep::Result result = simulate(builder.finish(), Machine("a100"));
  REQUIRE(result.kernels().size() == 1);
  const lockstep::Kernel& kernel = result.kernels().front();
  CHECK(kernel.name == "counted");
  CHECK(result.outcome() == lockstep::Outcome::kDone);
  CHECK(kernel.counter("warp_instructions") == 6 * (1 + 2 + 3 + 3 * 2));
  CHECK(kernel.counter("thread_instructions") == 6 * (32 * (1 + 2 + 3 + 3) + 3 * 2));
  CHECK(result.cycles() > kernel.cycles);  // with the copy
  CHECK_THROWS_WITH(kernel.counter("sm.nothing"), Contains("no counter 'sm.nothing'"));
}

TEST_CASE("Threads change no byte of the library's results") {
  const Trace trace(LOCKSTEP_SOURCE_DIR "/traces/sgemm");
  const Machine machine("v100");
  const std::string one = simulate(trace, machine).json();
  CHECK((simulate(trace, machine, {.threads = 3}).json() == one));
}

TEST_CASE("A result's folder says which program made it, where and when") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lockstep_api_result";
  std::filesystem::remove_all(folder);
  simulate(loads_from({kData}), Machine("v100")).write(folder.string());
  std::ifstream file(folder / "host.json");
  const std::string host{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(host, Contains("test_api"));
  const std::string key = "\"date\":\"";
  REQUIRE_THAT(host, Contains(key));
  CHECK_THAT(host.substr(host.find(key) + key.size(), 21),
             Catch::Matches(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")"));
  CHECK_THAT(host, !Contains("\"peak_rss_bytes\":0,") && !Contains("\"wall_seconds\":0.000000,"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("A system of several devices is a machine") {
  const Machine machine("dgx_a100");
  CHECK(machine.devices() == 8);
  CHECK_THAT(machine.ini(), Contains("[system]"));
  const lockstep::Result result = simulate(loads_from({kData}), machine);
  CHECK_THAT(result.json(), Contains("\"schema\":2"));
}

TEST_CASE("A machine's text makes the same machine") {
  const Machine machine("h100_sxm", {"l1.ways=4", "sm.scheduler=lrr"});
  const std::string file = (std::filesystem::temp_directory_path() / "lockstep_api_test.ini").string();
  std::ofstream(file) << machine.ini();
  CHECK(Machine(file).ini() == machine.ini());
  std::filesystem::remove(file);
}

TEST_CASE("A prefetcher that is added does what the same built-in one does") {
  const Trace trace = loads_from(round_and_round());
  const auto with = [&](const std::string& name) {
    return simulate(trace, Machine("v100", {"uvm.prefetcher=" + name}), managed(""));
  };
  const std::string built_in = results_of(with("sequential"));
  CHECK(results_of(with("leaf")) == built_in);
  CHECK(results_of(with("none")) != built_in);
}

TEST_CASE("An evictor that is added does what the same built-in one does") {
  const Trace trace = loads_from(round_and_round());
  const auto with = [&](const std::string& name) {
    const Machine machine("v100", {"uvm.prefetcher=none", "uvm.evictor=" + name});
    return simulate(trace, machine, managed("100 KiB"));
  };
  const std::string built_in = results_of(with("lru_2m"));
  CHECK(results_of(with("oldest")) == built_in);
  CHECK(results_of(with("lru_4k")) != built_in);
}

TEST_CASE("The library names what is wrong") {
  using lockstep::Error;
  CHECK_THROWS_WITH(Machine("v1000"), Contains("v1000"));
  CHECK_THROWS_WITH(Machine("v100", {"l1.way=4"}), Contains("did you mean"));
  CHECK_THROWS_AS(Trace("/nowhere"), Error);
  const Machine machine("v100");
  CHECK_THROWS_WITH(lockstep::add_prefetcher("late", "", [](const lockstep::PrefetchTree&, Pages&) {}),
                    Contains("too late"));
  CHECK_THROWS_AS(lockstep::add_evictor("", "", lockstep::EvictionUnit::kPage, nullptr), Error);
  const Trace trace = loads_from({kData});
  CHECK_THROWS_WITH(simulate(trace, machine, {.threads = 0}), Contains("threads"));
  Options options;
  options.managed = "pages";
  CHECK_THROWS_AS(simulate(trace, machine, options), Error);
  CHECK_THROWS_WITH(TraceBuilder().finish(), Contains("without a kernel"));
}

TEST_CASE("Records that cannot be are refused") {
  const auto kernel_of = [](const Instruction& inst) {
    TraceBuilder().kernel({}, [&](const Warp&, std::vector<Instruction>& code) { code.push_back(inst); });
  };
  CHECK_THROWS_WITH(kernel_of({.opcode = "FF MA"}), Contains("one word"));
  CHECK_THROWS_WITH(kernel_of({.opcode = ""}), Contains("one word"));
  CHECK_THROWS_WITH(kernel_of({.opcode = "FFMA", .destination = 256}), Contains("register 256"));
  CHECK_THROWS_WITH(kernel_of({.opcode = "FFMA", .sources = {1, 2, 3, 4, 5, 6}}), Contains("at most 5"));
  CHECK_THROWS_WITH(kernel_of({.opcode = "LDG.E", .access_bytes = 32}), Contains("32 bytes"));
  CHECK_THROWS_WITH(kernel_of({.opcode = "LDG.E", .access_bytes = 4, .addresses = {1, 2}}),
                    Contains("2 addresses") && Contains("32 active lanes"));
  CHECK_THROWS_WITH(
      TraceBuilder().kernel({.block = {2048, 1, 1}}, [](const Warp&, std::vector<Instruction>&) {}),
      Contains("1024 threads"));
}

TEST_CASE("A builder makes one trace after another, of the architecture that it was made for") {
  TraceBuilder builder(80);
  const auto remarks = [&] {
    builder.kernel({},
                   [](const Warp&, std::vector<Instruction>& code) { code.push_back({.opcode = "EXIT"}); });
    return simulate(builder.finish(), Machine("v100")).json();
  };
  CHECK_THAT(remarks(), Contains("code of sm_80 runs on v100"));
  CHECK_THAT(remarks(), Contains("code of sm_80 runs on v100"));
}

TEST_CASE("A kernel that is refused, or whose code throws, is no part of the trace") {
  const auto plain = [](const Warp&, std::vector<Instruction>& code) { code.push_back({.opcode = "EXIT"}); };
  TraceBuilder builder;
  builder.kernel({.name = "first"}, plain);
  CHECK_THROWS_WITH(builder.kernel({.name = "bad", .block = {64, 1, 1}},
                                   [](const Warp& warp, std::vector<Instruction>& code) {
                                     code.push_back({.opcode = warp.index == 0 ? "EXIT" : "two words"});
                                   }),
                    Contains("one word"));
  struct Own {};
  CHECK_THROWS_AS(
      builder.kernel({.name = "thrown"}, [](const Warp&, std::vector<Instruction>&) { throw Own(); }), Own);
  builder.copy_to_device(kData, 4096);
  builder.kernel({.name = "second"}, plain);
  const auto result = simulate(builder.finish(), Machine("v100"));
  REQUIRE(result.kernels().size() == 2);
  CHECK(result.kernels()[0].name == "first");
  CHECK(result.kernels()[1].name == "second");
}

TEST_CASE("A run ends where it is interrupted or at its limit, and says so") {
  const Trace trace(LOCKSTEP_SOURCE_DIR "/traces/sgemm");
  const Machine machine("v100");
  const lockstep::Result limited = simulate(trace, machine, {.max_cycles = 18000});
  CHECK(limited.outcome() == lockstep::Outcome::kMaxCycles);
  CHECK(limited.kernels().at(0).partial);
  Options options;
  options.interrupted = [] { return true; };
  CHECK(simulate(trace, machine, options).outcome() == lockstep::Outcome::kInterrupted);
}
