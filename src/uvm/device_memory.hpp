// A device's managed memory: pages that it has, that arrive and leave, and that it accesses elsewhere.
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

/// Combines the parts. The caller gives the time, in core cycles. Each step_ function does what is due
/// at `now` and may be called again at the same time without effect.
class DeviceMemory {
 public:
  DeviceMemory(const MemorySettings& settings, const AddressSpace& space);
  DeviceMemory(const DeviceMemory&) = delete;  // the parts refer to each other
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Before the run: it is one of `devices`. Thrashing is then not detected.
  void join(std::size_t devices);
  /// The address space has grown.
  void grow();
  /// A kernel begins (for the smart runtime).
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

  // --- Arriving pages ---
  /// Fetches pages, and takes their frames: from the host, or from where the directory finds them. Only with
  /// a directory, `upgraded`: pages that are here read-only and are to be written; `mapped`: pages that are
  /// to be accessed where they are.
  void bring(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded = {},
             const PageSet& mapped = {});
  /// From the host; `frames_taken`: Frames::take was called for it.
  void queue_read(const Transfer& transfer, bool frames_taken);

  // --- Pages that stay on the host, or are duplicated there ---
  /// Whether the access counters keep the absent page from migrating yet.
  [[nodiscard]] bool too_early(TreeIndex tree, unsigned page, bool write) const;
  /// The device drops its mappings of pages elsewhere.
  void unmap_remote(TreeIndex tree, const PageSet& pages);
  /// The device writes to a page of which others have copies: these become invalid.
  void collapse(TreeIndex tree, unsigned page);
  void advise(TreeIndex tree, const PageSet& pages, Advice advice, Named place, std::uint16_t other = 0);
  [[nodiscard]] RemotePortSettings port_settings() const;
  /// Packets of remote accesses have occupied the direction: the transfer under way ends later.
  void delay(Direction direction, Cycle cycles) {
    if (state_.lanes.delay(direction, cycles)) state_.changed = true;
  }

  // --- The host link ---
  void step_write(Cycle now) { departures_.step(now); }
  void step_read(Cycle now) {
    if (arrivals_.step(now) && !evictions_.unlock(now)) arrivals_.let_pass();
  }
  /// Where the owner moves the lines: those of the transfer under way have been moved.
  void moved(Direction direction) {
    state_.lanes.moved(direction);
    state_.changed = true;
  }
  /// Reports the state of migrations to the link, which decides. True if its decision has changed.
  bool arbitrate(Cycle now);
  [[nodiscard]] bool lanes_idle() const { return arrivals_.idle() && departures_.idle(); }
  [[nodiscard]] bool reads_idle() const {
    return arrivals_.no_page_comes() && !(directory_ && directory_->acquires());
  }
  /// When the link next has something to do by itself, or kNever.
  [[nodiscard]] Cycle next_event() const {
    return std::min(arrivals_.next_event(), departures_.next_event());
  }
  /// Whether something has changed since the last call.
  [[nodiscard]] bool take_changed() { return std::exchange(state_.changed, false); }

  /// An access to a page that is resident, or was when the SM used it.
  void accessed(TreeIndex tree, unsigned page, bool write);

  /// cudaDeviceSynchronize: nothing, or with synchronise_copies as in UVMSmart: dirty pages are copied to the
  /// host outside the link's order, which takes synchronise_cycles(); then memory counts as empty, although
  /// clean pages stay valid.
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
