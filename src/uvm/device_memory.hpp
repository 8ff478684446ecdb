// Frames of the device, the pages in them, and both directions of the host link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "util/types.hpp"
#include "uvm/access_pattern.hpp"
#include "uvm/counters.hpp"
#include "uvm/directory_client.hpp"
#include "uvm/event.hpp"
#include "uvm/evictor.hpp"
#include "uvm/fault_times.hpp"
#include "uvm/host_link.hpp"
#include "uvm/link.hpp"
#include "uvm/order.hpp"
#include "uvm/page_table.hpp"
#include "uvm/parameters.hpp"
#include "uvm/prefetcher.hpp"
#include "uvm/remote_control.hpp"
#include "uvm/remote_port.hpp"

namespace lockstep::uvm {

struct MemorySettings {
  Parameters parameters;
  std::uint64_t core_khz = 1481000;
  std::uint64_t frames = 0;   // 4 KB each, for managed pages; at least 1
  std::uint32_t sources = 1;  // TLBs that acknowledge a shootdown
  bool moves_data = false;    // the owner moves each transfer's lines (Move) and says when it is done
};

/// Lines that begin to cross the link.
struct Move {
  Direction direction = Direction::kToDevice;
  bool discard = false;  // nothing is copied: the pages' lines only leave the L2
  bool keep = false;     // to the host, but they stay as well
  TreeId tree = 0;
  std::uint16_t first = 0, pages = 0;
  Cycle cycles = 0;  // on the link
};

/// An order to all TLBs: forget these pages.
struct Shootdown {
  std::uint32_t id = 0;
  TreeId tree = 0;
  std::uint16_t first = 0, pages = 0;
};

/// Time is given by the caller, in core cycles. Each step_ function does what is due at `now` and may be
/// called again at the same time without effect.
///
/// A write-back in UVMSmart's order (early_reuse): staged by a decision; an access to one of its pages takes
/// it back; when it starts, its pages become invalid, their frames free, and the TLBs forget them at once. In
/// the safe order: with the decision the pages become invalid and the TLBs are told; when all have
/// acknowledged it may start; its frames are free when it has ended.
///
/// With the driver and its evictor, memory is given out in root chunks: a tree with a page on the device
/// holds frames for all of its pages, until the last one has left (spec D.3). Not where less than 2 MB are
/// there when the first page comes.
class DeviceMemory {
 public:
  DeviceMemory(const MemorySettings& settings, const AddressSpace& space);
  /// Before the run: it is one of so many devices. Thrashing is not looked for then.
  void join(std::size_t devices);

  /// The address space has grown.
  void grow();
  /// The device has more memory for managed pages, in pages; fewer than before have no effect.
  void enlarge(std::uint64_t frames);

  // --- Faults ---
  /// Stages the transfers that a set of faults of one tree leads to. Where they would not fit the device at
  /// all, only the faulting pages, and no more than the device has frames. Returns those staged.
  std::vector<Transfer> stage(TreeIndex tree, const PageSet& faults, CutRule rule);
  /// What is to come, with its frames taken: from the host, or from where the directory finds it. Only with a
  /// directory, `upgraded`: pages that are here read-only and are to be written; `mapped`: pages that are to
  /// be accessed where they are.
  void bring(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded = {},
             const PageSet& mapped = {});
  /// To the read lane; `frames_taken`: take_frames() was called for it.
  void queue_read(const Transfer& transfer, bool frames_taken);
  /// Time of the read lane that carries nothing: handling of a fault (FaultCost::kInline).
  void queue_handling(Cycle cycles, const Run& run);
  /// After the faults of a cycle are staged: notes whether memory is over-subscribed from now on.
  void note_oversubscription(std::uint64_t staged_before, std::uint64_t staged_now);

  // --- Eviction ---
  /// UVMSmart's decision of a cycle: one eviction when its inequality asks for it.
  void evict_if_due(Cycle now);
  /// One eviction now, beyond the rules where they allow none. False when no page is resident.
  bool evict_now(Cycle now);
  void acknowledge(std::uint32_t shootdown, Cycle now);
  [[nodiscard]] const std::vector<Shootdown>& shootdowns() const { return shootdowns_; }
  void clear_shootdowns() { shootdowns_.clear(); }

  // --- Orders of the host ---
  /// The resident pages of the set leave: to the host, or without a copy (`drop`).
  void expel(TreeIndex tree, const PageSet& pages, bool drop, Cycle now);
  /// The resident pages of the set are copied to the host and stay, as duplicates; accesses wait meanwhile.
  void copy_to_host(TreeIndex tree, const PageSet& pages, Cycle now);
  void advise(TreeIndex tree, const PageSet& pages, Advice advice, Named place, std::uint16_t other = 0);
  /// cudaDeviceSynchronize: nothing, or with synchronise_copies as in UVMSmart: dirty pages go to the host
  /// outside the link's order, which takes synchronise_cycles(); then memory counts as empty, though clean
  /// pages stay valid (spec B.11).
  [[nodiscard]] Cycle synchronise_cycles() const;
  void synchronise(Cycle now);

