// Microbenchmarks: a generated kernel on one TPC of a GPU, and the slope between two sizes of it, so that
// start-up and tail cancel out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu/end_to_end.hpp"

namespace lockstep::test {

/// One TPC of a GPU: the GPU's clocks, pipes, caches, latencies and L2.
inline config::GpuConfig one_tpc(const std::string& model, const std::vector<std::string>& overrides = {}) {
  config::GpuConfig config = config::resolve(model, overrides);
  config.gpu.sms = std::max(config.gpu.sms_per_tpc, config.l2.halves);
  config.gpu.gpcs = 1;
  config.tlb.miss_latency = 0;  // differences of two kernels of which only one would find its TLB cold
  return config;
}

class Micro {
 public:
  explicit Micro(config::GpuConfig config) : config_(std::move(config)) {}
  explicit Micro(const std::string& model, const std::vector<std::string>& overrides = {})
      : Micro(one_tpc(model, overrides)) {}

  [[nodiscard]] const config::GpuConfig& config() const { return config_; }

  /// The only kernel of a generated trace, traced for the GPU's architecture.
  [[nodiscard]] stats::KernelResult run(const char* kind, SynthValues values) const {
    values.emplace("arch", std::to_string(config_.gpu.arch));
    const OpenTrace trace({"micro", kind, values});
    gpu::RunOptions options;
    options.config = config_;
    const gpu::RunResult result = gpu::simulate(*trace, options);
    if (result.outcome != gpu::Outcome::kDone) throw std::runtime_error(result.dump);
    return result.report.kernels.at(0);
  }
  [[nodiscard]] double cycles(const char* kind, const SynthValues& values) const {
    return static_cast<double>(run(kind, values).cycles);
  }
  /// Cycles of a pass through code that the caches know.
  [[nodiscard]] double pass(const char* kind, SynthValues values) const {
    values["passes"] = "2";
    const double two = cycles(kind, values);
    values["passes"] = "4";
    return (cycles(kind, values) - two) / 2;
  }
  /// Cycles of one more unit of `option` in a pass: the slope from `low` to `high` of them.
  [[nodiscard]] double each(const char* kind, const std::string& option, std::uint64_t low,
                            std::uint64_t high, SynthValues values) const {
    values[option] = std::to_string(low);
    const double few = pass(kind, values);
    values[option] = std::to_string(high);
    return (pass(kind, values) - few) / static_cast<double>(high - low);
  }

 private:
  config::GpuConfig config_;
};

}  // namespace lockstep::test
