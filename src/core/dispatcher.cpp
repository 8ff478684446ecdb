#include "core/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/cluster_order.hpp"
#include "sim/clock.hpp"

namespace lockstep::core {
namespace {

constexpr std::uint64_t kMilli = 1000;

}  // namespace

Dispatcher::Dispatcher(const config::GpuConfig& config, icnt::Fabric& fabric, KernelTable& table)
    : launch_(config.launch),
      cta_latency_(config.cta_latency()),
      done_latency_(config.done_latency()),
      launch_cycles_(
          sim::cycles_of_ps(std::uint64_t{config.launch.latency_ns} * 1000, config.clock.core_khz)),
      node_cycles_(std::min(
          launch_cycles_,
          sim::cycles_of_ps(std::uint64_t{config.launch.graph_node_ns} * 1000, config.clock.core_khz))),
      copy_command_cycles_(sim::cycles_of_ps(config.host.command_latency_ps, config.clock.core_khz)),
      fabric_(&fabric),
      table_(&table),
      placement_(config, config.launch.max_kernels),
      events_in_(sim::inbox_span(config.done_latency() + config.sync.membar_system)),
      copies_in_(sim::inbox_span(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz))),
      managed_in_(sim::inbox_span(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz))),
      slots_(config.launch.max_kernels) {
  table_->assign(slots_.size(), KernelSlot{});
}

void Dispatcher::set_plan(std::uint32_t kernel, const LaunchPlan& plan) {
  if (kernel >= plans_.size()) plans_.resize(kernel + std::size_t{1});
  plans_[kernel] = plan;
}

std::unique_ptr<ClockLog> Dispatcher::take_clocks(std::uint32_t kernel) {
  const auto found = clocks_.find(kernel);
  if (found == clocks_.end()) return nullptr;
  auto log = std::move(found->second);
  clocks_.erase(found);
  return log;
}

void Dispatcher::gather(Cycle from) {
  events_in_.gather(*fabric_->cta_event, 0, from);
  copies_in_.gather(*fabric_->copy_done, 0, from);
  if (fabric_->managed_done) managed_in_.gather(*fabric_->managed_done, 0, from);
}

void Dispatcher::receive(Cycle now) {
  using Kind = Completion::Kind;
  completions_.clear();
  events_in_.drain(now, [&](std::uint32_t sm, const icnt::CtaEvent& event) { take_event(now, sm, event); });
  copies_in_.drain(now, [&](std::uint32_t, const icnt::CopyDone& done) {
    completions_.push_back({Kind::kCopy, done.index, done.start, done.end});
  });
  managed_in_.drain(now, [&](std::uint32_t, const icnt::ManagedCommandDone& done) {
    completions_.push_back({Kind::kManagedCommand, done.index, now, now});
  });
  complete_estimated(now);
}

void Dispatcher::take_event(Cycle now, std::uint32_t sm, const icnt::CtaEvent& event) {
  ++events_;
  Slot& slot = slots_[event.kernel];
  if (event.kind == icnt::CtaEvent::Kind::kFreed) {
    ++slot.freed;
    placement_.release(sm, plans_[slot.kernel].occupancy, event.kernel);
    blocked_ = false;
    return;
  }
  slot.end = std::max(slot.end, event.time);
  if (++slot.drained + slot.left_out < plans_[slot.kernel].ctas) return;
  if (slot.left_out == 0) return complete(now, event.kernel);
  const Cycle more = chooser_->left_out_cycles(event.kernel);
  slot.end += more;
  estimated_ends_.emplace(now + more, event.kernel);
}

void Dispatcher::complete_estimated(Cycle now) {
  while (!estimated_ends_.empty() && estimated_ends_.begin()->first <= now) {
    const std::uint8_t index = estimated_ends_.begin()->second;
    estimated_ends_.erase(estimated_ends_.begin());
    complete(now, index);
  }
}

/// Whether the launch is timed.
void Dispatcher::choose(Cycle now, std::uint8_t index) {
  Slot& slot = slots_[index];
  const LaunchChoice choice = chooser_->choose(slot.command, index);
  slot.timed = choice.timed;
  slot.mark = choice.mark;
  if (choice.prepare) {
    stop(now, index, true);
    slot.due = std::max(slot.due, stops_.back().cut);
  }
  if (choice.timed) return;
  slot.first_dispatch = slot.due;
  slot.end = slot.due + std::max<Cycle>(choice.cycles, 1);
  estimated_ends_.emplace(slot.end, index);
}

