// What the parts of a device's managed memory share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "util/types.hpp"
#include "uvm/access_pattern.hpp"
#include "uvm/directory_client.hpp"
#include "uvm/evictor.hpp"
#include "uvm/frames.hpp"
#include "uvm/link.hpp"
#include "uvm/link_lanes.hpp"
#include "uvm/migration_log.hpp"
#include "uvm/page_table.hpp"
#include "uvm/parameters.hpp"
#include "uvm/remote_control.hpp"
#include "uvm/shootdowns.hpp"

namespace lockstep::uvm {

struct MemorySettings {
  Parameters parameters;
  std::uint64_t core_khz = 1481000;
  std::uint64_t frames = 0;   // 4 KiB each, for managed pages; at least 1
  std::uint32_t sources = 1;  // TLBs that acknowledge a shootdown
  bool moves_data = false;    // the owner moves each transfer's lines (Move) and reports when it is done
};

/// The state of DeviceMemory. Arrivals, Departures and Evictions change it.
struct MemoryState {
  MemoryState(const MemoryState&) = delete;
  MemoryState& operator=(const MemoryState&) = delete;
  MemoryState(const MemorySettings& s, const AddressSpace& space)
      : settings(s),
        table(space),
        frames(s.frames, s.parameters.fault_mode == FaultMode::kDriver && evictor() == &kDriverChunk, table),
        residents(evictor()->unit, evictor()->follows_accesses),
        remote(s.parameters, cycles_of_ns(s.parameters.thrashing_lapse_ns)),
        link(*link_models()[s.parameters.link], link_parameters()),
        lanes(s.moves_data),
        log(s.core_khz, table) {
    if (s.parameters.smart_runtime) patterns.emplace(space.allocations().size());
  }

  [[nodiscard]] const Parameters& parameters() const { return settings.parameters; }
  [[nodiscard]] LinkParameters link_parameters() const {
    return {settings.core_khz, settings.parameters.link_gib};
  }
  [[nodiscard]] Cycle cycles_of_ns(std::uint64_t ns) const {
    return cycles_of_ps(ns * 1000, link_parameters());
  }
  /// The configured evictor.
  [[nodiscard]] const EvictionPolicy* evictor() const { return evictors()[settings.parameters.evictor]; }

  MemorySettings settings;
  PageTable table;
  Frames frames;
  EvictionList residents;  // units with pages that may be evicted
  RemoteControl remote;
  LinkTimes link;
  LinkLanes lanes;
  MigrationLog log;
  Shootdowns shootdowns;
  std::optional<AccessPatterns> patterns;  // with the smart runtime
  DirectoryClient* directory = nullptr;    // null with one device
  // The first one ends with a synchronisation that copies, the second one never (UVMSmart).
  bool oversubscribed = false, was_oversubscribed = false;
  bool fruitless = false;  // the last decision found nothing to evict, and nothing has changed since
  bool changed = true;     // something has changed since the owner last asked
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(settings), table, frames, residents, remote, a.given(link), lanes, log,
              shootdowns, patterns, a.given(directory), oversubscribed, was_oversubscribed, fruitless,
              changed);
  }
};

}  // namespace lockstep::uvm
