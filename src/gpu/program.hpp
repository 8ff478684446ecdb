// A program that runs while its commands are simulated.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/clock_log.hpp"
#include "core/dispatcher.hpp"
#include "gpu/plan.hpp"
#include "gpu/simulation.hpp"
#include "host/host.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

/// Simulated time as the program may see it. Its calls may be ahead of the simulation, so the time is that of
/// the end of its last wait.
class HostClock {
 public:
  explicit HostClock(host::Host& host) : host_(&host) {}
  /// When all before the event's record was complete; nothing where that is after the host's time.
  [[nodiscard]] std::optional<Time> event(std::uint32_t number) const {
    return host_->queue().event_time(number);
  }
  /// The time of the thread that has called last: until when its calls and waits have kept it.
  [[nodiscard]] Time now() const { return host_->queue().caller_time(); }
  /// When the warps of a complete kernel read the clock, once; nullptr where that is not known.
  [[nodiscard]] std::unique_ptr<core::ClockLog> clocks(std::uint32_t kernel) const {
    return host_->take_clocks(kernel);
  }

 private:
  host::Host* host_;
};

/// Implemented over the connection to a process. Called by one thread at a time, inside of windows.
class Program {
 public:
  virtual ~Program() = default;
  struct News {
    std::vector<trace::Command> commands;
    trace::Until until = trace::Until::kTaken;
    bool ended = false;  // nothing follows
  };
  /// Waits for what the program does next, and replies to its queries of `clock`. Kernels that the commands
  /// name are in trace() by then.
  [[nodiscard]] virtual News listen(const HostClock& clock) = 0;
  /// Its kernels so far; name and hash once it has ended.
  [[nodiscard]] virtual const trace::TraceSet& trace() const = 0;
  /// The header of a kernel of trace(), which stays where it is.
  [[nodiscard]] virtual const trace::KernelHeader& header(std::uint32_t kernel) const = 0;
  /// It will ask when this kernel's clocks were read.
  [[nodiscard]] virtual bool asks_clocks(std::uint32_t kernel) const = 0;
};

/// A program whose news can be replayed from the beginning; its queries get one reply.
class ProgramLog {
 public:
  explicit ProgramLog(Program& program) : program_(&program) {}
  [[nodiscard]] const Program::News& listen(const HostClock& clock);
  void rewind() { heard_ = 0; }
  [[nodiscard]] const Program& program() const { return *program_; }

 private:
  Program* program_;
  std::deque<Program::News> news_;
  std::size_t heard_ = 0;
};

/// Lets the host's list grow by what the program does.
///
/// With managed memory the list is followed to the host's next wait only, also where every stream waits for
/// the default one (HostQueue::Until::kComplete): an order to managed memory may follow, which does not.
///
/// A program's first managed allocation on a device without GMMU sets Plan::needs_gmmu and ends the list.
class ProgramSource final : public host::HostSource {
 public:
  /// All must outlive it; `plan` counts on. options.managed: kTrace or kNone, and no share of the footprint.
  ProgramSource(ProgramLog& program, const config::SystemConfig& system, const RunOptions& options,
                Plan& plan, host::Host& host);
  void more(host::HostQueue& queue) override;

 private:
  void add(const trace::Command& command, std::vector<host::HostCommand>& commands);

  ProgramLog* program_;
  bool listens_;  // to what it has managed
  const config::SystemConfig* system_;
  Plan* plan_;
  host::Host* host_;
  Planner planner_;
};

}  // namespace lockstep::gpu
