#include "gpu/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::gpu {

Device::Device(sim::DomainId first, sim::DomainId host, const config::GpuConfig& config, const Plan& plan,
               const Builder& builder, bool skip, const mem::Apertures* apertures, core::PeerWiring wiring,
               const core::DirectoryLink& directory)
    : config_(config),
      managed_(plan.managed),
      fabric_(config_, first, host, plan.manages, apertures ? wiring.lanes : 0, wiring.cores),
      map_(config_),
      copy_slot_(static_cast<std::uint8_t>(config_.launch.max_kernels)),
      dispatcher_(config_, fabric_, kernels_),
      copies_(config_, fabric_, map_, copy_slot_) {
  const uvm::AddressSpace* managed = plan.manages ? &managed_ : nullptr;
  if (managed)
    gmmu_ = std::make_unique<core::GmmuDomain>(config_, fabric_, *managed,
                                               plan.managed_frames[apertures ? wiring.device : 0], copies_,
                                               directory, wiring.devices);
  if (apertures) {
    map_.join(*apertures, wiring.device, wiring.lanes);
    peer_port_ = std::make_unique<core::PeerPort>(config_, fabric_, map_, copy_slot_, std::move(wiring));
  }
  const icnt::Numbering& n = fabric_.numbering();
  const Wiring parts{config_, fabric_, map_, kernels_, skip, managed};
  for (std::uint32_t i = 0; i < n.sms; ++i) sms_.push_back(builder.sm(parts, i));
  for (std::uint32_t i = 0; i < n.partitions; ++i) partitions_.push_back(builder.partition(parts, i));
}

Device::Device(sim::DomainId first, sim::DomainId host, const config::GpuConfig& config, const Plan& plan,
               std::uint32_t peer_lanes, std::uint32_t cores)
    : config_(config),
      managed_(plan.managed),
      fabric_(config_, first, host, plan.manages, peer_lanes, cores),
      map_(config_),
      copy_slot_(static_cast<std::uint8_t>(config_.launch.max_kernels)),
      dispatcher_(config_, fabric_, kernels_),
      copies_(config_, fabric_, map_, copy_slot_) {}

void Device::attach(sim::Engine& engine, const sim::DomainClock& clock, sim::Domain& elsewhere) {
  const icnt::Numbering& n = fabric_.numbering();
  fabric_.register_with(engine, is_here());
  if (!is_here()) {
    for (std::uint32_t i = 0; i < n.domains(); ++i)
      engine.place(n.first + i, elsewhere, sim::DomainKind::kOther, clock);
    return;
  }
  for (std::uint32_t i = 0; i < n.sms; ++i)
    engine.place(n.sm(i), *sms_[i].domain, sim::DomainKind::kSm, clock);
  for (std::uint32_t i = 0; i < n.partitions; ++i)
    engine.place(n.partition(i), *partitions_[i].domain, sim::DomainKind::kMemory, clock);
  sim::Domain& copies = gmmu_ ? static_cast<sim::Domain&>(*gmmu_) : copies_;  // the GMMU's drives the copies
  engine.place(n.copy_engine(), copies, sim::DomainKind::kOther, clock);
  if (peer_port_) engine.place(n.peer_port(), *peer_port_, sim::DomainKind::kOther, clock);
}

void Device::manage(const uvm::AddressSpace& space) {
  if (space.allocations().size() == managed_.allocations().size()) return;
  managed_.follow(space);
  gmmu_->grow();
}

void Device::settle(Cycle now) {
  for (const Part& part : sms_) part.domain->settle(now);
  for (const Part& part : partitions_) part.domain->settle(now);
}

void Device::collect(std::uint8_t slot, stats::KernelCounters& total) {
  for (const Part& part : sms_) part.counters->take_counters(slot, total);
  for (const Part& part : partitions_) part.counters->take_counters(slot, total);
  if (peer_port_) peer_port_->take_counters(slot, total);
}

void Device::take_profile(std::uint8_t slot, stats::KernelProfile& total) {
  for (const Part& part : sms_) part.counters->take_profile(slot, total);
}

mem::LineLockCounters Device::line_locks() const {
  mem::LineLockCounters all;
  for (const Part& part : partitions_)
    if (part.locks) all.add(part.locks());
  return all;
}

std::uint64_t Device::most_locked_lines() const {
  std::vector<mem::LockChange> all;
  for (const Part& part : partitions_)
    if (part.lock_changes) part.lock_changes(all);
  return mem::most_locked(std::move(all));
}

bool Device::lock_overdue(Cycle now) const {
  const std::uint64_t limit_ps = map_.locking().watchdog_ps;
  if (limit_ps == 0) return false;
  const Cycle edge = sim::ClockRatio(config_.clock.core_khz, config_.clock.l2_khz).floor(now);
  const Cycle limit = sim::cycles_of_ps(limit_ps, config_.clock.l2_khz);
  return std::ranges::any_of(partitions_, [&](const Part& part) {
    const Cycle since = part.oldest_lock ? part.oldest_lock() : kNever;
    return since != kNever && edge > since + limit;
  });
}