  // --- Pages that stay on the host ---
  /// An access of the device to the page is counted; `remote`: it crossed the link.
  void count_access(TreeIndex tree, unsigned page, bool remote);
  /// By the access counters the absent page does not migrate yet.
  [[nodiscard]] bool too_early(TreeIndex tree, unsigned page, bool write) const;
  /// The device maps the page on the host.
  void map_remote(TreeIndex tree, unsigned page) { table_[tree].remote.insert(page); }
  /// The device forgets its mappings of pages on the host.
  void unmap_remote(TreeIndex tree, const PageSet& pages);
  /// A slot of the link to the device (RemotePath::kSlot); they end in order.
  void queue_slot() {
    ++slots_waiting_;
    changed_ = true;
  }
  [[nodiscard]] std::uint32_t take_slots_done() { return std::exchange(slots_done_, 0); }
  /// Packets of remote accesses have held the direction: what is under way ends later.
  void delay(Direction direction, Cycle cycles);
  [[nodiscard]] RemotePortSettings port_settings() const;
  /// The device writes to a page that the host has too: the host's copy is no longer valid.
  void collapse(TreeIndex tree, unsigned page);
  [[nodiscard]] RemoteControl& remote() { return remote_; }
  [[nodiscard]] const RemoteControl& remote() const { return remote_; }
  /// A kernel begins (the smart runtime wants to know).
  void kernel_begins() {
    if (patterns_) patterns_->kernel_begins();
  }

  // --- Of several devices ---
  /// Null with one device.
  [[nodiscard]] DirectoryClient* directory() { return directory_.get(); }
  [[nodiscard]] const DirectoryClient* directory() const { return directory_.get(); }
  /// The resident pages of the set are taken from all SMs and wait (DirectoryClient::stands_still).
  void hand_over(TreeIndex tree, const PageSet& pages, bool keep, Cycle now);
  /// They have been copied to another device; `keep`: they stay here, read-only.
  void handed_over(const Run& run, bool keep);
  /// Pages that were incoming are here.
  void arrive(const Run& run, Cycle now);

  // --- Lanes ---
  void step_write(Cycle now);
  void step_read(Cycle now);
  /// Runs that have become resident since the last call.
  [[nodiscard]] const std::vector<Run>& arrived() const { return arrived_; }
  void clear_arrived() { arrived_.clear(); }
  /// Runs that have left for good (safe order) since the last call.
  [[nodiscard]] bool take_gone() { return std::exchange(gone_, false); }

  /// With moves_data: transfers that have begun since they were cleared last. A transfer of one direction
  /// ends when its time on the link is over and moved() was called for it.
  [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }
  void clear_moves() { moves_.clear(); }
  void moved(Direction direction) {
    (direction == Direction::kToDevice ? read_ : write_).moving = false;
    changed_ = true;
  }
  /// Before the run: copies use the link too.
  void share(HostLink& link) { host_link_ = &link; }
  /// Tells the link what migrations do, and has it decide. True where its decision has changed.
  bool arbitrate(Cycle now);

  // --- Accesses ---
  /// An access to a resident page.
  void accessed(TreeIndex tree, unsigned page, bool write);

  [[nodiscard]] PageTable& table() { return table_; }
  [[nodiscard]] const PageTable& table() const { return table_; }
  [[nodiscard]] std::uint64_t free_frames() const { return free_; }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  /// Frames that bringing so many pages of the tree takes.
  [[nodiscard]] std::uint64_t frames_for(TreeIndex tree, std::uint64_t pages) const {
    if (!chunks_) return pages;
    const bool held = tree < has_chunk_.size() && has_chunk_[tree];
    return held ? 0 : table_[tree].pages;
  }
  void take_frames(TreeIndex tree, std::uint64_t pages);
  [[nodiscard]] std::uint64_t staged_pages() const { return staged_; }
  [[nodiscard]] bool lanes_idle() const {
    return !read_.busy && reads_.empty() && slots_waiting_ == 0 && !write_.busy && writes_.empty() &&
           awaiting_.empty();
  }
  [[nodiscard]] bool reads_idle() const {
    return (!read_.busy || reading_.slot) && reads_.empty() && !(directory_ && directory_->acquires());
  }
  [[nodiscard]] bool oversubscribed() const { return oversubscribed_; }
  /// When the link has something to do next by itself; kNever.
  [[nodiscard]] Cycle next_event() const {
    const auto end = [](const Lane& lane) { return lane.busy && !lane.moving ? lane.end : kNever; };
    const bool may_write = !write_.busy && !writes_.empty() && may_begin(Direction::kToHost);
    return std::min(end(read_), may_write ? writes_.front().not_before : end(write_));
  }
  /// Something has changed since the last call.
  [[nodiscard]] bool take_changed() { return std::exchange(changed_, false); }
  [[nodiscard]] Counters& counters() { return counters_; }
  [[nodiscard]] FaultTimes& fault_times() { return fault_times_; }
  /// In the order of the address space's allocations.
  [[nodiscard]] const std::vector<AllocationCounters>& by_allocation() const { return by_allocation_; }
  [[nodiscard]] const Parameters& parameters() const { return settings_.parameters; }
  void record(std::vector<Event>* events) { events_ = events; }
  void note(Event::Kind kind, Cycle start, Cycle end, const Run& run) {
    if (events_) events_->push_back({kind, start, end, run});
  }
  [[nodiscard]] Cycle cycles_of_ns(std::uint64_t ns) const {
    return cycles_of_ps(ns * 1000, link_parameters());
  }

