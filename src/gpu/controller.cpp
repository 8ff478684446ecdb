#include "gpu/controller.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "gpu/timeline.hpp"
#include "sim/clock.hpp"

namespace lockstep::gpu {
namespace {

constexpr Cycle kGrid = Cycle{1} << 20;  // core cycles between two looks of the watchdog
constexpr Cycle kPatience = 50'000'000;  // core cycles without any activity that make a deadlock
constexpr auto kProgressEvery = std::chrono::milliseconds(100);

bool any(const stats::KernelCounters& counters) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(&counters);
  return std::any_of(words, words + sizeof counters / sizeof *words, [](std::uint64_t w) { return w != 0; });
}

std::uint64_t activity_of(const stats::KernelCounters& c) {
  return c.sm.warp_instructions + c.mem.l2.accesses + c.mem.dram_bytes + c.icnt.requests + c.icnt.replies;
}

/// Sub-core cycles that no warp of the kernel used are empty, so that reasons sum to cycles * sub-cores.
void complete_stalls(stats::KernelResult& kernel) {
  auto& stalls = kernel.counters.sm.stalls;
  const std::uint64_t charged = std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
  const std::uint64_t all = kernel.cycles * kernel.subcores;
  if (charged > all)
    throw std::logic_error("kernel " + kernel.name + " has more stalls than sub-core cycles");
  stalls[static_cast<unsigned>(stats::Stall::kEmpty)] += all - charged;
}

const char* copy_kind(const core::HostCommand& command) {
  if (command.kind == core::HostCommand::Kind::kFill) return "fill";
  if (command.kind == core::HostCommand::Kind::kDeviceCopy) return "device_to_device";
  return is_copy_to_device(command) ? "host_to_device" : "device_to_host";
}

}  // namespace

Controller::Controller(const RunOptions& options, const Plan& plan, Machine& machine, FeedSet& feeds,
                       const sim::Engine& engine, stats::RunReport report)
    : options_(&options),
      plan_(&plan),
      machine_(&machine),
      feeds_(&feeds),
      engine_(&engine),
      dispatcher_(&machine.dispatcher()),
      of_slot_(machine.kernels().size()),
      grid_(kGrid) {
  result_.report = std::move(report);
  if (options.timeline && machine.gmmu()) machine.gmmu()->record(&events_);
}

Cycle Controller::boundary(Cycle now) {
  if (plan_->needs_gmmu) {
    stopped_ = true;
    return kNever;
  }
  time_kernels();
  machine_->manage(plan_->managed);
  close_finished(now);
  note_copies();
  const bool done = work_done();
  if (done) {
    if (machine_->quiescent()) finish(now, Outcome::kDone);
  } else {
    if (options_->interval && now > 0 && now % options_->interval == 0) sample(now);
    const bool limit = options_->max_cycles && now >= options_->max_cycles;
    if (limit || now == grid_) watch(now);
    if (!stopped_ && limit) finish(now, Outcome::kMaxCycles);
  }
  if (!stopped_ && options_->interrupted && options_->interrupted()) finish(now, Outcome::kInterrupted);
  report_progress(now);
  return next_cut(now);
}

/// The host's clock is read only where a stretch of kernels begins or ends.
void Controller::time_kernels() {
  if (dispatcher_->active().empty() != kernel_runs_) return;
  kernel_runs_ = !kernel_runs_;
  const auto now = Clock::now();
  if (!kernel_runs_) kernel_time_ += now - kernel_since_;
  kernel_since_ = now;
}

double Controller::kernel_seconds() const {
  const auto open = kernel_runs_ ? Clock::now() - kernel_since_ : Clock::duration{};
  return std::chrono::duration<double>(kernel_time_ + open).count();
}

