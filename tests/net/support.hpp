// Runs of small programs that use the network, and what came of them.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "scenario.hpp"

namespace lockstep::test {

using Stages = stats::NetworkReport::Operations;

inline constexpr const char* kDesigns[] = {"compnet", "dgpu", "dgpu_host", "apu", "direct"};

[[nodiscard]] inline config::SystemConfig nodes(std::uint32_t devices = 2,
                                                const std::string& design = "compnet") {
  config::SystemConfig system =
      config::resolve_system(design == "apu" ? "compnet_apu_8" : "compnet_8", devices);
  system.network.node.design = config::net_design(design);
  return system;
}

[[nodiscard]] inline const stats::NetworkReport& network(const gpu::RunResult& result) {
  return *result.report.system->network;
}

[[nodiscard]] inline Stages of_kind(const gpu::RunResult& result, const char* kind) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  for (std::size_t k = 0; k < stats::kNetworkKinds.size(); ++k)
    if (stats::kNetworkKinds[k] == kind) return network(result).all_of(k);
  return {};
}

/// In ns.
[[nodiscard]] inline double stage(const Stages& stages, const char* name) {
  for (std::size_t s = 0; s < stats::kNetworkStages.size(); ++s)
    if (stats::kNetworkStages[s] == name) return static_cast<double>(stages.sum_ps[s]) / 1000;
  return 0;
}
[[nodiscard]] inline double total(const Stages& stages) {
  return static_cast<double>(stages.total_ps) / 1000;
}

/// Of device 0's only kernel, in ns.
[[nodiscard]] inline double kernel_time(const gpu::RunResult& result) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  for (const stats::KernelResult& kernel : result.report.kernels)
    if (kernel.device == 0) return static_cast<double>(kernel.cycles) / 1.5;
  return 0;
}

/// From device 0.
[[nodiscard]] inline Stages alone(const config::SystemConfig& system, const trace::NetOperation& operation,
                                  const char* kind) {
  NetScenario scenario;
  scenario.queue(0);
  scenario.wait(0, 0, scenario.request(0, operation));
  return of_kind(scenario.run(system), kind);
}

[[nodiscard]] inline trace::NetOperation some_put(std::uint64_t bytes, bool blocking = true) {
  return put(1, NetScenario::data(0), NetScenario::data(1), bytes, blocking);
}

[[nodiscard]] inline config::LinkKind& kind(config::SystemConfig& system, const char* name) {
  return *std::ranges::find(system.kinds, name, &config::LinkKind::name);
}

/// A NIC whose agent is fast, so that the NIC is what limits.
[[nodiscard]] inline config::SystemConfig quick_agents(config::SystemConfig system = nodes()) {
  system.network.service = {1, 1, 1, 1, 0};
  system.network.command_processor.call_code_lines = 0;
  system.network.command_processor.hot_lines = system.network.command_processor.cold_lines = 0;
  return system;
}

[[nodiscard]] inline std::uint64_t longest_activity(const gpu::RunResult& result) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  std::uint64_t most = 0;
  for (const auto& thread : network(result).threads) most = std::max(most, thread.active_ps);
  return most;
}

}  // namespace lockstep::test
