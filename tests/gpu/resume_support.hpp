// A run that goes on from a state gives the bytes of the one that was never interrupted.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "gpu/simulation.hpp"
#include "stats/profile.hpp"
#include "stats/report.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::test {

/// Everything that a run says of what it simulated.
inline std::string all_bytes(const gpu::RunResult& result) {
  const stats::RunReport& report = result.report;
  return stats::to_json(report) + stats::to_csv(report) + stats::intervals_csv(report) +
         stats::profile_json(report) + result.timeline;
}

/// Takes the state after each kernel after which it can be taken, which must be at least `least` times; goes
/// on from at most `most` of these, evenly chosen, each in another way (threads, window, order; without
/// skipping, too, where that takes no long time: `every_cycle`).
inline void check_resume(const trace::TraceSet& trace, const gpu::RunOptions& options, std::size_t least,
                         std::size_t most = 4, bool every_cycle = false) {
  const gpu::RunResult whole = gpu::simulate(trace, options);
  REQUIRE(whole.outcome == gpu::Outcome::kDone);
  const std::string expected = all_bytes(whole);

  struct State {
    std::string bytes;
    std::uint64_t kernels;
  };
  std::vector<State> states;
  gpu::RunOptions keeping = options;
  keeping.threads = 2;
  using Decision = gpu::CheckpointOptions::Decision;
  keeping.checkpoint.decide = [&](std::uint64_t kernels) {
    return kernels > (states.empty() ? 0 : states.back().kernels) ? Decision::kKeep : Decision::kNone;
  };
  keeping.checkpoint.keep = [&](std::string_view state, std::uint64_t kernels) {
    states.push_back({std::string(state), kernels});
    return false;
  };
  CHECK((all_bytes(gpu::simulate(trace, keeping)) == expected));
  REQUIRE(states.size() >= least);

  const std::size_t chosen = std::min(most, states.size());
  for (std::size_t i = 0; i < chosen; ++i) {
    const State& state = states[chosen == 1 ? 0 : i * (states.size() - 1) / (chosen - 1)];
    gpu::RunOptions resumed = options;
    resumed.checkpoint.resume = state.bytes;
    resumed.threads = static_cast<unsigned>(1 + i % 3);
    resumed.window = i % 2 == 0 || options.window == 1 ? options.window : 2;
    if (i % 2 == 1) resumed.shuffle = 42 + i;
    resumed.skip = !every_cycle || i != 2;
    INFO("after " << state.kernels << " kernels, threads " << resumed.threads);
    CHECK((all_bytes(gpu::simulate(trace, resumed)) == expected));
  }
}

}  // namespace lockstep::test
