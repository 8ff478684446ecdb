// A device's managed memory: the pages that it has, those that come and go, and those that stay elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "util/types.hpp"
#include "uvm/arrivals.hpp"
#include "uvm/departures.hpp"
#include "uvm/directory_client.hpp"
#include "uvm/evictions.hpp"
#include "uvm/managed_command.hpp"
#include "uvm/memory_state.hpp"
#include "uvm/random.hpp"
#include "uvm/remote_port.hpp"
#include "uvm/staging.hpp"

namespace lockstep::uvm {

/// Puts the parts together. Time is given by the caller, in core cycles. Each step_ function does what is due
/// at `now` and may be called again at the same time without effect.
class DeviceMemory {
 public:
  DeviceMemory(const MemorySettings& settings, const AddressSpace& space);
  DeviceMemory(const DeviceMemory&) = delete;  // the parts know each other
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Before the run: it is one of `devices`. Thrashing is not detected then.
  void join(std::size_t devices);
  /// The address space has grown.
  void grow();
  /// A kernel begins (the smart runtime wants to know).
  void kernel_begins() {
    if (state_.patterns) state_.patterns->kernel_begins();
  }

  // Parts.
  [[nodiscard]] const Parameters& parameters() const { return state_.parameters(); }
  [[nodiscard]] Cycle cycles_of_ns(std::uint64_t ns) const { return state_.cycles_of_ns(ns); }
  [[nodiscard]] PageTable& table() { return state_.table; }
  [[nodiscard]] const PageTable& table() const { return state_.table; }
  [[nodiscard]] Frames& frames() { return state_.frames; }
  [[nodiscard]] RemoteControl& remote() { return state_.remote; }
  [[nodiscard]] const RemoteControl& remote() const { return state_.remote; }
  [[nodiscard]] LinkLanes& lanes() { return state_.lanes; }
  [[nodiscard]] MigrationLog& log() { return state_.log; }
  [[nodiscard]] Shootdowns& shootdowns() { return state_.shootdowns; }
  [[nodiscard]] const Shootdowns& shootdowns() const { return state_.shootdowns; }
  [[nodiscard]] Staging& staging() { return staging_; }
  [[nodiscard]] Arrivals& arrivals() { return arrivals_; }
  [[nodiscard]] Departures& departures() { return departures_; }
  [[nodiscard]] Evictions& evictions() { return evictions_; }
  /// Null with one device.
  [[nodiscard]] DirectoryClient* directory() { return directory_.get(); }
  [[nodiscard]] const DirectoryClient* directory() const { return directory_.get(); }
  /// Memory has been over-subscribed since the run began or a synchronisation that copies.
  [[nodiscard]] bool oversubscribed() const { return state_.oversubscribed; }

  // --- Pages come ---
  /// What is to come, with its frames taken: from the host, or from where the directory finds it. Only with a
  /// directory, `upgraded`: pages that are here read-only and are to be written; `mapped`: pages that are to
  /// be accessed where they are.
  void bring(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded = {},
             const PageSet& mapped = {});
  /// From the host; `frames_taken`: Frames::take was called for it.
  void queue_read(const Transfer& transfer, bool frames_taken);

  // --- Pages that stay on the host, or are there too ---
  /// By the access counters the absent page does not migrate yet.
  [[nodiscard]] bool too_early(TreeIndex tree, unsigned page, bool write) const;
  /// The device forgets its mappings of pages elsewhere.
  void unmap_remote(TreeIndex tree, const PageSet& pages);
  /// The device writes to a page that others have too: their copies are no longer valid.
  void collapse(TreeIndex tree, unsigned page);
  void advise(TreeIndex tree, const PageSet& pages, Advice advice, Named place, std::uint16_t other = 0);
  [[nodiscard]] RemotePortSettings port_settings() const;
  /// Packets of remote accesses have held the direction: what is under way ends later.
  void delay(Direction direction, Cycle cycles) {
    if (state_.lanes.delay(direction, cycles)) state_.changed = true;
  }

  // --- The host link ---
  void step_write(Cycle now) { departures_.step(now); }
  void step_read(Cycle now) {
    if (arrivals_.step(now)) evictions_.unlock(now);
  }
  /// Where the owner moves the lines: those of the transfer under way are through.
  void moved(Direction direction) {
    state_.lanes.moved(direction);
    state_.changed = true;
  }
  /// Passes the state of migrations to the link and lets it decide. True if its decision has changed.
  bool arbitrate(Cycle now);
  [[nodiscard]] bool lanes_idle() const { return arrivals_.idle() && departures_.idle(); }
  [[nodiscard]] bool reads_idle() const {
    return arrivals_.no_page_comes() && !(directory_ && directory_->acquires());
  }
  /// When the link has something to do next by itself; kNever.
  [[nodiscard]] Cycle next_event() const {
    return std::min(arrivals_.next_event(), departures_.next_event());
  }
  /// Something has changed since the last call.
  [[nodiscard]] bool take_changed() { return std::exchange(state_.changed, false); }

  /// An access to a page that is resident, or was when the SM used it.
  void accessed(TreeIndex tree, unsigned page, bool write);

  /// cudaDeviceSynchronize: nothing, or with synchronise_copies as in UVMSmart: dirty pages go to the host
  /// outside the link's order, which takes synchronise_cycles(); then memory counts as empty, though clean
  /// pages stay valid.
  [[nodiscard]] Cycle synchronise_cycles() const;
  void synchronise(Cycle now);

  template <class A>
  void persist(A& a) {
    a.members(*this, state_, random_, a.given(staging_), arrivals_, departures_, evictions_, directory_);
  }

 private:
  MemoryState state_;
  Random random_;
  Staging staging_;
  Arrivals arrivals_;
  Departures departures_;
  Evictions evictions_;
  std::unique_ptr<DirectoryClient> directory_;
};

}  // namespace lockstep::uvm
