// Systems that several ranks simulate, here threads of the test, against one that one simulates.
#pragma once

#include <catch2/catch.hpp>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/system_config.hpp"
#include "gpu/rank_map.hpp"
#include "gpu/simulation.hpp"
#include "ranks/local_group.hpp"
#include "stats/report.hpp"

namespace lockstep::test {

inline std::string bytes_of(const gpu::RunResult& result) {
  return stats::to_json(result.report) + stats::to_csv(result.report) + stats::intervals_csv(result.report) +
         result.timeline;
}

/// What the first rank reports. `each`: more of the options of a rank.
inline gpu::RunResult simulate_on(unsigned ranks, const trace::TraceSet& trace,
                                  const gpu::RunOptions& options,
                                  const std::function<void(unsigned, gpu::RunOptions&)>& each = {}) {
  const auto groups = ranks::LocalGroup::make(ranks);
  std::vector<gpu::RunResult> results(ranks);
  std::vector<std::exception_ptr> errors(ranks);
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        gpu::RunOptions own = options;
        own.group = groups[r].get();
        if (own.rank_map.empty()) own.rank_map = gpu::spread(*own.system, ranks);
        if (each) each(r, own);
        results[r] = gpu::simulate(trace, own);
      } catch (...) {
        errors[r] = std::current_exception();
        (void)groups[r]->fail(70);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::exception_ptr other;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    try {
      std::rethrow_exception(error);
    } catch (const ranks::Failed&) {
      other = error;  // from the rank that failed, not from those that were notified
    }
  }
  if (other) std::rethrow_exception(other);
  for (const gpu::RunResult& result : results) CHECK(result.outcome == results[0].outcome);
  return std::move(results[0]);
}

inline gpu::RunOptions options_of(const std::string& system, std::uint32_t devices) {
  gpu::RunOptions options;
  options.system = config::resolve_system(system, devices);
  options.config = options.system->devices.front();
  return options;
}

inline void check_identity(const trace::TraceSet& trace, const gpu::RunOptions& options,
                           const std::vector<unsigned>& ranks) {
  const gpu::RunResult one = gpu::simulate(trace, options);
  for (const unsigned r : ranks) {
    INFO("ranks " << r);
    const gpu::RunResult many = simulate_on(
        r, trace, options, [](unsigned rank, gpu::RunOptions& own) { own.threads = 1 + rank % 2; });
    CHECK(many.outcome == one.outcome);
    CHECK((bytes_of(many) == bytes_of(one)));
  }
}

}  // namespace lockstep::test
