// One GPU of a system: its domains and the channels between them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/copy_engine.hpp"
#include "core/dispatcher.hpp"
#include "core/gmmu_domain.hpp"
#include "core/kernel_slot.hpp"
#include "core/peer_port.hpp"
#include "gpu/plan.hpp"
#include "icnt/entry_log.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "mem/line_locks.hpp"
#include "mem/touch.hpp"
#include "sim/engine.hpp"
#include "stats/counter_source.hpp"
#include "uvm/counter_table.hpp"

namespace lockstep {
class Archive;
}

namespace lockstep::gpu {

/// An SM or a memory partition.
struct Part {
  std::unique_ptr<sim::Domain> domain;
  stats::CounterSource* counters = nullptr;                       // the same object
  std::function<void()> empty_caches{};                           // forgets all cached lines; of a partition
  std::function<void(std::uint32_t, const mem::Touch&)> touch{};  // Partition::touch(); of a partition
  std::function<mem::LineLockCounters()> locks{};                 // Partition::locks(); of a partition
  std::function<void(std::vector<mem::LockChange>&)> lock_changes{};     // of a partition
  std::function<void(std::vector<icnt::EntryTime>&)> visible_entries{};  // of a partition
  std::function<const icnt::EntryLog&()> entries{};                      // Sm::entries(); of an SM
  std::function<void(std::string&)> dump_idle_locks{};                   // of a partition
  std::function<Cycle()> oldest_lock{};            // Partition::oldest_lock(); of a partition
  std::function<bool()> at_rest{};                 // Sm::at_rest(); of an SM
  std::function<Cycle(Cycle)> earliest_cta_end{};  // Sm::earliest_cta_end(); of an SM
  std::function<void(Address)> learn{};            // Sm::learn(); of an SM
  std::function<void(Archive&)> persist{};
};

template <class T, class... Arguments>
[[nodiscard]] Part make_part(Arguments&&... arguments) {
  auto object = std::make_unique<T>(std::forward<Arguments>(arguments)...);
  stats::CounterSource* counters = object.get();
  return {std::move(object), counters};
}

/// What a part is connected to. Everything outlives it.
struct Wiring {
  const config::GpuConfig& config;
  icnt::Fabric& fabric;
  const mem::AddressMap& map;
  const core::KernelTable& kernels;
  bool skip;
  const uvm::AddressSpace* managed = nullptr;  // null: no managed memory
};

/// Makes the parts; tests put others in their place.
struct Builder {
  std::function<Part(const Wiring&, std::uint32_t index)> sm, partition;
};
/// `profile`: SMs count what each instruction does.
[[nodiscard]] Builder real_parts(bool profile = false);

/// Times are cycles of the device's core clock. Its dispatcher is part of the host's domain (host::Host);
/// everything else has a domain of its own.
class Device {
 public:
  /// `first`: of the ids of its domains, which the engine has been asked for; `host`: the host's domain.
  Device(sim::DomainId first, sim::DomainId host, const config::GpuConfig& config, const Plan& plan,
         const Builder& builder, bool skip)
      : Device(first, host, config, plan, builder, skip, nullptr, {}, {}) {}
  /// One of several devices: where each device's memory is, and how this one is connected to the others.
  Device(sim::DomainId first, sim::DomainId host, const config::GpuConfig& config, const Plan& plan,
         const Builder& builder, bool skip, const mem::Apertures* apertures, core::PeerWiring wiring,
         const core::DirectoryLink& directory);
  /// One that another process simulates: nothing of it is here but its dispatcher, which is the host's.
  Device(sim::DomainId first, sim::DomainId host, const config::GpuConfig& config, const Plan& plan,
         std::uint32_t peer_lanes, std::uint32_t cores);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Places the domains and adds the networks. `elsewhere`: stands for what is not here.
  void attach(sim::Engine& engine, const sim::DomainClock& clock, sim::Domain& elsewhere);
  /// False: another process simulates it. All its counters are zero here.
  [[nodiscard]] bool is_here() const { return !sms_.empty(); }

