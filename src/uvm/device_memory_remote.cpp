// Pages that stay on the host, that both have, and what changes while a program runs.
#include <algorithm>

#include "uvm/device_memory.hpp"

namespace lockstep::uvm {

// --- Pages that stay on the host ---

RemoteContext DeviceMemory::remote_context(TreeIndex tree, unsigned page) const {
  RemoteContext c;
  c.oversubscribed = oversubscribed_;
  c.occupied = frames_ * settings_.parameters.free_buffer_percent + 100 * (frames_ - free_ + staged_);
  c.capacity = 100 * (frames_ + leaving_pages_);
  c.round_trips = remote_.counters.round_trips(tree, page / kPagesPerLeaf);
  return c;
}

void DeviceMemory::count_access(TreeIndex tree, unsigned page, bool remote) {
  if (remote_.by_counters() && (remote || !remote_.counts_only_remote()))
    remote_.counters.accessed(tree, page / kPagesPerLeaf);
}

bool DeviceMemory::too_early(TreeIndex tree, unsigned page, bool write) const {
  return remote_.by_counters() && remote_.too_early(tree, page, write, remote_context(tree, page));
}

void DeviceMemory::unmap_remote(TreeIndex index, const PageSet& pages) {
  Tree& tree = table_[index];
  const PageSet mapped = (tree.remote | tree.on_peer) & pages;
  tree.remote -= mapped;
  tree.on_peer -= mapped;
  mapped.for_each_run([&](unsigned first, unsigned count) {
    shootdowns_.push_back(
        {next_shootdown_++, tree.id, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)});
  });
}

RemotePortSettings DeviceMemory::port_settings() const {
  const Parameters& p = settings_.parameters;
  RemotePortSettings s;
  s.latency = cycles_of_ns(p.remote_latency_ns);
  s.header_bytes = p.remote_header_bytes;
  s.outstanding = p.remote_outstanding;
  for (const Direction d : {Direction::kToDevice, Direction::kToHost})
    s.tree_cycles[static_cast<unsigned>(d)] = link_.cycles(d, kPagesPerTree);
  return s;
}

void DeviceMemory::delay(Direction direction, Cycle cycles) {
  Lane& lane = direction == Direction::kToDevice ? read_ : write_;
  if (!lane.busy || cycles == 0) return;
  lane.end += cycles;
  changed_ = true;
}

// --- Advice ---

void DeviceMemory::advise(TreeIndex index, const PageSet& pages, Advice advice, Named place,
                          std::uint16_t other) {
  Tree& tree = table_[index];
  const PageSet named = pages & tree.all();
  const bool own = place == Named::kDevice;
  counters_.advised_pages += named.count();
  remote_.advice.advise(index, named, advice, place, other);
  const AdvisedPages& now = remote_.advice.of(index);
  if (advice == Advice::kSetAccessedBy && own && !directory_)
    tree.remote |= (named & now.accessed_by) - tree.resident - tree.incoming - tree.leaving;
  if (advice == Advice::kUnsetAccessedBy && own) unmap_remote(index, named - now.prefer_host);
  if (advice == Advice::kSetPreferredLocation && own) unmap_remote(index, named);
  if (advice == Advice::kUnsetPreferredLocation) unmap_remote(index, named - now.accessed_by);
  if (advice == Advice::kSetReadMostly) unmap_remote(index, named);
  if (advice == Advice::kUnsetReadMostly && !directory_) tree.duplicated -= named;
  if (directory_) directory_->follow(index, now.accessed_by - now.read_mostly - now.prefer_device);
  changed_ = true;
}

void DeviceMemory::collapse(TreeIndex index, unsigned page) {
  table_[index].duplicated.erase(page);
  table_[index].unbacked.erase(page);
  ++counters_.collapsed_pages;
}

// --- Leaving ---