void Dispatcher::stop(Cycle now, std::uint8_t index, bool launch) {
  stops_.push_back({now + done_latency_, index, launch});
}

void Dispatcher::leave_out(std::uint8_t index, std::uint64_t ctas) {
  slots_[index].dispatched += ctas;
  slots_[index].wanted = slots_[index].dispatched;
  slots_[index].left_out += ctas;
}

void Dispatcher::complete(Cycle now, std::uint8_t index) {
  Slot& slot = slots_[index];
  slot.state = SlotState::kFinished;
  slot.cut = now + done_latency_;
  finished_.push_back(
      {slot.kernel, slot.command, index, slot.first_dispatch, slot.end, slot.cut, slot.floor});
  active_.erase(std::find(active_.begin(), active_.end(), index));
  completions_.push_back({Completion::Kind::kKernel, slot.command, slot.first_dispatch, slot.end});
}

void Dispatcher::send_copy(Cycle now, const icnt::CopyCommand& copy) {
  const std::uint32_t to = copy.path == icnt::CopyCommand::Path::kPeer ? 1 : 0;  // the peer port
  fabric_->copy_command->send(0, to, now + copy_command_cycles_, copy);
}

void Dispatcher::send_managed(Cycle now, const uvm::ManagedCommand& managed) {
  fabric_->managed_command->send(0, 0, now + copy_command_cycles_, managed);
}

Cycle Dispatcher::slot_free_from(Cycle now) const {
  if (free_slot(now) >= 0) return now;
  Cycle next = kNever;
  for (const Slot& slot : slots_)
    if (slot.state == SlotState::kFinished && slot.cut > now) next = std::min(next, slot.cut);
  return next;
}

int Dispatcher::free_slot(Cycle now) const {
  if (launch_.cache_control == config::CacheControl::kAll) {
    const auto ended = [&](const Slot& s) { return s.state == SlotState::kFree || s.cut <= now; };
    if (!std::all_of(slots_.begin(), slots_.end(), ended)) return -1;
  }
  // In turn, so that late counts of a kernel that has ended (write-backs) are not taken for its successor's.
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t index = (launches_ + i) % slots_.size();
    const Slot& slot = slots_[index];
    if (slot.state == SlotState::kFree || (slot.state == SlotState::kFinished && slot.cut <= now))
      return static_cast<int>(index);
  }
  return -1;
}

void Dispatcher::launch(Cycle now, const Launch& launch) {
  const auto index = static_cast<std::uint8_t>(free_slot(now));
  Slot& slot = slots_[index];
  slot = Slot{};
  slot.state = SlotState::kActive;
  slot.command = launch.command;
  slot.kernel = launch.kernel;
  slot.floor = launch.graph_node ? node_cycles_ : launch_cycles_;
  slot.due = std::max(now, launch.since + slot.floor);
  const LaunchPlan& plan = plans_[launch.kernel];
  KernelSlot& entry = (*table_)[index];
  entry = KernelSlot{};  // the feed is opened at the next serial point, before the first CTA arrives
  entry.header = plan.header;
  entry.launch_sequence = ++launches_;
  entry.warps_per_cta = plan.occupancy.warps_per_cta;
  entry.registers_per_warp = plan.occupancy.registers_per_warp;
  entry.shared_bytes = plan.occupancy.shared_bytes;
  entry.code_base = plan.code_base;
  entry.l2 = plan.l2;
  entry.clustered = plan.cluster > 1;
  if (plan.log_clocks) {
    auto& log = clocks_[launch.kernel];
    log = std::make_unique<ClockLog>(plan.ctas, plan.occupancy.warps_per_cta);
    entry.clocks = log.get();
  }
  active_.push_back(index);
  if (fabric_->managed_command) {
    uvm::ManagedCommand notice;
    notice.kind = uvm::ManagedCommand::Kind::kKernel;
    send_managed(now, notice);
  }
  if (chooser_) choose(now, index);
  if (slot.timed) enqueue(index);
}

/// Among the kernels with CTAs left. The first of the queue keeps its place once it has sent a CTA.
void Dispatcher::enqueue(std::uint8_t index) {
  const auto before = [&](std::uint8_t a, std::uint8_t b) {
    return std::pair(slots_[a].due, slots_[a].command) < std::pair(slots_[b].due, slots_[b].command);
  };
  auto begin = queue_.begin();
  if (begin != queue_.end() && slots_[*begin].dispatched > 0) ++begin;
  queue_.insert(std::upper_bound(begin, queue_.end(), index, before), index);
  blocked_ = blocked_ && queue_.front() != index;
}