Cycle Controller::next_cut(Cycle now) const {
  const auto& finished = dispatcher_->finished();
  Cycle cut = closed_ < finished.size() ? finished[closed_].cut : kNever;
  if (work_done()) return cut;
  cut = std::min(cut, grid_);
  if (options_->max_cycles) cut = std::min(cut, std::max(options_->max_cycles, now + 1));
  if (options_->interval) cut = std::min(cut, (now / options_->interval + 1) * options_->interval);
  return cut;
}

bool Controller::work_done() const {
  return dispatcher_->done() && closed_ == dispatcher_->finished().size();
}

void Controller::close_finished(Cycle now) {
  const auto& finished = dispatcher_->finished();
  if (closed_ == finished.size() || finished[closed_].cut > now) return;
  if (finished[closed_].cut < now) throw std::logic_error("a kernel's cut was passed");
  machine_->settle(now);
  std::vector<core::Dispatcher::Finished> batch;
  while (closed_ < finished.size() && finished[closed_].cut == now) batch.push_back(finished[closed_++]);
  std::stable_sort(batch.begin(), batch.end(), [](const auto& a, const auto& b) {
    return std::pair(a.end, a.command) < std::pair(b.end, b.command);
  });
  const auto& active = dispatcher_->active();
  const auto in_slot = [](std::uint8_t slot) {
    return [slot](const auto& kernel) { return kernel.slot == slot; };
  };
  std::erase_if(lingering_, [&](std::uint8_t slot) {
    // Another kernel has the slot by now: what it counts is that kernel's.
    if (std::find(active.begin(), active.end(), slot) != active.end()) return true;
    if (std::any_of(batch.begin(), batch.end(), in_slot(slot))) return true;
    if (std::any_of(finished.begin() + static_cast<std::ptrdiff_t>(closed_), finished.end(), in_slot(slot)))
      return true;
    stats::KernelCounters late;
    machine_->collect(slot, late);
    stats::add(result_.report.unattributed, late);
    stats::add(interval_, late);
    return !any(late);
  });
  for (const auto& kernel : batch) close_kernel(kernel);
  // The next kernel starts after this cut (Dispatcher).
  if (options_->config.launch.cache_control == config::CacheControl::kAll) machine_->empty_caches();
  note_copies();
  refresh_notes();
  result_.report.total_cycles = last_end_;
  if (options_->on_kernel_done) options_->on_kernel_done(result_.report);
}

void Controller::close_kernel(const core::Dispatcher::Finished& kernel) {
  collect(kernel.slot);
  stats::KernelResult result = describe(kernel.kernel);
  result.start_cycle = kernel.first_dispatch;
  result.cycles = kernel.end - kernel.first_dispatch;
  result.counters = std::exchange(of_slot_[kernel.slot], {});
  stats::add(finished_, result.counters);
  complete_stalls(result);
  result_.report.kernels.push_back(std::move(result));
  last_end_ = std::max(last_end_, kernel.end);
  feeds_->close(kernel.slot);
  lingering_.push_back(kernel.slot);
}

stats::KernelResult Controller::describe(std::uint32_t kernel) const {
  const core::LaunchPlan& plan = dispatcher_->plan(kernel);
  const config::GpuConfig& config = options_->config;
  stats::KernelResult result;
  result.name = plan.header->name;
  result.id = plan.header->id;
  result.stream = plan.header->stream;
  result.grid = plan.header->grid;
  result.block = plan.header->block;
  result.launch_cycles = dispatcher_->launch_cycles();
  result.ctas_per_sm = plan.occupancy.ctas_per_sm;
  const bool grid_limits = plan.ctas < std::uint64_t{plan.occupancy.ctas_per_sm} * config.gpu.sms;
  result.occupancy_limiter = grid_limits ? "grid" : plan.occupancy.limiter;
  result.subcores = std::uint64_t{config.gpu.sms} * config.sm.subcores;
  return result;
}

void Controller::note_copies() {
  const auto& copied = dispatcher_->copied();
  for (; copies_noted_ < copied.size(); ++copies_noted_) {
    const core::Dispatcher::Copied& copy = copied[copies_noted_];
    const core::HostCommand& command = dispatcher_->command(copy.command);
    result_.report.copies.push_back(
        {copy_kind(command), command.address, command.bytes, copy.start, copy.end - copy.start});
    last_end_ = std::max(last_end_, copy.end);
  }
}