Cycle Device::earliest_cta_end(Cycle now) const {
  Cycle earliest = kNever;
  for (const Part& part : sms_)
    earliest = std::min(earliest, part.earliest_cta_end ? part.earliest_cta_end(now) : now);
  return earliest;
}

std::vector<const icnt::EntryLog*> Device::entries() const {
  std::vector<const icnt::EntryLog*> all;
  for (const Part& part : sms_)
    if (part.entries) all.push_back(&part.entries());
  return all;
}

std::vector<icnt::EntryTime> Device::visible_entries() const {
  std::vector<icnt::EntryTime> all;
  for (const Part& part : partitions_)
    if (part.visible_entries) part.visible_entries(all);
  return all;
}

void Device::empty_caches() {
  for (const Part& part : partitions_)
    if (part.empty_caches) part.empty_caches();
}

void Device::touch_l2(const mem::Touch& touch) {
  const std::uint32_t home = map_.home_slice(touch.line);
  const std::uint32_t near = map_.near_slice(touch.line, touch.half);
  // A store from the home's own half must reach the copy in the other half as well; any other store only the
  // home.
  const std::uint32_t other = !touch.store   ? near
                              : near == home ? map_.near_slice(touch.line, 1 - map_.half_of_slice(home))
                                             : home;
  for (const std::uint32_t slice : {home, other}) {
    const Part& part = partitions_[slice / config_.l2.slices_per_partition];
    if (part.touch) part.touch(slice, touch);
    if (home == other) return;
  }
}

void Device::learn(Address line) {
  for (const Part& part : sms_)
    if (part.learn) part.learn(line);
}

void Device::collect_copies(stats::KernelCounters& total) {
  for (const Part& part : partitions_) part.counters->take_counters(copy_slot_, total);
  copies_.take_counters(copy_slot_, total);
  if (peer_port_) peer_port_->take_counters(copy_slot_, total);
}

uvm::RunCounters Device::managed_counters() {
  uvm::RunCounters counters;
  counters.gmmu = gmmu_->counters();
  for (const Part& part : sms_) part.counters->add_translation(counters.tlb);
  return counters;
}

bool Device::quiescent() const {
  const auto idle = [](const Part& part) { return part.counters->quiescent(); };
  return dispatcher_.quiescent() && copies_.quiescent() && (!gmmu_ || gmmu_->quiescent()) &&
         (!peer_port_ || peer_port_->quiescent()) && std::all_of(sms_.begin(), sms_.end(), idle) &&
         std::all_of(partitions_.begin(), partitions_.end(), idle);
}

bool Device::at_rest() const {
  const auto rests = [](const Part& part) { return part.at_rest && part.at_rest(); };
  return dispatcher_.at_rest() && std::all_of(sms_.begin(), sms_.end(), rests);
}

template <class F>
void Device::for_each_busy(F&& f) const {
  for (std::size_t i = 0; i < sms_.size(); ++i)
    if (!sms_[i].counters->quiescent()) f(*sms_[i].domain, fmt::format("SM {}", i));
  for (std::size_t i = 0; i < partitions_.size(); ++i)
    if (!partitions_[i].counters->quiescent())
      f(*partitions_[i].domain, fmt::format("memory partition {}", i));
  if (!dispatcher_.quiescent()) f(dispatcher_, std::string("dispatcher"));
  if (!copies_.quiescent()) f(copies_, std::string("copy engine"));
  if (gmmu_ && !gmmu_->quiescent()) f(*gmmu_, std::string("GMMU"));
  if (peer_port_ && !peer_port_->quiescent()) f(*peer_port_, std::string("peer port"));
}

std::vector<std::string> Device::busy_domains() const {
  std::vector<std::string> names;
  for_each_busy([&](const auto&, std::string name) { names.push_back(std::move(name)); });
  return names;
}

std::string Device::dump() const {
  std::string text;
  for_each_busy([&](const auto& part, const std::string&) {
    part.dump(text);
    if (!text.empty() && text.back() != '\n') text += '\n';
  });
  for (const Part& part : partitions_)
    if (part.dump_idle_locks) part.dump_idle_locks(text);
  return text;
}

WindowLimit window_limit(const config::GpuConfig& config, const icnt::Fabric& fabric) {
  for (const icnt::Edge& edge : fabric.edges())
    if (edge.latency == 0) return {0, fmt::format("channel \"{}\" takes 0 core cycles", edge.name)};
  const Cycle longest = fabric.longest_window();
  if (longest == icnt::Fabric::kInboxWindow) return {longest, fmt::format("inboxes hold {} cycles", longest)};
  if (longest == config.cta_latency() / 2)
    return {longest,
            fmt::format("launch.cta_latency_ps is {} core cycles and a CTA is decoded in the window after "
                        "its dispatch",
                        config.cta_latency())};
  return {longest,
          fmt::format("launch.done_latency_ps is {} core cycles, and a kernel's end is known no earlier",
                      config.done_latency())};
}

}  // namespace lockstep::gpu