void Dispatcher::dispatch(Cycle now) {
  while (!queue_.empty() && !blocked_) {
    const std::uint8_t index = queue_.front();
    const Slot& slot = slots_[index];
    if (slot.due > now || port_free_milli_ >= (now + 1) * kMilli) return;
    if (plans_[slot.kernel].cluster > 1 ? send_cluster(now, index) : send_next(now, index)) continue;
    blocked_ = true;
  }
}

/// False: no SM has room.
bool Dispatcher::send_next(Cycle now, std::uint8_t index) {
  Slot& slot = slots_[index];
  const auto choice = placement_.place(plans_[slot.kernel].occupancy, index);
  if (!choice) return false;
  fabric_->launch->send(0, choice->sm, now + cta_latency_, {slot.dispatched, index, choice->carveout, {}});
  slot.wanted = slot.dispatched + 1;
  end_dispatch(now, index, 1);
  return true;
}

/// False: no GPC has room.
bool Dispatcher::send_cluster(Cycle now, std::uint8_t index) {
  Slot& slot = slots_[index];
  const LaunchPlan& plan = plans_[slot.kernel];
  const ClusterOrder order(*plan.header);
  std::array<Placement::Choice, trace::kMaxClusterCtas> choices{};
  const auto placed = std::span(choices).first(plan.cluster);
  if (!placement_.place_cluster(plan.occupancy, index, placed)) return false;
  icnt::ClusterPlace place;
  place.number = slot.dispatched / plan.cluster;
  place.ranks = static_cast<std::uint8_t>(plan.cluster);
  for (std::uint32_t rank = 0; rank < plan.cluster; ++rank)
    place.sms[rank] = static_cast<std::uint16_t>(placed[rank].sm);
  for (std::uint32_t rank = 0; rank < plan.cluster; ++rank) {
    const std::uint64_t cta = order.cta(slot.dispatched + rank);
    slot.wanted = std::max(slot.wanted, cta + 1);
    place.rank = static_cast<std::uint8_t>(rank);
    fabric_->launch->send(0, placed[rank].sm, now + cta_latency_, {cta, index, placed[rank].carveout, place});
  }
  end_dispatch(now, index, plan.cluster);
  return true;
}

void Dispatcher::end_dispatch(Cycle now, std::uint8_t index, std::uint32_t ctas) {
  Slot& slot = slots_[index];
  port_free_milli_ =
      std::max(port_free_milli_, now * kMilli) + std::uint64_t{ctas} * launch_.dispatch_interval_milli;
  slot.first_dispatch = std::min(slot.first_dispatch, now);
  slot.dispatched += ctas;
  if (slot.dispatched == plans_[slot.kernel].ctas) queue_.erase(queue_.begin());
  if (slot.dispatched == slot.mark) stop(now, index, false);
}

Cycle Dispatcher::next_event() const {
  Cycle next = std::min({events_in_.next_arrival(), copies_in_.next_arrival(), managed_in_.next_arrival()});
  if (!queue_.empty() && !blocked_)
    next = std::min(next, std::max(slots_[queue_.front()].due, port_free_milli_ / kMilli));
  if (!estimated_ends_.empty()) next = std::min(next, estimated_ends_.begin()->first);
  return next;
}

bool Dispatcher::quiescent() const {
  return active_.empty() && placement_.empty() && events_in_.size() == 0 && copies_in_.size() == 0 &&
         managed_in_.size() == 0;
}

bool Dispatcher::at_rest() const {
  return placement_.empty() && std::all_of(active_.begin(), active_.end(),
                                           [&](std::uint8_t index) { return slots_[index].dispatched == 0; });
}

void Dispatcher::dump(std::string& out) const {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "dispatcher: {} kernels not complete\n", active_.size());
  for (const std::uint8_t index : active_) {
    const Slot& slot = slots_[index];
    const LaunchPlan& plan = plans_[slot.kernel];
    fmt::format_to(
        to, "  kernel {} ({}) in slot {}: {} of {} CTAs dispatched, {} freed, {} drained{}\n",
        plan.header->id, plan.header->name, index, slot.dispatched, plan.ctas, slot.freed, slot.drained,
        blocked_ && !queue_.empty() && queue_.front() == index ? ", no SM has room for the next" : "");
  }
}

}  // namespace lockstep::core
