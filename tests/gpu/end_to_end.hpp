// Real traces of small size on the real machine.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "gpu/simulation.hpp"
#include "stats/report.hpp"
#include "synth/synth.hpp"
#include "tests/temporary_folder.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::test {

using SynthValues = std::map<std::string, std::string>;

/// A generated trace, small enough for every test.
struct SmallTrace {
  const char* name;  // also the key of its golden cycles
  const char* kind;
  SynthValues values;
};

inline const std::vector<SmallTrace>& small_traces() {
  static const std::vector<SmallTrace> traces = {
      {"streaming", "streaming", {{"ctas", "40"}}},
      {"sgemm", "sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}}},
      {"random", "random", {{"ctas", "16"}, {"loads", "2"}}},
      {"chain", "chain", {{"iterations", "20"}}},
      {"mixed", "mixed", {}},
  };
  return traces;
}

class OpenTrace {
 public:
  explicit OpenTrace(const SmallTrace& small) {
    const std::string path = (folder_.path() / small.name).string();
    synth::synthesize(small.kind, small.values, path);
    trace_ = trace::open_trace(path);
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }
  [[nodiscard]] const trace::TraceSet* operator->() const { return trace_.get(); }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

/// A GPU cut down in width, not in kind: same clocks, latencies, pipes and caches, fewer of everything.
inline config::GpuConfig small_gpu(const std::string& name) {
  config::GpuConfig config = config::resolve(name);
  config.gpu.sms = 10;
  config.gpu.gpcs = 4;
  config.l2.partitions = 4;
  return config;
}

/// Warp and thread instructions of a kernel, counted from the trace alone.
struct InstructionCount {
  std::uint64_t warp = 0, thread = 0, warps = 0;
};

inline InstructionCount count_instructions(const trace::TraceSet& set, std::uint32_t kernel) {
  InstructionCount count;
  const auto feed = set.open(kernel);
  for (std::uint64_t i = 0; i < set.kernels()[kernel].grid.count(); ++i) {
    feed->decode_now(i + 1);
    trace::CtaTrace* cta = feed->take(i);
    for (const trace::WarpSpan& warp : cta->warps) {
      ++count.warps;
      for (std::uint32_t r = 0; r < warp.record_count; ++r) {
        ++count.warp;
        count.thread += static_cast<unsigned>(std::popcount(cta->records[warp.first_record + r].mask));
      }
    }
    feed->release(cta);
  }
  return count;
}

}  // namespace lockstep::test
