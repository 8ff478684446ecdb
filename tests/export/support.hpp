// Runs whose results are exported.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "config/config.hpp"
#include "export/formats.hpp"
#include "export/make_graph.hpp"
#include "export/results.hpp"
#include "gpu/simulation.hpp"
#include "stats/report.hpp"
#include "tests/gpu/end_to_end.hpp"
#include "tests/gpu/listed_trace.hpp"

namespace lockstep::test {

/// The run of a trace, with its folder of results.
class Simulated {
 public:
  Simulated(const trace::TraceSet& trace, const config::SystemConfig& system, gpu::RunOptions options = {})
      : trace_(&trace) {
    options.config = system.devices.front();
    if (system.linked()) options.system = system;
    result = gpu::simulate(trace, options);
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    put("config.ini", config::to_ini(system.devices.front()));
    if (system.linked()) put("system.ini", config::to_ini(system));
    put("stats.json", stats::to_json(result.report));
  }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  [[nodiscard]] double ns() const {
    return static_cast<double>(result.report.total_cycles) * 1e6 /
           static_cast<double>(result.report.core_khz);
  }
  [[nodiscard]] exporter::Graph graph() const {
    exporter::Results results(folder(), *trace_);
    return exporter::make_graph(*trace_, results);
  }
  [[nodiscard]] std::string goal() const { return exporter::write_goal(graph(), "x").front().content; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream in(folder_.path() / name, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }

  gpu::RunResult result;

 private:
  const trace::TraceSet* trace_;
  TemporaryFolder folder_;
};

[[nodiscard]] inline config::SystemConfig one_gpu(const std::vector<std::string>& overrides = {}) {
  return config::unlinked_system(config::resolve("v100", overrides), 1);
}

/// Of all nodes of that kind, in ns.
[[nodiscard]] inline double computed(const exporter::Graph& graph, const std::string& name) {
  double sum = 0;
  for (const exporter::Node& node : graph.nodes)
    if (node.kind == exporter::Node::Kind::kCompute && graph.names[node.name] == name)
      sum += static_cast<double>(node.time_ps) / 1000;
  return sum;
}

[[nodiscard]] inline std::size_t count(const exporter::Graph& graph, exporter::Node::Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(graph.nodes, kind, &exporter::Node::kind));
}

}  // namespace lockstep::test
