#include "uvm/device_memory.hpp"

namespace lockstep::uvm {

DeviceMemory::DeviceMemory(const MemorySettings& settings, const AddressSpace& space)
    : state_(settings, space),
      staging_(state_, random_),
      arrivals_(state_),
      departures_(state_),
      evictions_(state_, arrivals_, departures_, random_) {}

void DeviceMemory::join(std::size_t devices) {
  directory_ = std::make_unique<DirectoryClient>(*this, devices);
  state_.directory = directory_.get();
  state_.remote.thrashing.reset();
}

void DeviceMemory::grow() {
  state_.log.grow();
  if (state_.patterns) state_.patterns->grow(state_.table.space().allocations().size());
}

// --- Pages come ---

void DeviceMemory::bring(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded,
                         const PageSet& mapped) {
  if (directory_) {
    state_.changed = true;
    return directory_->acquire(tree, transfers, upgraded, mapped);
  }
  for (const Transfer& t : transfers) queue_read(t, true);
}

void DeviceMemory::queue_read(const Transfer& transfer, bool frames_taken) {
  const TreeIndex tree = transfer.run.tree;
  if (!(state_.table[tree].remote & transfer.run.set()).empty()) unmap_remote(tree, transfer.run.set());
  arrivals_.queue(transfer, frames_taken);
}

// --- Pages that stay on the host, or are there too ---

bool DeviceMemory::too_early(TreeIndex tree, unsigned page, bool write) const {
  const RemoteControl& remote = state_.remote;
  if (!remote.by_counters()) return false;
  const Frames& frames = state_.frames;
  RemoteContext c;
  c.oversubscribed = state_.oversubscribed;
  c.occupied = frames.all() * state_.parameters().free_buffer_percent +
               100 * (frames.used() + arrivals_.staged_pages());
  c.capacity = 100 * (frames.all() + departures_.pages());
  c.round_trips = remote.counters.round_trips(tree, page / kPagesPerLeaf);
  return remote.too_early(tree, page, write, c);
}

void DeviceMemory::unmap_remote(TreeIndex index, const PageSet& pages) {
  Tree& tree = state_.table[index];
  const PageSet mapped = (tree.remote | tree.on_peer) & pages;
  tree.remote -= mapped;
  tree.on_peer -= mapped;
  mapped.for_each_run(
      [&](unsigned first, unsigned count) { (void)state_.shootdowns.add(tree.id, first, count); });
}

void DeviceMemory::collapse(TreeIndex index, unsigned page) {
  state_.table[index].duplicated.erase(page);
  state_.table[index].unbacked.erase(page);
  ++state_.log.counters.collapsed_pages;
}

void DeviceMemory::advise(TreeIndex index, const PageSet& pages, Advice advice, Named place,
                          std::uint16_t other) {
  Tree& tree = state_.table[index];
  const PageSet named = pages & tree.all();
  const bool own = place == Named::kDevice;
  state_.log.counters.advised_pages += named.count();
  state_.remote.advice.advise(index, named, advice, place, other);
  const AdvisedPages& now = state_.remote.advice.of(index);
  if (advice == Advice::kSetAccessedBy && own && !directory_)
    tree.remote |= (named & now.accessed_by) - tree.resident - tree.incoming - tree.leaving;
  if (advice == Advice::kUnsetAccessedBy && own) unmap_remote(index, named - now.prefer_host);
  if (advice == Advice::kSetPreferredLocation && own) unmap_remote(index, named);
  if (advice == Advice::kUnsetPreferredLocation) unmap_remote(index, named - now.accessed_by);
  if (advice == Advice::kSetReadMostly) unmap_remote(index, named);
  if (advice == Advice::kUnsetReadMostly && !directory_) tree.duplicated -= named;
  if (directory_) directory_->follow(index, now.accessed_by - now.read_mostly - now.prefer_device);
  state_.changed = true;
}

RemotePortSettings DeviceMemory::port_settings() const {
  const Parameters& p = state_.parameters();
  RemotePortSettings s;
  s.latency = cycles_of_ns(p.remote_latency_ns);
  s.header_bytes = p.remote_header_bytes;
  s.outstanding = p.remote_outstanding;
  for (const Direction d : {Direction::kToDevice, Direction::kToHost})
    s.tree_cycles[static_cast<unsigned>(d)] = state_.link.cycles(d, kPagesPerTree);
  return s;
}

// --- The host link ---

bool DeviceMemory::arbitrate(Cycle now) {
  const bool to_host = state_.lanes.arbitrate(Direction::kToHost, departures_.wants_link(now), now);
  const bool to_device = state_.lanes.arbitrate(Direction::kToDevice, arrivals_.wants_link(), now);
  return to_host || to_device;
}

// --- Accesses ---

void DeviceMemory::accessed(TreeIndex index, unsigned page, bool write) {
  Tree& tree = state_.table[index];
  ++tree.accesses;
  if (!tree.resident.contains(page)) return;  // reported by an SM after the page has left
  if (tree.leaving.contains(page)) departures_.take_back(index, page);
  if (tree.untouched.contains(page)) {
    tree.untouched.erase(page);
    ++state_.log.counters.prefetched_used;
  }
  if (write) {
    tree.dirty.insert(page);
    tree.written = true;
  }
  state_.residents.accessed(index, page);
  state_.changed = state_.changed || state_.fruitless;  // the next decision may find something
  state_.fruitless = false;
}

// --- cudaDeviceSynchronize in UVMSmart ---

Cycle DeviceMemory::synchronise_cycles() const {
  if (!state_.parameters().synchronise_copies) return 0;
  std::uint64_t pages = 0;
  for (TreeIndex t = 0; t < state_.table.size(); ++t) pages += state_.table[t].dirty.count();
  return uvm::synchronise_cycles(state_.link, pages * kPageBytes);
}

void DeviceMemory::synchronise(Cycle now) {
  if (!state_.parameters().synchronise_copies) return;
  const Cycle cycles = synchronise_cycles();
  Counters& c = state_.log.counters;
  c.synchronise_cycles += cycles;
  for (TreeIndex t = 0; t < state_.table.size(); ++t) {
    Tree& tree = state_.table[t];
    tree.dirty.for_each_run([&](unsigned first, unsigned count) {
      const Run run{t, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)};
      state_.log.note(Event::Kind::kSynchronise, now - cycles, now, run);
      c.bytes_to_host += run.bytes();
      (void)departures_.invalidate(run, false);
    });
    state_.residents.left(t, PageSet());
    tree.counted = tree.incoming;
    tree.accesses = 0;
    tree.written = false;
  }
  state_.frames.reset(arrivals_.taken_frames());
  state_.oversubscribed = false;
  state_.changed = true;
}

}  // namespace lockstep::uvm
