// The host's part in managed memory: advice, explicit prefetches, the host's own accesses, synchronisation.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "uvm/device_memory.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::uvm {

/// Commands are executed one after another (UVMSmart: one engine for all streams).
///
/// - kAdvise takes advise_ns.
/// - kPrefetch takes prefetch_ns before its first transfer. To the device: pages that are neither there nor
/// on
///   their way are transferred in runs of up to 2 MiB from the start of the allocation, one after another.
///   Page trees do not count them. Pages that are leaving are omitted. To the host:
///   what is on the device leaves, tree by tree.
/// - kHostRead, kHostWrite: host_fault_ns, once if any of the pages is on the device; then these leave, tree
/// by
///   tree. A read leaves read-mostly pages on the device, as duplicates. An access to pages that thrash waits
///   until the device's nap ends. With uvm.host_access pages may stay on the device: then their 64-byte lines
///   cross the link as packets, with one round trip for the whole command, and delay migrations.
/// - kDeviceRead, kDeviceWrite: as a prefetch, but the driver serves one fault for each tree with absent
/// pages
///   (the copy engine's faults are not replayable), after pages that are leaving have left. Pages that advice
///   or thrashing keeps on the host stay there.
/// - kRelease: the pages are dropped. kSynchronise: DeviceMemory::synchronise.
class HostCommands {
 public:
  explicit HostCommands(DeviceMemory& memory) : memory_(&memory) {}

  void add(const ManagedCommand& command) { waiting_.push_back(command); }
  /// Does what is due at `now`; calling it again at the same time has no effect.
  void step(Cycle now);
  /// When something is due that does not follow from a change of the device's memory, or kNever.
  [[nodiscard]] Cycle next() const { return busy_ && due_ > now_ ? due_ : kNever; }
  [[nodiscard]] bool idle() const { return !busy_ && waiting_.empty(); }

  /// Commands that have been completed since the list was last cleared.
  [[nodiscard]] const std::vector<std::uint32_t>& completed() const { return completed_; }
  void clear_completed() { completed_.clear(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(memory_), waiting_, busy_, opened_, evicting_, free_before_, command_, ranges_,
              at_, left_, due_, now_, completed_);
  }

 private:
  void begin(Cycle now);
  void complete();
  [[nodiscard]] Cycle nap_end(Cycle now);
  [[nodiscard]] bool work(Cycle now);
  [[nodiscard]] bool bring(Cycle now, const PageRange& range);
  [[nodiscard]] bool open_device_access(Cycle now, TreeIndex index, const PageRange& range);
  void make_alone(TreeIndex tree, const PageRange& range);
  [[nodiscard]] bool touch(const PageRange& range);
  [[nodiscard]] bool is_device_access() const;
  [[nodiscard]] PageSet kept_on_device(TreeIndex index) const;
  [[nodiscard]] Cycle access_remotely();
  [[nodiscard]] unsigned make_room(Cycle now, TreeIndex index, unsigned pages);
  void fetch(Cycle now, TreeIndex index, unsigned first, unsigned pages);
  [[nodiscard]] bool take_back(Cycle now, const PageRange& range);
  [[nodiscard]] bool any_on_device() const;
  [[nodiscard]] static PageSet pages_of(const PageRange& r) { return PageSet::range(r.first, r.pages); }

  DeviceMemory* memory_;
  std::deque<ManagedCommand> waiting_;
  bool busy_ = false, opened_ = false, evicting_ = false;
  std::uint64_t free_before_ = 0;  // frames, before the last eviction
  ManagedCommand command_;         // the one in work
  std::vector<PageRange> ranges_;  // its pages
  std::size_t at_ = 0;
  PageSet left_;  // of ranges_[at_], when it is opened
  Cycle due_ = 0, now_ = 0;
  std::vector<std::uint32_t> completed_;
};

}  // namespace lockstep::uvm