/// Takes the pages out and queues them, those that the host has as drops.
void DeviceMemory::leave(TreeIndex index, const PageSet& pages, bool drop, Cycle now) {
  take_out(index, pages);
  pages.for_each_run([&](unsigned first, unsigned count) {
    queue_leaving({index, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)}, drop, false,
                  now);
  });
  changed_ = true;
}

/// Of the page trees and the evictor's list.
void DeviceMemory::take_out(TreeIndex index, const PageSet& pages) {
  Tree& tree = table_[index];
  tree.counted -= pages;
  tree.leaving |= pages;
  list_.left(index, tree.resident - tree.leaving);
}

/// Pages that the host has are dropped, the others cut around them.
void DeviceMemory::queue_leaving(const Run& run, bool drop, bool evicted, Cycle now) {
  const PageSet both = backed(table_[run.tree]) & run.set();
  if (drop || both.empty()) return add_write_back({run, drop, evicted}, now);
  for (const bool duplicated : {true, false})
    (duplicated ? both : run.set() - both).for_each_run([&](unsigned first, unsigned count) {
      const Run part{run.tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)};
      add_write_back({part, duplicated, evicted}, now);
    });
}

void DeviceMemory::expel(TreeIndex index, const PageSet& pages, bool drop, Cycle now) {
  const Tree& tree = table_[index];
  const PageSet here = (tree.resident - tree.leaving) & pages;
  if (!here.empty()) leave(index, here, drop, now);
}

void DeviceMemory::copy_to_host(TreeIndex index, const PageSet& pages, Cycle now) {
  const Tree& tree = table_[index];
  const PageSet here = (tree.resident - tree.leaving - backed(tree)) & pages;
  if (here.empty()) return;
  take_out(index, here);
  here.for_each_run([&](unsigned first, unsigned count) {
    const Run run{index, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)};
    add_write_back({run, false, false, true}, now);
  });
  changed_ = true;
}

// --- The host link ---

/// A transfer would begin if the link were free.
bool DeviceMemory::wants_link(Direction direction, Cycle now) const {
  if (lane_of(direction).busy) return false;
  if (direction == Direction::kToHost) return !writes_.empty() && writes_.front().not_before <= now;
  if (reads_.empty()) return slots_waiting_ > 0;
  return reads_.front().frames_taken || needed(reads_.front()) <= free_;
}

bool DeviceMemory::arbitrate(Cycle now) {
  bool changed = false;
  for (const Direction d : {Direction::kToHost, Direction::kToDevice}) {
    host_link_->say(d, HostLink::Migrations{lane_of(d).busy, wants_link(d, now), lane_of(d).start});
    changed = host_link_->decide(d, now) || changed;
  }
  return changed;
}

// --- Of several devices ---

void DeviceMemory::join(std::size_t devices) {
  directory_ = std::make_unique<DirectoryClient>(*this, devices);
  remote_.thrashing.reset();
}

void DeviceMemory::bring(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded,
                         const PageSet& mapped) {
  if (directory_) {
    changed_ = true;
    return directory_->acquire(tree, transfers, upgraded, mapped);
  }
  for (const Transfer& t : transfers) queue_read(t, true);
}

void DeviceMemory::hand_over(TreeIndex index, const PageSet& pages, bool keep, Cycle now) {
  if (pages.empty()) return;
  take_out(index, pages);
  pages.for_each_run([&](unsigned first, unsigned count) {
    WriteBack entry{
        {index, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)}, false, false};
    entry.keep = keep;
    entry.handed = true;
    add_write_back(entry, now);
  });
  changed_ = true;
}

void DeviceMemory::handed_over(const Run& run, bool keep) {
  Tree& tree = table_[run.tree];
  const PageSet pages = run.set();
  leaving_pages_ -= run.pages;
  tree.leaving -= pages;
  gone_ = changed_ = true;
  fruitless_ = false;
  if (!keep) return give_frames(run);
  tree.resident |= pages;
  tree.counted |= pages;
  tree.duplicated |= pages;
  tree.unbacked |= pages;
  list_.arrived(run.tree, pages);
}

// --- cudaDeviceSynchronize in UVMSmart ---

