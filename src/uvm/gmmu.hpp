// The GPU's memory management unit for managed memory: translations that the SMs' TLBs do not have, far
// faults, migration and eviction.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "uvm/device_memory.hpp"
#include "uvm/driver.hpp"
#include "uvm/host_commands.hpp"
#include "uvm/walk_pool.hpp"

namespace lockstep::uvm {

/// The reply to a TLB's request.
struct AccessReply {
  enum class Kind : std::uint8_t {
    kLocal,   // the page is on the device
    kRemote,  // it stays at `place`: its accesses are to be sent as remote ones
    kDone     // a remote access is complete
  };
  std::uint32_t source = 0;
  std::uint64_t token = 0;
  Granule granule = Granule::kPage;
  Kind kind = Kind::kLocal;
  bool read_only = false;            // kLocal: a store needs another request
  std::uint16_t place = kHostPlace;  // kRemote: the device that has it, or the host
};

/// A state machine in core cycles that its owner drives: pass what has arrived, call tick() with increasing
/// times, then take replies and shootdowns. Between the time of a tick and next() nothing happens without
/// further input, so no ticks are needed there; they would change nothing.
///
/// Order of work in a cycle (as in UVMSmart): eviction decision; write-back ends, next one starts;
/// transfer ends and wakes its waiting accesses, next one starts; walks that end: reply, join a fault, or
/// fault; prefetcher and staging; one new request of each source. The reply to a request of cycle t for a
/// resident page comes in cycle t + walk latency, a lone far fault in t + walk latency + 1 + its time on the
/// link.
class Gmmu {
 public:
  Gmmu(const MemorySettings& settings, const AddressSpace& space);

  /// An access that missed its TLB; accepted at the next tick, one per source and cycle.
  void request(std::uint32_t source, std::uint64_t token, Place place, bool write);
  /// An access to a page that is on the host according to an earlier reply. It crosses the link (kDone), or
  /// is treated like any other if the page has migrated or migrates now.
  void remote_request(std::uint32_t source, std::uint64_t token, Place place, std::uint16_t bytes, bool write,
                      bool returns_data);
  /// An SM's report of an access that hit its TLB.
  void accessed(Place place, bool write);
  void acknowledge(std::uint32_t shootdown, Cycle now) {
    memory_.departures().acknowledge(shootdown, now);
    again_ = true;
  }

  void kernel_begins() { memory_.kernel_begins(); }
  void enlarge_memory(std::uint64_t bytes) {
    memory_.frames().enlarge(bytes / kPageBytes);
    again_ = true;
  }
  /// Commands are executed in the order of the calls.
  void submit(const ManagedCommand& command) {
    commands_.add(command);
    again_ = true;
  }

  // With several devices.
  void receive(const DirectoryCommand& command, Cycle now) {
    if (command.kind == DirectoryCommand::Kind::kAttract) return attract(command);
    memory_.directory()->receive(command, now);
    again_ = true;
  }

  // The host link, where another user shares it and the owner moves the lines; see DeviceMemory.
  void moved(Direction direction) {
    memory_.moved(direction);
    again_ = true;
  }
  void arbitrate(Cycle now) {
    if (memory_.arbitrate(now)) again_ = true;
  }

  void tick(Cycle now);
  /// Earliest cycle after the last tick at which something is due, or kNever.
  [[nodiscard]] Cycle next() const;

  // Since they were last cleared.
  [[nodiscard]] const std::vector<AccessReply>& replies() const { return replies_; }
  [[nodiscard]] const std::vector<Shootdown>& shootdowns() const { return memory_.shootdowns().list(); }
  /// Commands that are complete, by their index.
  [[nodiscard]] const std::vector<std::uint32_t>& completed() const { return commands_.completed(); }
  void clear_output() {
    replies_.clear();
    commands_.clear_completed();
    memory_.lanes().clear_moves();
    memory_.shootdowns().clear();
  }

  /// Whether nothing waits and nothing is on the link.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool link_idle() const { return memory_.lanes_idle(); }
  [[nodiscard]] const Counters& counters();
  [[nodiscard]] DeviceMemory& memory() { return memory_; }
  /// Faults that wait for their page, for the dump of a deadlock.
  [[nodiscard]] std::size_t waiting() const { return waiting_count_ + (driver_ ? driver_->stalled() : 0); }
  /// Sizes of the driver's batches, in order.
  [[nodiscard]] const std::vector<std::uint32_t>& batch_sizes() const { return batch_sizes_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, memory_, commands_, walks_, port_, remote_arrivals_, in_slots_, driver_, arriving_,
              with_arrivals_, waiting_, waiting_count_, faults_, on_way_out_, replies_, batch_sizes_, totals_,
              now_, again_);
  }

 private:
  void serve_remote(Cycle now);
  void finish_remote(Cycle now);
  void let_stay(Cycle now, const Access& access);
  void let_stay_on_peer(const Access& access);
  void attract(const DirectoryCommand& command);
  [[nodiscard]] bool remains(const Access& access, Cycle now) const;
  void cross_link(Cycle now, const Access& access);
  void finish_walks(Cycle now);
  void finish_walk(Cycle now, const Access& access);
  void miss(Cycle now, const Access& access);
  void stage_faults_of_cycle(Cycle now);
  void wake_arrived(Cycle now);
  void accept(Cycle now);
  void reply(Cycle now, const Access& access);
  [[nodiscard]] Granule granule_of(const Tree& tree, unsigned page) const;

  DeviceMemory memory_;
  HostCommands commands_;
  WalkPool walks_;
  RemotePort port_;
  std::vector<Access> remote_arrivals_;
  std::deque<Access> in_slots_;
  std::unique_ptr<Driver> driver_;            // FaultMode::kDriver
  std::vector<std::deque<Access>> arriving_;  // by source
  std::vector<std::uint32_t> with_arrivals_;  // sources that have some, ascending when accepted
  std::unordered_map<std::uint64_t, std::vector<Access>> waiting_;  // page -> accesses; never iterated
  std::size_t waiting_count_ = 0;
  struct Fault {
    TreeIndex tree;
    PageSet pages;
  };
  std::vector<Fault> faults_;       // of this cycle
  std::vector<Access> on_way_out_;  // to pages that are leaving (safe order)
  std::vector<AccessReply> replies_;
  std::vector<std::uint32_t> batch_sizes_;
  Counters totals_;
  Cycle now_ = 0;
  bool again_ = false;
};

}  // namespace lockstep::uvm
