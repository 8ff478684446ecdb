// What a run says of its managed memory, and when what happened.
#include "gpu/controller.hpp"
#include "gpu/timeline.hpp"
#include "sim/clock.hpp"

namespace lockstep::gpu {

void Controller::report_managed() {
  stats::RunReport& report = result_.report;
  if (!report.system) {
    report.managed = managed_of(0);
  } else {
    for (std::uint16_t d = 0; d < gmmus_.size(); ++d)
      report.system->managed.push_back(gmmus_[d] ? managed_of(d) : stats::ManagedReport{});
  }
  for (std::uint16_t d = 0; d < gmmus_.size(); ++d)
    if (gmmus_[d]) note_events(d);
}

/// For the timeline.
void Controller::note_events(std::uint16_t device) {
  for (const uvm::Event& e : events_[device]) {
    TimelineEvent& event =
        managed_events_.emplace_back(TimelineEvent{e.kind, e.start, e.end, 0, e.run.bytes(), device});
    if (e.kind == uvm::Event::Kind::kBatch) {
      event.bytes = e.run.pages;
    } else {
      event.address = plan_->managed.address({gmmus_[device]->table()[e.run.tree].id, e.run.first});
    }
  }
}

stats::ManagedReport Controller::managed_of(std::uint16_t device) {
  core::GmmuDomain& gmmu = *gmmus_[device];
  stats::ManagedReport managed;
  managed.footprint_bytes = plan_->managed.footprint();
  managed.allocations = plan_->managed.allocations().size();
  managed.device_bytes = gmmu.frames() * uvm::kPageBytes;
  managed.counters = system_->device(device).managed_counters();
  const config::GpuConfig& config = system_->device(device).config();
  const uvm::Parameters& p = config.uvm;
  if (p.fault_mode == uvm::FaultMode::kPerCycle && p.fault_cost == uvm::FaultCost::kAdditive)
    managed.added_fault_cycles =
        managed.counters.gmmu.faults *
        sim::cycles_of_ps(std::uint64_t{p.page_fault_ns} * 1000, config.clock.core_khz);
  for (const std::uint32_t i : plan_->managed.by_base()) {
    const uvm::Allocation& a = plan_->managed.allocations()[i];
    managed.by_allocation.push_back({a.base, a.bytes, gmmu.by_allocation()[i]});
  }
  managed.residency = residency_[device];
  managed.peers = gmmu.peers();
  return managed;
}

std::string Controller::timeline() const {
  return timeline_json(result_.report, managed_events_, system_->network_timeline(),
                       system_->link_timeline());
}

}  // namespace lockstep::gpu
