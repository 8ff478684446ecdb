// Result folders for the tests of this folder, simulated here.
#pragma once

#include <functional>
#include <string>

#include "config/config.hpp"
#include "gpu/simulation.hpp"
#include "report/run.hpp"
#include "stats/files.hpp"
#include "stats/report.hpp"
#include "synth/synth.hpp"
#include "tests/gpu/end_to_end.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::report {

/// A result folder as `lockstep run --profile -o` writes it; `make` writes the trace.
class ResultFolder {
 public:
  using Make = std::function<void(const std::string& folder)>;
  ResultFolder(const Make& make, gpu::RunOptions options) {
    const std::string traces = (folder_.path() / "trace").string();
    make(traces);
    const auto trace = trace::open_trace(traces);
    gpu::RunResult result = gpu::simulate(*trace, options);
    result.report.version = "0";
    stats::write_outputs(path(), result.report, result.host);
    stats::write_file(path() + "/config.ini", config::to_ini(options.config));
  }
  ResultFolder(const std::string& kind, const test::SynthValues& values, const gpu::RunOptions& options)
      : ResultFolder([&](const std::string& folder) { synth::synthesize(kind, values, folder); }, options) {}
  [[nodiscard]] std::string path() const { return (folder_.path() / "out").string(); }

 private:
  test::TemporaryFolder folder_;
};

/// V100 with fewer SMs and partitions in the same proportion; with a copy's cost left out, as most tests are
/// of kernels.
inline gpu::RunOptions small_options(std::uint32_t sms = 10, bool profile = true) {
  gpu::RunOptions options;
  options.config = test::small_gpu("v100");
  options.config.gpu.sms = sms;
  if (sms < 10) options.config.gpu.gpcs = options.config.gpu.sms_per_tpc = 1;
  options.profile = profile;
  return options;
}

}  // namespace lockstep::report
