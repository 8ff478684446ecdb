// The checks of a device: what they know of its memory from launch to launch, and what they have found.
#pragma once

#include <cstdint>
#include <functional>

#include "exec/check/allocations.hpp"
#include "exec/check/checks.hpp"
#include "exec/check/finding.hpp"
#include "exec/check/race_cells.hpp"
#include "exec/check/shadow_bits.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::exec {

/// Make it before the memory's first allocation, and give it to each launch (RunOptions::checker), which then
/// runs its CTAs on one thread. Whoever writes to device memory from outside of kernels says so by
/// DeviceMemory::wrote() and copied(). Not thread-safe.
class Checker final : public MemoryObserver {
 public:
  Checker(const Checks& checks, DeviceMemory& memory);
  ~Checker() override;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  [[nodiscard]] const Checks& checks() const { return checks_; }
  [[nodiscard]] const Findings& findings() const { return findings_; }
  /// At the program's end, where Checks::leak: allocations that are still there. `own`: the program has not
  /// made it.
  void find_leaks(const std::function<bool(const Allocation&)>& own);

  void allocated(const Allocation& allocation) override;
  void released(const Allocation& allocation) override;
  void wrote(Address begin, std::uint64_t bytes) override;
  void copied(Address to, Address from, std::uint64_t bytes) override;

 private:
  friend class LaunchCheck;
  /// Memory of which it is known who writes to it: the host writes to managed and page-locked memory by
  /// itself.
  [[nodiscard]] static bool is_tracked(Address address);

  const Checks checks_;
  DeviceMemory& memory_;
  Findings findings_;
  CheckedAllocations allocations_;
  ShadowBits written_;
  GlobalRaceCells cells_;
  std::uint64_t now_ = 0;       // RaceEvent::time
  std::uint32_t launches_ = 0;  // RaceEvent::launch of the latest
};

}  // namespace lockstep::exec
