#include "core/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "sim/clock.hpp"
namespace lockstep::core {
namespace {

constexpr std::uint64_t kMilli = 1000;

icnt::CopyCommand::Path path_of(HostCommand::Kind kind) {
  using Path = icnt::CopyCommand::Path;
  if (kind == HostCommand::Kind::kFill) return Path::kFill;
  return kind == HostCommand::Kind::kDeviceCopy ? Path::kWithin : Path::kLink;
}

}  // namespace

Dispatcher::Dispatcher(const config::GpuConfig& config, icnt::Fabric& fabric, KernelTable& table,
                       std::vector<LaunchPlan> plans, std::vector<HostCommand> commands,
                       std::uint32_t streams)
    : launch_(config.launch),
      cta_latency_(config.cta_latency()),
      done_latency_(config.done_latency()),
      launch_cycles_(
          sim::cycles_of_ps(std::uint64_t{config.launch.latency_ns} * 1000, config.clock.core_khz)),
      copy_command_cycles_(sim::cycles_of_ps(config.host.command_latency_ps, config.clock.core_khz)),
      fabric_(&fabric),
      table_(&table),
      plans_(std::move(plans)),
      host_(std::move(commands), streams, config.host.copy_mode),
      placement_(config, config.launch.max_kernels),
      events_in_(sim::inbox_span(config.done_latency())),
      copies_in_(sim::inbox_span(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz))),
      orders_in_(sim::inbox_span(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz))),
      slots_(config.launch.max_kernels) {
  table_->assign(slots_.size(), KernelSlot{});
}

void Dispatcher::set_source(HostSource& source) {
  source_ = &source;
  host_.open();
}

std::unique_ptr<ClockLog> Dispatcher::take_clocks(std::uint32_t kernel) {
  const auto found = clocks_.find(kernel);
  if (found == clocks_.end()) return nullptr;
  auto log = std::move(found->second);
  clocks_.erase(found);
  return log;
}

Cycle Dispatcher::advance(Cycle from, Cycle to) {
  events_in_.gather(*fabric_->cta_event, 0, from);
  copies_in_.gather(*fabric_->copy_done, 0, from);
  if (fabric_->order_done) orders_in_.gather(*fabric_->order_done, 0, from);
  Cycle now = std::max(from, next_event(from));
  while (now < to) {
    receive(now);
    proceed(now);
    launch(now);
    dispatch(now);
    now = std::max(now + 1, next_event(now + 1));
  }
  return now;
}

void Dispatcher::receive(Cycle now) {
  events_in_.drain(now, [&](std::uint32_t sm, const icnt::CtaEvent& event) { hear(now, sm, event); });
  copies_in_.drain(now, [&](std::uint32_t, const icnt::CopyDone& done) {
    copied_.push_back({done.index, done.start, done.end});
    host_.copy_done(done.index, done.end, now);
    idle_ = false;
  });
  orders_in_.drain(now, [&](std::uint32_t, const icnt::OrderDone& done) {
    host_.copy_done(done.index, now, now);
    idle_ = false;
  });
}

void Dispatcher::hear(Cycle now, std::uint32_t sm, const icnt::CtaEvent& event) {
  ++events_;
  Slot& slot = slots_[event.kernel];
  if (event.kind == icnt::CtaEvent::Kind::kFreed) {
    ++slot.freed;
    placement_.release(sm, plans_[slot.kernel].occupancy, event.kernel);
    blocked_ = false;
    return;
  }
  slot.end = std::max(slot.end, event.time);
  if (++slot.drained == plans_[slot.kernel].ctas) complete(now, event.kernel);
}

void Dispatcher::complete(Cycle now, std::uint8_t index) {
  Slot& slot = slots_[index];
  slot.state = SlotState::kFinished;
  slot.cut = now + done_latency_;
  finished_.push_back({slot.kernel, slot.command, index, slot.first_dispatch, slot.end, slot.cut});
  active_.erase(std::find(active_.begin(), active_.end(), index));
  host_.kernel_done(slot.command, slot.end, now);
  idle_ = false;
}

void Dispatcher::proceed(Cycle now) {
  if (idle_) return;
  const auto copy = [&](std::uint32_t command) { send_copy(now, command); };
  host_.proceed(copy);
  while (source_ && host_.at_end()) {
    source_->more(host_);
    host_.proceed(copy);
  }
}

