// Watches the execution of kernels: for the progress line, and for a word where one seems to have no end.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cuda/execution_page.hpp"
#include "exec/launch.hpp"
#include "util/console.hpp"

namespace lockstep::cuda {

/// Processor time of this process. While it waits for the simulation, which takes its trace, none passes.
struct ProcessClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ProcessClock>;
  static constexpr bool is_steady = true;
  [[nodiscard]] static time_point now() noexcept;
};

/// Where no CTA of a kernel has ended for `patience`, one remark on stderr says so and where the warps of a
/// CTA stand; the next comes after twice the time. No result depends on it.
class LaunchMonitor final : public exec::LaunchObserver {
 public:
  using Clock = ProcessClock;
  static constexpr std::chrono::seconds kPatience{10};
  /// `page` must outlive it. `say` prints a remark.
  explicit LaunchMonitor(ExecutionPage& page, Clock::duration patience = kPatience,
                         std::function<void(std::string_view)> say = write_err)
      : page_(page), patience_(patience), say_(std::move(say)) {}

  /// While one of these lives, a kernel is executed.
  class Scope {
   public:
    Scope(LaunchMonitor& monitor, const std::string& kernel, std::uint64_t launch, std::uint64_t ctas,
          std::uint64_t ctas_done);
    ~Scope() { monitor_.page_.end(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LaunchMonitor& monitor_;
  };

  void executed(const exec::RunCounts& executed, std::uint64_t ctas,
                const std::function<std::string()>& dump) override;
  void restarted() override { page_.restart(); }

 private:
  void check(const std::function<std::string()>& dump);

  ExecutionPage& page_;
  Clock::duration patience_;
  std::function<void(std::string_view)> say_;
  std::mutex mutex_;  // of what follows
  std::string kernel_;
  std::uint64_t instructions_ = 0, ended_ = 0;  // of the kernel: warp instructions; CTAs at the last check
  Clock::time_point since_{};                   // no CTA has ended
  Clock::duration wait_{};                      // from then to the next remark
};

}  // namespace lockstep::cuda
