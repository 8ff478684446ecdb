#include "gpu/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::gpu {

Machine::Machine(const config::GpuConfig& config, const Plan& plan, const Builder& builder, bool skip)
    : config_(config),
      managed_(plan.managed),
      fabric_(config_, plan.manages),
      map_(config_),
      copy_slot_(static_cast<std::uint8_t>(config_.launch.max_kernels)) {
  const icnt::Numbering& n = fabric_.numbering();
  dispatcher_ = std::make_unique<core::Dispatcher>(config_, fabric_, kernels_, plan.kernels, plan.commands,
                                                   plan.streams);
  copies_ = std::make_unique<core::CopyEngine>(config_, fabric_, map_, copy_slot_);
  const uvm::AddressSpace* managed = plan.manages ? &managed_ : nullptr;
  if (managed)
    gmmu_ = std::make_unique<core::GmmuDomain>(config_, fabric_, *managed, plan.managed_frames, *copies_);
  const Wiring wiring{config_, fabric_, map_, kernels_, skip, managed};
  for (std::uint32_t i = 0; i < n.sms; ++i) sms_.push_back(builder.sm(wiring, i));
  for (std::uint32_t i = 0; i < n.partitions; ++i) partitions_.push_back(builder.partition(wiring, i));
}

void Machine::attach(sim::Engine& engine) {
  for (const Part& part : sms_) engine.add(*part.domain, sim::DomainKind::kSm);
  for (const Part& part : partitions_) engine.add(*part.domain, sim::DomainKind::kMemory);
  engine.add(*dispatcher_, sim::DomainKind::kOther);
  if (gmmu_) {
    engine.add(*gmmu_, sim::DomainKind::kOther);  // with the copy engine
  } else {
    engine.add(*copies_, sim::DomainKind::kOther);
  }
  fabric_.register_with(engine);
}

void Machine::manage(const uvm::AddressSpace& space) {
  if (space.allocations().size() == managed_.allocations().size()) return;
  managed_.follow(space);
  gmmu_->grow();
}

void Machine::settle(Cycle now) {
  for (const Part& part : sms_) part.domain->settle(now);
  for (const Part& part : partitions_) part.domain->settle(now);
}

void Machine::collect(std::uint8_t slot, stats::KernelCounters& total) {
  for (const Part& part : sms_) part.counters->take_counters(slot, total);
  for (const Part& part : partitions_) part.counters->take_counters(slot, total);
}

void Machine::empty_caches() {
  for (const Part& part : partitions_)
    if (part.empty_caches) part.empty_caches();
}

void Machine::collect_copies(stats::KernelCounters& total) {
  for (const Part& part : partitions_) part.counters->take_counters(copy_slot_, total);
  copies_->take_counters(copy_slot_, total);
}

uvm::RunCounters Machine::managed_counters() {
  uvm::RunCounters counters;
  counters.gmmu = gmmu_->counters();
  for (const Part& part : sms_) part.counters->add_translation(counters.tlb);
  return counters;
}

bool Machine::quiescent() const {
  const auto idle = [](const Part& part) { return part.counters->quiescent(); };
  return dispatcher_->quiescent() && copies_->quiescent() && (!gmmu_ || gmmu_->quiescent()) &&
         std::all_of(sms_.begin(), sms_.end(), idle) &&
         std::all_of(partitions_.begin(), partitions_.end(), idle);
}

template <class F>
void Machine::for_each_busy(F&& f) const {
  for (std::size_t i = 0; i < sms_.size(); ++i)
    if (!sms_[i].counters->quiescent()) f(*sms_[i].domain, fmt::format("SM {}", i));
  for (std::size_t i = 0; i < partitions_.size(); ++i)
    if (!partitions_[i].counters->quiescent())
      f(*partitions_[i].domain, fmt::format("memory partition {}", i));
  if (!dispatcher_->quiescent()) f(*dispatcher_, std::string("dispatcher"));
  if (!copies_->quiescent()) f(*copies_, std::string("copy engine"));
  if (gmmu_ && !gmmu_->quiescent()) f(*gmmu_, std::string("GMMU"));
}

std::string Machine::busy_domains() const {
  std::string names;
  for_each_busy(
      [&](const sim::Domain&, const std::string& name) { names += (names.empty() ? "" : ", ") + name; });
  return names;
}

std::string Machine::dump() const {
  std::string text;
  for_each_busy([&](const sim::Domain& domain, const std::string&) {
    domain.dump(text);
    if (!text.empty() && text.back() != '\n') text += '\n';
  });
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