 private:
  struct Read {
    Transfer transfer;
    Cycle handling = 0;  // > 0: handling of a fault, or a slot: no data
    bool frames_taken = false, slot = false;
  };
  struct WriteBack {
    Run run;
    bool drop = false, evicted = true;                  // evicted: to make room
    bool keep = false;                                  // the device keeps its copy: a duplicate
    bool handed = false;                                // to another device: no write-back
    std::uint32_t shootdown = 0, acknowledgements = 0;  // still to come
    Cycle not_before = 0;
  };
  struct Lane {
    bool busy = false;
    Cycle start = 0, end = 0;
    bool moving = false;  // the owner is not through with its lines
    [[nodiscard]] bool over(Cycle now) const { return busy && end <= now && !moving; }
  };

  [[nodiscard]] const Lane& lane_of(Direction direction) const {
    return direction == Direction::kToDevice ? read_ : write_;
  }
  [[nodiscard]] bool may_begin(Direction direction) const {
    return !host_link_ || host_link_->migration_may_begin(direction);
  }
  [[nodiscard]] bool wants_link(Direction direction, Cycle now) const;
  [[nodiscard]] LinkParameters link_parameters() const {
    return {settings_.core_khz, settings_.parameters.link_gib};
  }
  [[nodiscard]] const PrefetchPolicy& prefetcher() const;
  [[nodiscard]] bool evict_with(const EvictionRules& rules, Cycle now);
  void queue_leaving(const Run& run, bool drop, bool evicted, Cycle now);
  void add_write_back(WriteBack entry, Cycle now);
  [[nodiscard]] bool droppable(const Run& run) const;
  void start_write(Cycle now);
  void move(Lane& lane, Direction direction, const Run& run, bool discard, bool keep);
  void invalidate(const WriteBack& entry);
  void start_read(Cycle now);
  void finish_read(Cycle now);
  void finish_write();
  [[nodiscard]] bool stuck() const;
  void give_frames(const Run& run);
  [[nodiscard]] bool gives_chunks(std::uint64_t frames) const;
  [[nodiscard]] std::uint64_t needed(const Read& read) const {
    return frames_for(read.transfer.run.tree, read.transfer.run.pages);
  }
  [[nodiscard]] RemoteContext remote_context(TreeIndex tree, unsigned page) const;
  [[nodiscard]] PrefetchContext prefetch_context(TreeIndex tree, const PageSet& faults);
  void note_pattern(const std::vector<Transfer>& transfers);
  void apply_smart_choice();
  void change_evictor(const EvictionPolicy& policy);
  void leave(TreeIndex tree, const PageSet& pages, bool drop, Cycle now);
  void take_out(TreeIndex tree, const PageSet& pages);
  [[nodiscard]] PageSet backed(const Tree& tree) const { return tree.duplicated - tree.unbacked; }
  [[nodiscard]] std::uint64_t taken_for_reads() const;
  void take_back(TreeIndex tree, unsigned page);
  [[nodiscard]] EvictionRules rules() const;

  MemorySettings settings_;
  PageTable table_;
  const EvictionPolicy* evictor_;
  EvictionList list_;
  RemoteControl remote_;
  std::optional<AccessPatterns> patterns_;  // with the smart runtime
  bool chunks_;
  std::vector<bool> has_chunk_;  // by tree
  std::uint32_t slots_waiting_ = 0, slots_done_ = 0;
  LinkTimes link_;
  Random random_;
  std::uint64_t frames_, free_, staged_ = 0, leaving_pages_ = 0;
  std::deque<Read> reads_;
  std::deque<WriteBack> writes_;     // may start
  std::vector<WriteBack> awaiting_;  // acknowledgements
  Read reading_;
  WriteBack writing_;
  Lane read_, write_;
  // The first one ends with a synchronisation that copies, the second one never (spec B.1).
  bool oversubscribed_ = false, was_oversubscribed_ = false, changed_ = true, fruitless_ = false,
       gone_ = false;
  std::uint32_t next_shootdown_ = 0;
  std::vector<Shootdown> shootdowns_;
  std::vector<Move> moves_;
  std::vector<Run> arrived_;
  Counters counters_;
  FaultTimes fault_times_;
  [[nodiscard]] AllocationCounters& counters_of(const Run& run) {
    return by_allocation_[table_.space().owner(table_[run.tree].id)];
  }
  std::vector<AllocationCounters> by_allocation_;
  std::vector<Event>* events_ = nullptr;
  std::unique_ptr<DirectoryClient> directory_;
  HostLink* host_link_ = nullptr;  // null: migrations have the link for themselves
};

}  // namespace lockstep::uvm