  [[nodiscard]] const config::GpuConfig& config() const { return config_; }
  [[nodiscard]] const icnt::Fabric& fabric() const { return fabric_; }
  [[nodiscard]] icnt::Fabric& fabric() { return fabric_; }
  [[nodiscard]] const mem::AddressMap& map() const { return map_; }
  /// To which accesses are booked that are not a kernel's.
  [[nodiscard]] std::uint8_t copy_slot() const { return copy_slot_; }
  [[nodiscard]] core::KernelTable& kernels() { return kernels_; }
  [[nodiscard]] core::Dispatcher& dispatcher() { return dispatcher_; }
  [[nodiscard]] const core::Dispatcher& dispatcher() const { return dispatcher_; }
  /// Null without managed memory.
  [[nodiscard]] core::GmmuDomain* gmmu() { return gmmu_.get(); }
  /// Precondition: it is one of several devices.
  [[nodiscard]] const core::PeerPort& peer_port() const { return *peer_port_; }

  // Between windows; all walks in the order of the domains.
  /// Managed memory has grown to `space`. A command takes at least a window to reach whom it concerns.
  void manage(const uvm::AddressSpace& space);
  void settle(Cycle now);
  /// Adds the counters of a kernel slot since the last call to `total`. After settle().
  void collect(std::uint8_t slot, stats::KernelCounters& total);
  /// Adds what the instructions of a slot's kernel have done; once, when it or the run has ended.
  void take_profile(std::uint8_t slot, stats::KernelProfile& total);
  /// No line is in the L2 any more; what was changed is taken to be in DRAM. Between windows.
  void empty_caches();
  [[nodiscard]] mem::LineLockCounters line_locks() const;
  /// Lines that were locked at a time in all slices together, at most.
  [[nodiscard]] std::uint64_t most_locked_lines() const;
  /// Whether at core cycle `now` a line of its L2 has been locked for longer than the watchdog allows
  /// (Apertures::Locking).
  [[nodiscard]] bool lock_overdue(Cycle now) const;
  /// What SMs and slices have noted of entries of network queues.
  [[nodiscard]] std::vector<const icnt::EntryLog*> entries() const;
  [[nodiscard]] std::vector<icnt::EntryTime> visible_entries() const;
  /// The L2 holds what it does after an access that takes no time (mem::Slice::touch).
  void touch_l2(const mem::Touch& touch);
  /// All SMs know the line's translation. Between windows.
  void learn(Address line);
  /// Likewise those of the copies.
  void collect_copies(stats::KernelCounters& total);
  /// The counters of managed memory so far. Precondition: gmmu().
  [[nodiscard]] uvm::RunCounters managed_counters();
  [[nodiscard]] bool quiescent() const;
  /// The smallest of Sm::earliest_cta_end().
  [[nodiscard]] Cycle earliest_cta_end(Cycle now) const;
  /// No warp is resident: its state may be kept, whatever else is under way.
  [[nodiscard]] bool at_rest() const;
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(config_), a.given(managed_), fabric_, a.given(map_), a.given(kernels_),
              a.given(copy_slot_), a.given(sms_), a.given(partitions_), dispatcher_, copies_, gmmu_,
              peer_port_);
    for (const std::vector<Part>* parts : {&sms_, &partitions_})
      for (const Part& part : *parts) part.persist(a);
  }
  /// Names of the domains with something left; empty when quiescent.
  [[nodiscard]] std::vector<std::string> busy_domains() const;
  /// What they wait for.
  [[nodiscard]] std::string dump() const;

 private:
  template <class F>
  void for_each_busy(F&& f) const;

  config::GpuConfig config_;
  uvm::AddressSpace managed_;
  icnt::Fabric fabric_;
  mem::AddressMap map_;
  core::KernelTable kernels_;
  std::uint8_t copy_slot_;
  std::vector<Part> sms_, partitions_;
  core::Dispatcher dispatcher_;
  core::CopyEngine copies_;
  std::unique_ptr<core::GmmuDomain> gmmu_;
  std::unique_ptr<core::PeerPort> peer_port_;  // of several devices
};

/// The longest window of a device (icnt::Fabric::longest_window), 0 when a channel has no latency. Windows
/// are shorter where a domain is due whose message would arrive earlier.
struct WindowLimit {
  Cycle cycles;
  std::string reason;  // names what sets it and its latency
};
[[nodiscard]] WindowLimit window_limit(const config::GpuConfig& config, const icnt::Fabric& fabric);

}  // namespace lockstep::gpu