void Dispatcher::send_copy(Cycle now, std::uint32_t index) {
  const HostCommand& command = host_.command(index);
  if (is_order(command)) {
    uvm::Order order = command.order;
    order.index = index;
    fabric_->order->send(0, 0, now + copy_command_cycles_, order);
    return;
  }
  fabric_->copy_command->send(
      0, 0, now + copy_command_cycles_,
      {index, is_copy_to_device(command), command.address, command.bytes, path_of(command.kind)});
}

void Dispatcher::launch(Cycle now) {
  idle_ = true;
  while (host_.has_ready()) {
    const int index = free_slot(now);
    if (index < 0) return;
    start(now, static_cast<std::uint8_t>(index), host_.pop_ready());
  }
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

void Dispatcher::start(Cycle now, std::uint8_t index, const HostQueue::Ready& ready) {
  Slot& slot = slots_[index];
  slot = Slot{};
  slot.state = SlotState::kActive;
  slot.command = ready.command;
  slot.kernel = host_.command(ready.command).kernel;
  slot.due = std::max(now, ready.since + launch_cycles_);
  const LaunchPlan& plan = plans_[slot.kernel];
  KernelSlot& entry = (*table_)[index];
  entry = KernelSlot{};  // the feed is opened at the next serial point, before the first CTA arrives
  entry.header = plan.header;
  entry.launch_sequence = ++launches_;
  entry.warps_per_cta = plan.occupancy.warps_per_cta;
  entry.registers_per_warp = plan.occupancy.registers_per_warp;
  entry.shared_bytes = plan.occupancy.shared_bytes;
  entry.code_base = plan.code_base;
  if (plan.log_clocks) {
    auto& log = clocks_[slot.kernel];
    log = std::make_unique<ClockLog>(plan.ctas, plan.occupancy.warps_per_cta);
    entry.clocks = log.get();
  }
  active_.push_back(index);
  if (fabric_->order) {
    uvm::Order notice;
    notice.kind = uvm::Order::Kind::kKernel;
    fabric_->order->send(0, 0, now + copy_command_cycles_, notice);
  }
  const auto before = [&](std::uint8_t a, std::uint8_t b) {
    return std::pair(slots_[a].due, slots_[a].command) < std::pair(slots_[b].due, slots_[b].command);
  };
  // The first of the queue keeps its place once it has sent a CTA.
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
    const auto choice = placement_.place(plans_[slot.kernel].occupancy, index);
    if (!choice) {
      blocked_ = true;
      return;
    }
    send_cta(now, index, *choice);
  }
}

void Dispatcher::send_cta(Cycle now, std::uint8_t index, const Placement::Choice& choice) {
  Slot& slot = slots_[index];
  port_free_milli_ = std::max(port_free_milli_, now * kMilli) + launch_.dispatch_interval_milli;
  slot.first_dispatch = std::min(slot.first_dispatch, now);
  fabric_->launch->send(0, choice.sm, now + cta_latency_, {slot.dispatched, index, choice.carveout});
  if (++slot.dispatched == plans_[slot.kernel].ctas) queue_.erase(queue_.begin());
}

Cycle Dispatcher::next_event(Cycle now) const {
  Cycle next = std::min({events_in_.next_arrival(), copies_in_.next_arrival(), orders_in_.next_arrival()});
  if (!idle_) return now;
  if (!queue_.empty() && !blocked_)
    next = std::min(next, std::max(slots_[queue_.front()].due, port_free_milli_ / kMilli));
  if (host_.has_ready())  // for want of a slot
    for (const Slot& slot : slots_)
      if (slot.state == SlotState::kFinished && slot.cut >= now) next = std::min(next, slot.cut);
  return next;
}

bool Dispatcher::quiescent() const {
  return host_.done() && active_.empty() && placement_.empty() && events_in_.size() == 0 &&
         copies_in_.size() == 0 && orders_in_.size() == 0;
}

void Dispatcher::dump(std::string& out) const {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "dispatcher: {} host commands taken, {} kernels and {} copies not complete\n",
                 host_.taken(), host_.kernels_out(), host_.copies_out());
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
