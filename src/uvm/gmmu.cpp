#include "uvm/gmmu.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::uvm {

Gmmu::Gmmu(const MemorySettings& settings, const AddressSpace& space)
    : memory_(settings, space),
      commands_(memory_),
      walks_(memory_.parameters(), memory_.table()),
      port_(memory_.port_settings()),
      arriving_(settings.sources) {
  if (memory_.parameters().fault_mode == FaultMode::kDriver) driver_ = std::make_unique<Driver>(memory_);
}

void Gmmu::request(std::uint32_t source, std::uint64_t token, Place place, bool write) {
  const TreeIndex tree = memory_.table().touch(place.tree);
  memory_.remote().count_access(tree, place.page, false);
  if (arriving_[source].empty()) with_arrivals_.push_back(source);
  arriving_[source].push_back({source, token, tree, static_cast<std::uint16_t>(place.page), write, 0});
  again_ = true;
}

void Gmmu::accessed(Place place, bool write) {
  const TreeIndex tree = memory_.table().touch(place.tree);
  memory_.remote().count_access(tree, place.page, false);
  memory_.accessed(tree, place.page, write);
  again_ = true;
}

void Gmmu::tick(Cycle now) {
  now_ = now;
  again_ = false;
  if (!driver_) memory_.evictions().evict_if_due(now);
  memory_.step_write(now);
  memory_.step_read(now);
  if (memory_.directory()) memory_.directory()->step(now);
  wake_arrived(now);
  finish_remote(now);
  serve_remote(now);
  finish_walks(now);
  if (driver_) {
    std::vector<Access> replayed;
    driver_->step(now, replayed, batch_sizes_);
    for (const Access& a : replayed) walks_.add(now, a);
  } else {
    stage_faults_of_cycle(now);
  }
  accept(now);
  commands_.step(now);
  for (const Direction d : {Direction::kToDevice, Direction::kToHost}) memory_.delay(d, port_.taken(d));
  if (memory_.take_changed()) again_ = true;
  for (const Shootdown& s : memory_.shootdowns().list())
    (void)walks_.forget(s.tree, s.first, s.pages, memory_.parameters().shootdown);
}

Cycle Gmmu::next() const {
  if (again_ || !with_arrivals_.empty()) return now_ + 1;
  const Cycle next = std::min({walks_.next(), memory_.next_event(), port_.next(), commands_.next(),
                               driver_ ? driver_->next() : kNever,
                               memory_.directory() ? memory_.directory()->next() : kNever});
  return next == kNever ? kNever : std::max(next, now_ + 1);
}

/// One request of each source per cycle enters the walkers.
void Gmmu::accept(Cycle now) {
  if (with_arrivals_.empty()) return;
  std::sort(with_arrivals_.begin(), with_arrivals_.end());
  std::erase_if(with_arrivals_, [&](std::uint32_t source) {
    std::deque<Access>& queue = arriving_[source];
    queue.front().asked_at = now;
    walks_.add(now, queue.front());
    queue.pop_front();
    return queue.empty();
  });
}

void Gmmu::finish_walks(Cycle now) {
  if (!on_way_out_.empty() && memory_.departures().take_gone()) {
    const std::vector<Access> again = std::exchange(on_way_out_, {});
    for (const Access& a : again) finish_walk(now, a);
  }
  Access access;
  while (walks_.pop(now, access)) finish_walk(now, access);
}

void Gmmu::finish_walk(Cycle now, const Access& access) {
  const Tree& tree = memory_.table()[access.tree];
  const bool forbidden = access.write && tree.duplicated.contains(access.page);
  if (tree.resident.contains(access.page) && (!forbidden || !driver_)) {
    if (forbidden) memory_.collapse(access.tree, access.page);
    ++totals_.page_hits;
    return reply(now, access);
  }
  if (tree.leaving.contains(access.page)) {
    on_way_out_.push_back(access);
    return;
  }
  miss(now, access);
}

void Gmmu::miss(Cycle now, const Access& access) {
  ++totals_.page_misses;
  Tree& tree = memory_.table()[access.tree];
  const bool under_way = tree.incoming.contains(access.page);
  if (tree.on_peer.contains(access.page) && !under_way) return let_stay_on_peer(access);
  if (!under_way && !tree.resident.contains(access.page) && remains(access, now))
    return let_stay(now, access);
  Access missed = access;
  missed.remote = false;
  if (missed.faulted_at == 0) {
    missed.faulted_at = now;
    if ((tree.incoming - tree.wanted).contains(access.page)) ++memory_.log().counters.prefetched_late;
  }
  if (access.write) tree.wanted_to_write.insert(access.page);
  if (!under_way || driver_) memory_.log().fault_times.raised(access.tree, access.page, access.asked_at, now);
  if (driver_) return driver_->fault(missed, now);
  std::vector<Access>& waiters = waiting_[page_key(access.tree, access.page)];
  waiters.push_back(missed);
  ++waiting_count_;
  if (under_way || waiters.size() > 1) {
    ++totals_.pending;
    return;
  }
  ++totals_.faults;
  if (memory_.remote().by_counters()) ++totals_.counted_migrations;
  auto fault =
      std::find_if(faults_.begin(), faults_.end(), [&](const Fault& f) { return f.tree == access.tree; });
  if (fault == faults_.end()) fault = faults_.insert(faults_.end(), {access.tree, {}});
  fault->pages.insert(access.page);
}

