// Fills of device memory and copies within it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "config/gpu_config.hpp"
#include "icnt/fabric.hpp"
#include "sim/clock.hpp"

namespace lockstep::core {

/// The driver starts a kernel of its own for each, which is bound by the DRAM: so one takes the launch floor
/// of a kernel (launch.latency_ns), then its bytes over the peak bandwidth's share that streaming kernels
/// reach: written once by a fill (dram.fill_percent), read and written by a copy (dram.copy_percent). One
/// after another: they share the DRAM, so the last one ends as if they ran concurrently.
///
/// Their lines go neither through the L2 nor the DRAM's channels: kernels beside them are not slowed down,
/// and the L2 keeps what it has (assumed; what fits the L2 is faster on hardware).
class DeviceCopies {
 public:
  explicit DeviceCopies(const config::GpuConfig& config);

  /// `asked`: when the stream came to it, in core cycles.
  void add(const icnt::CopyCommand& command, Cycle asked);
  /// The first one that has ended by `now`.
  [[nodiscard]] std::optional<icnt::CopyDone> take(Cycle now);
  /// The next end; kNever.
  [[nodiscard]] Cycle next() const { return queue_.empty() ? kNever : queue_.front().end; }
  [[nodiscard]] bool idle() const { return queue_.empty(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(launch_cycles_), a.given(fill_), a.given(copy_), free_, queue_);
  }

 private:
  Cycle launch_cycles_;
  sim::ClockRatio fill_, copy_;  // bytes to core cycles
  Cycle free_ = 0;               // the end of the last one
  std::deque<icnt::CopyDone> queue_;
};

}  // namespace lockstep::core
