// The progress of a run: one updating line on a terminal, a plain line now and then in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cuda/execution_page.hpp"
#include "gpu/simulation.hpp"

namespace lockstep::cli {

/// How far a run is, in CTAs: those of the kernels before (in list order) and those done of the running ones.
/// `ctas_before[i]` is the number of CTAs of the first i kernels that will run. Returns a fraction from 0
/// to 1.
[[nodiscard]] double fraction_done(const gpu::Progress& progress,
                                   const std::vector<std::uint64_t>& ctas_before);

/// "kernel 3/16 bfs_kernel  CTA 12/32  cycle 45,120  1.2M warp inst/s  25%  0:12 left". The time left is
/// given once it can be guessed: after a second and 1 %.
[[nodiscard]] std::string progress_line(const gpu::Progress& progress, double seconds, double fraction);

/// "executing kernel 3 matmul  CTA 5/64  1.20G thread inst  230M thread inst/s", or what the program does
/// between kernels. `rate`: thread instructions per second, lately.
[[nodiscard]] std::string execution_line(const cuda::Execution& execution, double rate);

class ProgressPrinter {
 public:
  /// `out` is written in terminal style when it is one. Failures to write are ignored.
  explicit ProgressPrinter(std::FILE* out, std::vector<std::uint64_t> ctas_before = {});
  /// Nothing where no kernel is known yet.
  void update(const gpu::Progress& progress);
  /// May be called at any rate. The first line comes after a second.
  void update(const cuda::Execution& execution);
  /// Clears the updating line.
  void finish();

 private:
  void show(std::string line);

  using Clock = std::chrono::steady_clock;
  std::FILE* out_;
  std::vector<std::uint64_t> ctas_before_;
  bool terminal_;
  bool line_open_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  std::uint64_t executed_ = 0;  // thread instructions at executed_at_
  Clock::time_point executed_at_ = start_;
};

}  // namespace lockstep::cli
