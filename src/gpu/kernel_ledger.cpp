#include "gpu/kernel_ledger.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace lockstep::gpu {
namespace {

/// Sub-core cycles that no warp of the kernel used are empty, so that reasons sum to cycles * sub-cores.
void complete_stalls(stats::KernelResult& kernel) {
  auto& stalls = kernel.counters.sm.stalls;
  const std::uint64_t charged = std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
  const std::uint64_t all = kernel.cycles * kernel.subcores;
  if (charged > all)
    throw std::logic_error("kernel " + kernel.name + " has more stalls than sub-core cycles");
  stalls[static_cast<unsigned>(stats::Stall::kEmpty)] += all - charged;
}

}  // namespace

bool any(const stats::KernelCounters& counters) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(&counters);
  return std::any_of(words, words + sizeof counters / sizeof *words, [](std::uint64_t w) { return w != 0; });
}

std::uint64_t activity_of(const stats::KernelCounters& c) {
  return c.sm.warp_instructions + c.mem.dram_bytes;
}

KernelLedger::KernelLedger(Device& device, ProfileBook* profiles)
    : device_(&device),
      energy_(device.config()),
      dispatcher_(&device.dispatcher()),
      profiles_(profiles),
      of_slot_(device.kernels().size()) {}

Cycle KernelLedger::next_cut() const { return all_closed() ? kNever : dispatcher_->finished()[closed_].cut; }

std::vector<KernelLedger::Finished> KernelLedger::take_due(Cycle now) {
  const auto& finished = dispatcher_->finished();
  if (next_cut() < now) throw std::logic_error("a kernel's cut was passed");
  std::vector<Finished> due;
  while (closed_ < finished.size() && finished[closed_].cut == now) due.push_back(finished[closed_++]);
  return due;
}

/// Another kernel has the slot by now: what it counts is that kernel's.
bool KernelLedger::is_taken(std::uint8_t slot, const std::vector<Finished>& due) const {
  const auto& active = dispatcher_->active();
  const auto& finished = dispatcher_->finished();
  const auto in_slot = [slot](const Finished& kernel) { return kernel.slot == slot; };
  return std::find(active.begin(), active.end(), slot) != active.end() ||
         std::any_of(due.begin(), due.end(), in_slot) ||
         std::any_of(finished.begin() + static_cast<std::ptrdiff_t>(closed_), finished.end(), in_slot);
}

void KernelLedger::collect_late(const std::vector<Finished>& due, stats::KernelCounters& unattributed) {
  std::erase_if(lingering_, [&](std::uint8_t slot) {
    if (is_taken(slot, due)) return true;
    stats::KernelCounters late;
    device_->collect(slot, late);
    book(late, unattributed);
    return !any(late);
  });
}

stats::KernelResult KernelLedger::close(const Finished& kernel) {
  collect(kernel.slot);
  stats::KernelResult result = describe(kernel.kernel, kernel.floor);
  result.start_cycle = kernel.first_dispatch;
  result.cycles = kernel.end - kernel.first_dispatch;
  result.counters = std::exchange(of_slot_[kernel.slot], {});
  stats::add(finished_, result.counters);
  complete_stalls(result);
  if (profiles_) profiles_->enter(*device_, kernel.slot, result);
  result.energy = energy_.of(result.counters, result.cycles);
  lingering_.push_back(kernel.slot);
  return result;
}

stats::KernelResult KernelLedger::describe(std::uint32_t kernel, Cycle floor) const {
  const core::LaunchPlan& plan = dispatcher_->plan(kernel);
  const config::GpuConfig& config = device_->config();
  stats::KernelResult result;
  result.name = plan.header->name;
  result.id = plan.header->id;
  result.stream = plan.header->stream;
  result.grid = plan.header->grid;
  result.block = plan.header->block;
  result.launch_cycles = floor;
  result.ctas_per_sm = plan.occupancy.ctas_per_sm;
  const bool grid_limits = plan.ctas < std::uint64_t{plan.occupancy.ctas_per_sm} * config.gpu.sms;
  result.occupancy_limiter = grid_limits ? "grid" : plan.occupancy.limiter;
  result.subcores = std::uint64_t{config.gpu.sms} * config.sm.subcores;
  return result;
}

void KernelLedger::collect(std::uint8_t slot) {
  stats::KernelCounters part;
  device_->collect(slot, part);
  stats::add(of_slot_[slot], part);
  stats::add(interval_, part);
}

void KernelLedger::book(const stats::KernelCounters& part, stats::KernelCounters& unattributed) {
  stats::add(unattributed, part);
  stats::add(interval_, part);
}

void KernelLedger::collect_active() {
  for (const std::uint8_t slot : dispatcher_->active()) collect(slot);
  const auto& finished = dispatcher_->finished();
  for (std::size_t i = closed_; i < finished.size(); ++i) collect(finished[i].slot);
}

void KernelLedger::collect_rest(stats::KernelCounters& unattributed) {
  stats::KernelCounters rest;
  for (std::size_t slot = 0; slot < of_slot_.size(); ++slot)
    device_->collect(static_cast<std::uint8_t>(slot), rest);
  device_->collect_copies(rest);
  book(rest, unattributed);
}

void KernelLedger::collect_copies(stats::KernelCounters& unattributed) {
  stats::KernelCounters copies;
  device_->collect_copies(copies);
  book(copies, unattributed);
}

void KernelLedger::add_partial(Cycle now, std::vector<stats::KernelResult>& results) {
  collect_active();
  const auto add_one = [&](std::uint8_t index) {
    const core::Dispatcher::Slot& slot = dispatcher_->slot(index);
    if (slot.first_dispatch >= now) return;  // launched, but no CTA yet
    stats::KernelResult result = describe(slot.kernel, slot.floor);
    result.start_cycle = slot.first_dispatch;
    result.cycles = now - slot.first_dispatch;
    result.partial = true;
    result.counters = std::exchange(of_slot_[index], {});
    complete_stalls(result);
    if (profiles_) profiles_->enter(*device_, index, result);
    result.energy = energy_.of(result.counters, result.cycles);
    results.push_back(std::move(result));
  };
  const auto& finished = dispatcher_->finished();
  for (std::size_t i = closed_; i < finished.size(); ++i) add_one(finished[i].slot);
  for (const std::uint8_t slot : dispatcher_->active()) add_one(slot);
}

stats::IntervalSample KernelLedger::take_interval(Cycle now) {
  stats::IntervalSample sample;
  sample.counters = std::exchange(interval_, {});
  const Cycle begin = std::exchange(interval_begin_, now);
  sample.energy = energy_.of(sample.counters, std::max(now, begin) - begin);
  return sample;
}

std::uint64_t KernelLedger::warp_instructions() const {
  std::uint64_t sum = finished_.sm.warp_instructions;
  for (const stats::KernelCounters& counters : of_slot_) sum += counters.sm.warp_instructions;
  return sum;
}

std::uint64_t KernelLedger::activity() const {
  std::uint64_t sum = dispatcher_->events() + activity_of(finished_);
  for (const stats::KernelCounters& counters : of_slot_) sum += activity_of(counters);
  return sum;
}

}  // namespace lockstep::gpu