void Controller::collect(std::uint8_t slot) {
  stats::KernelCounters part;
  machine_->collect(slot, part);
  stats::add(of_slot_[slot], part);
  stats::add(interval_, part);
}

void Controller::collect_active(Cycle now) {
  machine_->settle(now);
  for (const std::uint8_t slot : dispatcher_->active()) collect(slot);
  const auto& finished = dispatcher_->finished();
  for (std::size_t i = closed_; i < finished.size(); ++i) collect(finished[i].slot);
}

void Controller::collect_rest() {
  stats::KernelCounters rest;
  for (std::size_t slot = 0; slot < of_slot_.size(); ++slot)
    machine_->collect(static_cast<std::uint8_t>(slot), rest);
  machine_->collect_copies(rest);
  stats::add(result_.report.unattributed, rest);
  stats::add(interval_, rest);
}

void Controller::sample(Cycle now) {
  collect_active(now);
  stats::KernelCounters copies;
  machine_->collect_copies(copies);
  stats::add(result_.report.unattributed, copies);
  stats::add(interval_, copies);
  result_.report.intervals.push_back({now, std::exchange(interval_, {})});
  if (machine_->gmmu()) residency_.push_back({now, machine_->gmmu()->frames_used()});
}

std::uint64_t Controller::activity() const {
  std::uint64_t sum = dispatcher_->events() + dispatcher_->copied().size() + activity_of(finished_);
  for (const stats::KernelCounters& counters : of_slot_) sum += activity_of(counters);
  if (machine_->gmmu()) sum += machine_->gmmu()->activity();
  return sum + activity_of(result_.report.unattributed);
}

/// At cuts only, so that a deadlock is found at the same cycle for every window.
void Controller::watch(Cycle now) {
  if (now == grid_) grid_ += kGrid;
  if (engine_->earliest() == kNever) return finish(now, Outcome::kDeadlock);
  collect_active(now);
  const std::uint64_t current = activity();
  // A copy may cross the link for long without touching anything else, a far fault may be handled for long;
  // their ends are certain.
  const bool faults = machine_->gmmu() && machine_->gmmu()->end_is_known();
  if (current != last_activity_ || dispatcher_->copies_out() > 0 || faults) stuck_since_ = now;
  last_activity_ = current;
  if (now - stuck_since_ >= kPatience) finish(now, Outcome::kDeadlock);
}

void Controller::exhausted(Cycle now) { finish(now, work_done() ? Outcome::kDone : Outcome::kDeadlock); }

void Controller::finish(Cycle now, Outcome outcome) {
  machine_->manage(plan_->managed);
  static constexpr const char* kReasons[] = {"", "max-cycles", "interrupted", "deadlock"};
  stats::RunReport& report = result_.report;
  stopped_ = true;
  note_copies();
  if (outcome != Outcome::kDone && work_done()) outcome = Outcome::kDone;
  result_.outcome = outcome;
  report.partial = outcome != Outcome::kDone;
  report.partial_reason = kReasons[static_cast<unsigned>(outcome)];
  report.total_cycles = report.partial ? now : last_end_;
  if (outcome == Outcome::kDeadlock) result_.dump = machine_->dump();
  if (outcome == Outcome::kDone) left_over_ = machine_->busy_domains();
  if (report.partial) add_partial_kernels(now);
  collect_rest();
  if (options_->interval && any(interval_)) report.intervals.push_back({report.total_cycles, interval_});
  refresh_notes();
  if (machine_->gmmu()) report_managed();
}