/// The faults of this cycle, tree by tree in ascending order of addresses.
void Gmmu::stage_faults_of_cycle(Cycle now) {
  if (faults_.empty()) return;
  const PageTable& table = memory_.table();
  std::sort(faults_.begin(), faults_.end(),
            [&](const Fault& a, const Fault& b) { return table[a.tree].base < table[b.tree].base; });
  const std::uint64_t before = memory_.arrivals().staged_pages();
  const Parameters& p = memory_.parameters();
  const Cycle handling = p.fault_cost == FaultCost::kInline ? memory_.cycles_of_ns(p.page_fault_ns) : 0;
  for (const Fault& fault : faults_) {
    fault.pages.for_each_run([&](unsigned first, unsigned pages) {
      memory_.log().note(Event::Kind::kFault, now, now,
                         {fault.tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)});
    });
    for (const Transfer& t : memory_.staging().stage(fault.tree, fault.pages, CutRule::kAfterEachFault)) {
      if (handling > 0 && t.faulted) memory_.arrivals().queue_handling(handling, t.run);
      memory_.queue_read(t, false);
    }
  }
  faults_.clear();
  memory_.evictions().note_oversubscription(before, memory_.arrivals().staged_pages());
}

void Gmmu::wake_arrived(Cycle now) {
  if (memory_.arrivals().arrived().empty()) return;
  for (const Run& run : memory_.arrivals().arrived())
    for (unsigned page = run.first; page < run.first + run.pages && waiting_count_ > 0; ++page) {
      const auto found = waiting_.find(page_key(run.tree, page));
      if (found == waiting_.end()) continue;
      for (const Access& a : found->second) reply(now, a);
      waiting_count_ -= found->second.size();
      waiting_.erase(found);
    }
  memory_.arrivals().clear_arrived();
}

Granule Gmmu::granule_of(const Tree& tree, unsigned page) const {
  if (!memory_.parameters().large_entries || !tree.duplicated.empty()) return Granule::kPage;
  if (tree.pages == kPagesPerTree && tree.resident.count() == kPagesPerTree) return Granule::kTree;
  return tree.resident.in_leaf(page / kPagesPerLeaf) == kPagesPerLeaf ? Granule::kLeaf : Granule::kPage;
}

void Gmmu::reply(Cycle now, const Access& access) {
  const Tree& tree = memory_.table()[access.tree];
  if (access.faulted_at > 0) {
    totals_.fault_latency_cycles += now - access.faulted_at;
    memory_.log().fault_times.replayed(access.tree, access.page, now, memory_.log().counters);
  }
  memory_.accessed(access.tree, access.page, access.write);
  const Granule granule = granule_of(tree, access.page);
  walks_.learn({tree.id, access.page}, granule);
  replies_.push_back({access.source, access.token, granule, AccessReply::Kind::kLocal,
                      tree.duplicated.contains(access.page)});
}

bool Gmmu::idle() const {
  return with_arrivals_.empty() && walks_.size() == 0 && waiting_count_ == 0 && on_way_out_.empty() &&
         memory_.lanes_idle() && port_.idle() && remote_arrivals_.empty() && commands_.idle() &&
         (!driver_ || driver_->idle()) && (!memory_.directory() || memory_.directory()->idle());
}

const Counters& Gmmu::counters() {
  Counters& c = memory_.log().counters;
  c.page_hits = totals_.page_hits;
  c.page_misses = totals_.page_misses;
  if (!driver_) c.faults = totals_.faults;
  c.pending = totals_.pending;
  if (!driver_) c.counted_migrations = totals_.counted_migrations;
  c.remote_reads = totals_.remote_reads;
  c.remote_writes = totals_.remote_writes;
  c.remote_bytes_to_device = port_.bytes(Direction::kToDevice);
  c.remote_bytes_to_host = port_.bytes(Direction::kToHost);
  c.fault_latency_cycles = totals_.fault_latency_cycles;
  c.walks = walks_.walks;
  c.l2_tlb_hits = walks_.l2_hits;
  c.l2_tlb_misses = walks_.l2_misses;
  c.walk_cache_hits = walks_.cache_hits;
  return c;
}

}  // namespace lockstep::uvm
