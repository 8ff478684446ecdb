// When the device accesses a page on the host instead of migrating it (UVMSmart's and the hardware's rules).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::uvm {

/// What a decision depends on; pages are counted in frames.
struct RemoteContext {
  bool oversubscribed = false;               // device memory has been oversubscribed at some time
  std::uint64_t occupied = 0, capacity = 1;  // in hundredths of a page, so that the reserve is exact
  std::uint32_t round_trips = 0;             // of the 64 KiB
  std::uint32_t threshold = 8, penalty = 2;  // uvm.remote_threshold, uvm.remote_penalty
};

/// One policy. `threshold`: with this many accesses to its 64 KiB, including the current one, a page
/// migrates; 0: always. Below that the access crosses the link and the page stays.
struct RemotePolicy {
  std::string_view name, help;
  bool writes_stay = false;  // stores may stay remote, too; otherwise a store migrates the page
  bool remote_only = false;  // only remote accesses count; the count restarts when the 64 KiB migrate
  std::uint32_t (*threshold)(const RemoteContext& context);
};

/// All policies; a new one is a file remote_*.cpp and a line in remote.cpp.
[[nodiscard]] std::span<const RemotePolicy* const> remote_policies();
[[nodiscard]] std::span<const std::string_view> remote_policy_names();

extern const RemotePolicy kRemoteNever, kRemoteStatic, kRemoteOversubscribed, kRemoteAdaptive,
    kRemoteCounters;

}  // namespace lockstep::uvm