void Controller::report_managed() {
  stats::ManagedReport managed;
  managed.footprint_bytes = plan_->managed.footprint();
  managed.allocations = plan_->managed.allocations().size();
  managed.device_bytes = machine_->gmmu()->frames() * uvm::kPageBytes;
  managed.counters = machine_->managed_counters();
  const uvm::Parameters& p = options_->config.uvm;
  if (p.fault_mode == uvm::FaultMode::kPerCycle && p.fault_cost == uvm::FaultCost::kAdditive)
    managed.added_fault_cycles =
        managed.counters.gmmu.faults *
        sim::cycles_of_ps(std::uint64_t{p.page_fault_ns} * 1000, options_->config.clock.core_khz);
  for (const std::uint32_t i : plan_->managed.by_base()) {
    const uvm::Allocation& a = plan_->managed.allocations()[i];
    managed.by_allocation.push_back({a.base, a.bytes, machine_->gmmu()->by_allocation()[i]});
  }
  managed.residency = residency_;
  result_.report.managed = managed;
}

std::string Controller::timeline() const {
  std::vector<TimelineEvent> events;
  events.reserve(events_.size());
  for (const uvm::Event& e : events_) {
    TimelineEvent event{e.kind, e.start, e.end, 0, e.run.bytes()};
    if (e.kind == uvm::Event::Kind::kBatch) {
      event.bytes = e.run.pages;
    } else {
      event.address = plan_->managed.address({machine_->gmmu()->table()[e.run.tree].id, e.run.first});
    }
    events.push_back(event);
  }
  return timeline_json(result_.report, events);
}

void Controller::add_partial_kernels(Cycle now) {
  collect_active(now);
  const auto add_one = [&](std::uint8_t slot_index, Cycle end) {
    const core::Dispatcher::Slot& slot = dispatcher_->slot(slot_index);
    if (slot.first_dispatch >= end) return;  // launched, but no CTA yet
    stats::KernelResult result = describe(slot.kernel);
    result.start_cycle = slot.first_dispatch;
    result.cycles = end - slot.first_dispatch;
    result.partial = true;
    result.counters = std::exchange(of_slot_[slot_index], {});
    complete_stalls(result);
    result_.report.kernels.push_back(std::move(result));
  };
  const auto& finished = dispatcher_->finished();
  for (std::size_t i = closed_; i < finished.size(); ++i) add_one(finished[i].slot, now);
  for (const std::uint8_t slot : dispatcher_->active()) add_one(slot, now);
}

void Controller::refresh_notes() {
  stats::RunReport& report = result_.report;
  report.unknown_opcodes = feeds_->unknown_opcodes();
  std::set<std::string> remarks = feeds_->remarks();
  remarks.insert(plan_->remarks.begin(), plan_->remarks.end());
  report.remarks.assign(remarks.begin(), remarks.end());
}

void Controller::report_progress(Cycle now) {
  if (!options_->on_progress) return;
  const auto wall = Clock::now();
  if (!stopped_ && wall < next_progress_) return;
  next_progress_ = wall + kProgressEvery;
  if (!stopped_) collect_active(now);
  Progress progress;
  progress.cycle = now;
  progress.kernels_done = closed_;
  progress.kernels_total = plan_->kernel_commands;
  progress.warp_instructions = finished_.sm.warp_instructions;
  for (const stats::KernelCounters& counters : of_slot_)
    progress.warp_instructions += counters.sm.warp_instructions;
  const auto& active = dispatcher_->active();
  if (!active.empty())
    progress.kernel = dispatcher_->plan(dispatcher_->slot(active.front()).kernel).header->name;
  for (const std::uint8_t slot : active) {
    progress.ctas_done += dispatcher_->slot(slot).drained;
    progress.ctas_total += dispatcher_->plan(dispatcher_->slot(slot).kernel).ctas;
  }
  options_->on_progress(progress);
}

RunResult Controller::result() {
  if (!left_over_.empty())
    throw std::logic_error("all work is done, but requests, credits or CTAs are left in: " + left_over_);
  if (options_->timeline) result_.timeline = timeline();
  return std::move(result_);
}

}  // namespace lockstep::gpu
