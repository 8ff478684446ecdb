// Lists of commands for several devices around one small kernel.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "config/system_config.hpp"
#include "stats/report.hpp"
#include "tests/gpu/end_to_end.hpp"

namespace lockstep::test {

// Inputs and output of the generated "streaming".
inline constexpr const char* kFirstInput = "0x7f8000000000";
inline constexpr const char* kOutput = "0x7f8020000000";

/// A list of commands whose kernel-1.traceg is a small streaming kernel.
class ListedTrace {
 public:
  explicit ListedTrace(const std::string& commands, const std::string& ctas = "48") {
    const auto path = folder_.path() / "t";
    synth::synthesize("streaming", {{"ctas", ctas}}, path.string());
    std::ofstream(path / "kernelslist.g") << commands;
    trace_ = trace::open_trace(path.string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

/// The list's commands on a system.
inline gpu::RunResult run_list(const std::string& commands, const config::SystemConfig& system,
                               gpu::RunOptions options = {}) {
  const ListedTrace trace(commands);
  options.config = system.devices.front();
  if (system.devices.size() > 1) options.system = system;
  return gpu::simulate(*trace, options);
}
inline stats::RunReport report_of_list(const std::string& commands, const config::SystemConfig& system,
                                       const gpu::RunOptions& options = {}) {
  return run_list(commands, system, options).report;
}

inline std::string bytes_of(const stats::RunReport& report) {
  return stats::to_json(report) + stats::to_csv(report);
}

}  // namespace lockstep::test
