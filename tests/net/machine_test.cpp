// Kernels that use the network through agents, on the real machine.
#include <catch2/catch.hpp>

#include "scenario.hpp"

namespace lockstep::test {
namespace {

using Stages = stats::NetworkReport::Operations;

config::SystemConfig nodes(std::uint32_t devices = 2, const char* design = "compnet") {
  config::SystemConfig system = config::resolve_system(devices > 2 ? "compnet_8" : "compnet_2", devices);
  if (std::string(design) == "dgpu") system.network.node.design = config::NetDesign::kDgpu;
  return system;
}

Stages of_kind(const gpu::RunResult& result, const char* kind) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  for (std::size_t k = 0; k < stats::kNetworkKinds.size(); ++k)
    if (stats::kNetworkKinds[k] == kind) return result.report.system->network->all_of(k);
  return {};
}

Stages alone(const config::SystemConfig& system, const trace::NetOperation& operation, const char* kind) {
  NetScenario scenario;
  scenario.queue(0);
  scenario.wait(0, 0, scenario.ask(0, operation));
  return of_kind(scenario.run(system), kind);
}

}  // namespace

TEST_CASE("An operation's stages add up to its time, of every kind and design") {
  for (const char* design : {"compnet", "dgpu"})
    for (const auto& [operation, kind] :
         {std::pair{put(1, NetScenario::data(0), NetScenario::data(1), 4096), "put"},
          {get(1, NetScenario::data(0), NetScenario::data(1), 4096), "get"},
          {atomic(1, NetScenario::data(0), NetScenario::data(1)), "atomic"}}) {
      INFO(design << " " << kind);
      const Stages stages = alone(nodes(2, design), operation, kind);
      CHECK((stages.count == 1 && stages.blocking == 1));
      std::uint64_t sum = 0;
      for (const std::uint64_t stage : stages.sum_ps) sum += stage;
      CHECK(sum == stages.total_ps);
      CHECK(stages.total_ps > 1'000'000);
      CHECK(stages.total_ps < 20'000'000);
    }
}

TEST_CASE("Without a system of NICs a trace that asks for the network is refused") {
  NetScenario scenario;
  scenario.queue(0);
  CHECK_THROWS_WITH(scenario.run(config::resolve_system("dgx_a100", 2)), Catch::Contains("has no NICs"));
}

}  // namespace lockstep::test