Cycle DeviceMemory::synchronise_cycles() const {
  if (!settings_.parameters.synchronise_copies) return 0;
  std::uint64_t pages = 0;
  for (TreeIndex t = 0; t < table_.size(); ++t) pages += table_[t].dirty.count();
  return uvm::synchronise_cycles(link_, pages * kPageBytes);
}

void DeviceMemory::synchronise(Cycle now) {
  if (!settings_.parameters.synchronise_copies) return;
  const Cycle cycles = synchronise_cycles();
  counters_.synchronise_cycles += cycles;
  for (TreeIndex t = 0; t < table_.size(); ++t) {
    Tree& tree = table_[t];
    tree.dirty.for_each_run([&](unsigned first, unsigned count) {
      const Run run{t, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)};
      note(Event::Kind::kSynchronise, now - cycles, now, run);
      counters_.bytes_to_host += run.bytes();
      invalidate({run, false, false});
    });
    list_.left(t, PageSet());
    tree.counted = tree.incoming;
    tree.accesses = 0;
    tree.written = false;
  }
  free_ = frames_ - taken_for_reads();
  has_chunk_.assign(has_chunk_.size(), false);
  oversubscribed_ = false;
  changed_ = true;
}

/// Frames of transfers to the device that are under way, or staged with their frames.
std::uint64_t DeviceMemory::taken_for_reads() const {
  std::uint64_t pages = read_.busy && reading_.handling == 0 ? reading_.transfer.run.pages : 0;
  for (const Read& r : reads_)
    if (r.frames_taken && r.handling == 0) pages += r.transfer.run.pages;
  return pages;
}

// --- Frames ---

void DeviceMemory::take_frames(TreeIndex tree, std::uint64_t pages) {
  free_ -= frames_for(tree, pages);
  if (!chunks_) return;
  if (tree >= has_chunk_.size()) has_chunk_.resize(tree + 1);
  has_chunk_[tree] = true;
}

/// The pages of the run have left: their frames, or those of the tree when it was the last.
void DeviceMemory::give_frames(const Run& run) {
  if (!chunks_) {
    free_ = std::min(frames_, free_ + run.pages);
    return;
  }
  const Tree& tree = table_[run.tree];
  if (!(tree.resident | tree.incoming | tree.leaving).empty() || !has_chunk_[run.tree]) return;
  has_chunk_[run.tree] = false;
  free_ += tree.pages;
}

// --- The smart runtime (spec B.9) ---

void DeviceMemory::note_pattern(const std::vector<Transfer>& transfers) {
  if (!patterns_ || transfers.empty()) return;
  PageSet pages;
  for (const Transfer& t : transfers) pages |= t.run.set();
  const AddressSpace& space = table_.space();
  const TreeId id = table_[transfers.front().run.tree].id;
  const std::size_t allocation = space.owner(id);
  const std::uint64_t base = (id - space.allocations()[allocation].first_tree) * kLeavesPerTree;
  for (unsigned leaf = 0; leaf < kLeavesPerTree; ++leaf)
    if (pages.in_leaf(leaf) > 0) patterns_->staged(allocation, base + leaf);
}

void DeviceMemory::apply_smart_choice() {
  if (!patterns_) return;
  const SmartChoice choice = smart_choice(*patterns_);
  if (choice.tree_eviction && evictor_ != &kTreeEvict) change_evictor(kTreeEvict);
  if (choice.delayed) remote_.change_policy(kRemoteOversubscribed);
}

/// The units of the new list in the order of the old one.
void DeviceMemory::change_evictor(const EvictionPolicy& policy) {
  EvictionList list(policy.unit, policy.follows_accesses);
  (void)list_.walk(0, [&](TreeIndex tree, const PageSet& unit) {
    list.arrived(tree, unit & (table_[tree].resident - table_[tree].leaving));
    return false;
  });
  list_ = std::move(list);
  evictor_ = &policy;
  ++counters_.policy_changes;
}

}  // namespace lockstep::uvm
