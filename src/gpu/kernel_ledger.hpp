// What the kernels of a device have counted, from their launch to their entry in the report.
#pragma once

#include <cstdint>
#include <vector>

#include "energy/model.hpp"
#include "gpu/device.hpp"
#include "gpu/profile_book.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

/// Times are core cycles of the device. Everything is called between windows, after Device::settle.
class KernelLedger {
 public:
  using Finished = core::Dispatcher::Finished;

  /// `profiles`: receives the profile of each kernel; may be null.
  explicit KernelLedger(Device& device, ProfileBook* profiles = nullptr);

  /// The cut of the next kernel that is complete and not closed; kNever.
  [[nodiscard]] Cycle next_cut() const;
  /// Kernels whose cut is now, in the order of their cuts. Throws std::logic_error where a cut was passed.
  [[nodiscard]] std::vector<Finished> take_due(Cycle now);
  /// The result of one of these.
  [[nodiscard]] stats::KernelResult close(const Finished& kernel);
  /// All complete kernels are closed.
  [[nodiscard]] bool all_closed() const { return closed_ == dispatcher_->finished().size(); }
  [[nodiscard]] std::size_t closed() const { return closed_; }

  /// Fetches what running kernels have counted.
  void collect_active();
  /// The counters of the running kernel in a slot, as last fetched.
  [[nodiscard]] const stats::KernelCounters& so_far(std::uint8_t slot) const { return of_slot_[slot]; }
  /// Before close(): counters of kernels that were closed earlier, by slots that take_due() has not given
  /// back.
  void collect_late(const std::vector<Finished>& due, stats::KernelCounters& unattributed);
  /// Everything else that the device has counted.
  void collect_rest(stats::KernelCounters& unattributed);
  void collect_copies(stats::KernelCounters& unattributed);
  /// Kernels that have begun and are not closed, at the end of a run that does not reach their end.
  void add_partial(Cycle now, std::vector<stats::KernelResult>& results);

  /// Counters fetched since the last call, of kernels, copies and late ones: of an interval.
  /// `now` is the device's cycle; end_cycle is left to the caller.
  [[nodiscard]] stats::IntervalSample take_interval(Cycle now);
  /// Closed kernels and what running ones have counted so far.
  [[nodiscard]] std::uint64_t warp_instructions() const;
  /// Grows while the device gets anywhere.
  [[nodiscard]] std::uint64_t activity() const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(device_), a.given(energy_), a.given(dispatcher_), a.given(profiles_), of_slot_,
              lingering_, interval_, finished_, closed_, interval_begin_);
  }

 private:
  void collect(std::uint8_t slot);
  void book(const stats::KernelCounters& part, stats::KernelCounters& unattributed);
  [[nodiscard]] bool is_taken(std::uint8_t slot, const std::vector<Finished>& due) const;
  [[nodiscard]] stats::KernelResult describe(std::uint32_t kernel, Cycle floor) const;

  Device* device_;
  energy::Model energy_;
  const core::Dispatcher* dispatcher_;
  ProfileBook* profiles_;
  std::vector<stats::KernelCounters> of_slot_;  // of the running kernels, fetched so far
  std::vector<std::uint8_t> lingering_;         // slots whose kernel has ended and which may still count
  stats::KernelCounters interval_, finished_;   // since take_interval(); of all closed kernels
  std::size_t closed_ = 0;
  Cycle interval_begin_ = 0;
};

/// Whether anything has been counted.
[[nodiscard]] bool any(const stats::KernelCounters& counters);
[[nodiscard]] std::uint64_t activity_of(const stats::KernelCounters& counters);

}  // namespace lockstep::gpu
