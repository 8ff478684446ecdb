#include "gpu/controller.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "energy/model.hpp"
#include "sim/clock.hpp"
#include "stats/derived.hpp"

namespace lockstep::gpu {
namespace {

constexpr Cycle kGrid = Cycle{1} << 20;  // core cycles between two checks of the watchdog
constexpr Cycle kPatience = 50'000'000;  // core cycles without any activity that make a deadlock
constexpr auto kProgressEvery = std::chrono::milliseconds(100);

const char* copy_kind(const host::HostCommand& command) {
  if (command.kind == host::HostCommand::Kind::kFill) return "fill";
  if (command.kind == host::HostCommand::Kind::kDeviceCopy) return "device_to_device";
  if (command.kind == host::HostCommand::Kind::kPeerCopy) return "peer_to_peer";
  return is_copy_to_device(command) ? "host_to_device" : "device_to_host";
}

}  // namespace

Controller::Controller(const RunOptions& options, const Plan& plan, System& system, FeedSet& feeds,
                       const sim::Engine& engine, stats::RunReport report)
    : options_(&options),
      plan_(&plan),
      system_(&system),
      feeds_(&feeds),
      engine_(&engine),
      host_(&system.host()),
      grid_(kGrid) {
  for (std::uint16_t d = 0; d < system.devices(); ++d) {
    ledgers_.emplace_back(system.device(d), options.profile ? &profiles_ : nullptr);
    if (plan.manages) gmmus_.push_back(system.device(d).gmmu());
  }
  result_.report = std::move(report);
  residency_.resize(gmmus_.size());
  events_.resize(gmmus_.size());
  for (std::size_t d = 0; options.timeline && d < gmmus_.size(); ++d)
    if (gmmus_[d]) gmmus_[d]->record(&events_[d]);
  if (options.timeline) system.record_network();
}

Time Controller::boundary(Time now) {
  if (plan_->needs_gmmu) {
    stopped_ = true;
    return kNever;
  }
  if (std::exchange(resumed_, false)) return next_cut(now);
  time_kernels();
  manage();
  close_finished(now);
  if (sampled_) stop_for_samples(now);
  note_copies();
  if (work_done()) {
    if (quiescent()) finish(now, Outcome::kDone);
  } else if (system_->at_edge(0, now)) {
    act_at(now);
  }
  if (!stopped_ && interrupted()) finish(now, Outcome::kInterrupted);
  if (keeper_ && !stopped_) keep_state(now);
  report_progress(now);
  return next_cut(now);
}

/// What is done at fixed cycles, as long as there is work.
void Controller::act_at(Time now) {
  const Cycle cycle = system_->cycle(0, now);
  const bool samples = options_->interval && cycle > 0 && cycle % options_->interval == 0;
  const bool limit = options_->max_cycles && cycle >= options_->max_cycles;
  const bool watches = limit || cycle == grid_;
  if (!samples && !watches) return;
  if (ranks_ && commands_done() && ranks_->sum(!networks_idle()) == 0) {
    if (cycle == grid_) grid_ += kGrid;
    return;
  }
  if (samples) sample(now);
  if (watches) watch(now);
  if (!stopped_ && limit) finish(now, Outcome::kMaxCycles);
}

bool Controller::quiescent() const { return ranks_ ? ranks_->quiescent() : system_->quiescent(); }

bool Controller::interrupted() const {
  if (ranks_) return ranks_->interrupted();
  return options_->interrupted && options_->interrupted();
}

/// Nothing is due any more, in whichever rank.
bool Controller::is_still() const {
  const bool due = engine_->earliest() != kNever;
  return ranks_ ? ranks_->sum(due) == 0 : !due;
}

void Controller::gather_ranks() {
  if (rank_report_) rank_report_->gather(*system_, *feeds_, result_.report);
}

/// Everything that is due now is done, so that a run that goes on from the state does it no more.
void Controller::keep_state(Time now) {
  const CheckpointOptions& checkpoint = options_->checkpoint;
  std::uint64_t kernels = 0;
  for (const KernelLedger& ledger : ledgers_) kernels += ledger.closed();
  const CheckpointOptions::Decision decide = checkpoint.decide(kernels);
  if (decide == CheckpointOptions::Decision::kStop) return finish(now, Outcome::kInterrupted);
  if (decide == CheckpointOptions::Decision::kNone || work_done() || !system_->at_rest()) return;
  if (!std::ranges::all_of(ledgers_, &KernelLedger::all_closed)) return;
  if (checkpoint.keep(keeper_(), kernels)) finish(now, Outcome::kInterrupted);
}

void Controller::manage() {
  for (std::uint16_t d = 0; d < gmmus_.size(); ++d)
    if (gmmus_[d]) system_->device(d).manage(plan_->managed);
  system_->place(plan_->apertures);
}

bool Controller::any_active() const {
  for (std::uint16_t d = 0; d < system_->devices(); ++d)
    if (!system_->device(d).dispatcher().active().empty()) return true;
  return false;
}

/// The host's clock is read only where a stretch of kernels begins or ends.
void Controller::time_kernels() {
  if (any_active() == kernel_runs_) return;
  kernel_runs_ = !kernel_runs_;
  const auto now = Clock::now();
  if (!kernel_runs_) kernel_time_ += now - kernel_since_;
  kernel_since_ = now;
}

double Controller::kernel_seconds() const {
  const auto open = kernel_runs_ ? Clock::now() - kernel_since_ : Clock::duration{};
  return std::chrono::duration<double>(kernel_time_ + open).count();
}

Time Controller::next_cut(Time now) const {
  Time cut = kNever;
  for (std::uint16_t d = 0; d < system_->devices(); ++d)
    cut = std::min(cut, system_->time(d, ledgers_[d].next_cut()));
  if (sampled_) cut = std::min(cut, system_->time(0, sampled_->next_cut()));
  if (work_done()) return cut;
  const Cycle cycle = system_->cycle(0, now + 1) - 1;  // the last edge of device 0 that is not ahead
  Cycle own = grid_;
  if (options_->max_cycles) own = std::min(own, std::max(options_->max_cycles, cycle + 1));
  if (options_->interval) own = std::min(own, (cycle / options_->interval + 1) * options_->interval);
  return std::min(cut, system_->time(0, own));
}

bool Controller::commands_done() const {
  return host_->done() && std::ranges::all_of(ledgers_, &KernelLedger::all_closed);
}

bool Controller::networks_idle() const {
  return !system_->networking() || system_->networking()->quiescent();
}

/// What serves queues has to come to an end, too: an entry that no kernel writes would be polled for ever.
bool Controller::work_done() const {
  return commands_done() && (ranks_ ? ranks_->networks_idle() : networks_idle());
}

void Controller::close_finished(Time now) {
  struct Closed {
    Time end;
    KernelLedger::Finished finished;
    stats::KernelResult result;
  };
  std::vector<Closed> batch;
  bool any_due = false;
  for (std::uint16_t d = 0; d < system_->devices(); ++d) {
    KernelLedger& ledger = ledgers_[d];
    if (system_->time(d, ledger.next_cut()) > now) continue;
    any_due = true;
    Device& device = system_->device(d);
    const Cycle cycle = system_->cycle(d, now);
    device.settle(cycle);
    const auto due = ledger.take_due(cycle);
    ledger.collect_late(due, result_.report.unattributed);
    for (const auto& kernel : due) {
      batch.push_back({system_->clock(d).to_time.ceil(kernel.end), kernel, ledger.close(kernel)});
      batch.back().result.device = d;
      feeds_->close(d, kernel.slot);
    }
    // The next kernel starts after this cut (Dispatcher).
    if (device.config().launch.cache_control == config::CacheControl::kAll) device.empty_caches();
  }
  if (!any_due) return;
  std::stable_sort(batch.begin(), batch.end(), [](const Closed& a, const Closed& b) {
    return std::pair(a.end, a.finished.command) < std::pair(b.end, b.finished.command);
  });
  for (Closed& kernel : batch) {
    last_end_ = std::max(last_end_, kernel.end);
    if (sampled_)
      sampled_->close(kernel.finished, kernel.result, result_.report.kernels.size(),
                      result_.report.unattributed);
    result_.report.kernels.push_back(std::move(kernel.result));
  }
  note_copies();
  gather_ranks();
  refresh_notes();
  result_.report.total_cycles = system_->cycle(0, last_end_);
  if (options_->on_kernel_done) options_->on_kernel_done(result_.report);
}

/// A run by samples has one device.
void Controller::stop_for_samples(Time now) {
  const Cycle cycle = system_->cycle(0, now);
  if (sampled_->next_cut() > cycle) return;
  settle(now);
  sampled_->stop(cycle, ledgers_[0]);
}

void Controller::note_copies() {
  const auto& copied = host_->copied();
  for (; copies_noted_ < copied.size(); ++copies_noted_) {
    const host::Host::Copied& copy = copied[copies_noted_];
    const host::HostCommand& command = host_->command(copy.command);
    result_.report.copies.push_back({copy_kind(command), command.address, command.bytes, copy.start,
                                     copy.end - copy.start, command.device});
    last_end_ = std::max(last_end_, system_->clock(command.device).to_time.ceil(copy.end));
  }
  last_end_ = std::max(last_end_, host_->last_task_end());
}

void Controller::settle(Time now) {
  for (std::uint16_t d = 0; d < system_->devices(); ++d) system_->device(d).settle(system_->cycle(d, now));
}

void Controller::collect_active(Time now) {
  settle(now);
  for (KernelLedger& ledger : ledgers_) ledger.collect_active();
}

stats::IntervalSample Controller::take_interval(Time now) {
  stats::IntervalSample sum;
  sum.end_cycle = system_->cycle(0, now);
  for (std::uint16_t d = 0; d < system_->devices(); ++d) {
    const stats::IntervalSample part = ledgers_[d].take_interval(system_->cycle(d, now));
    if (!system_->is_here(d)) continue;
    stats::add(sum.counters, part.counters);
    stats::add(sum.energy, part.energy);
  }
  return sum;
}

void Controller::sample(Time now) {
  collect_active(now);
  for (KernelLedger& ledger : ledgers_) ledger.collect_copies(result_.report.unattributed);
  result_.report.intervals.push_back(take_interval(now));
  const Cycle cycle = result_.report.intervals.back().end_cycle;
  for (std::size_t d = 0; d < gmmus_.size(); ++d)
    if (gmmus_[d]) residency_[d].push_back({cycle, gmmus_[d]->frames_used()});
}

std::uint64_t Controller::activity() const {
  std::uint64_t sum = host_->copied().size() + activity_of(result_.report.unattributed);
  for (const KernelLedger& ledger : ledgers_) sum += ledger.activity();
  for (core::GmmuDomain* gmmu : gmmus_)
    if (gmmu) sum += gmmu->activity();
  if (system_->networking()) sum += system_->networking()->activity();
  return sum;
}

/// At cuts only, so that a deadlock is found at the same cycle for every window.
void Controller::watch(Time now) {
  const Cycle cycle = system_->cycle(0, now);
  if (cycle == grid_) grid_ += kGrid;
  // A kernel that is complete has its cut still to come: exhausted() judges what is left behind that.
  const bool all_closed = std::ranges::all_of(ledgers_, &KernelLedger::all_closed);
  if (all_closed && is_still()) return finish(now, Outcome::kDeadlock);
  const bool overdue = lock_overdue(now);
  if (ranks_ ? ranks_->sum(overdue) > 0 : overdue) return finish(now, Outcome::kDeadlock);
  collect_active(now);
  const std::uint64_t current = ranks_ ? ranks_->sum(activity()) : activity();
  // A copy may cross the link for long without touching anything else, a far fault may be handled for long;
  // their ends are certain.
  const bool here =
      std::ranges::any_of(gmmus_, [](const core::GmmuDomain* gmmu) { return gmmu && gmmu->end_is_known(); });
  const bool faults = ranks_ && !gmmus_.empty() ? ranks_->sum(here) > 0 : here;
  const bool estimated = sampled_ && system_->device(0).dispatcher().end_is_estimated();
  if (estimated || current != last_activity_ || host_->queue().copies_out() > 0 || faults)
    stuck_since_ = cycle;
  last_activity_ = current;
  if (cycle - stuck_since_ >= kPatience) finish(now, Outcome::kDeadlock);
}

bool Controller::lock_overdue(Time now) const {
  for (std::uint16_t d = 0; d < system_->devices(); ++d)
    if (system_->is_here(d) && system_->device(d).lock_overdue(system_->cycle(d, now))) return true;
  return false;
}

void Controller::exhausted(Time now) { finish(now, work_done() ? Outcome::kDone : Outcome::kDeadlock); }

void Controller::finish(Time now, Outcome outcome) {
  manage();
  static constexpr const char* kReasons[] = {"", "max-cycles", "interrupted", "deadlock"};
  stats::RunReport& report = result_.report;
  stopped_ = true;
  note_copies();
  if (outcome != Outcome::kDone && work_done()) outcome = Outcome::kDone;
  result_.outcome = outcome;
  report.partial = outcome != Outcome::kDone;
  report.partial_reason = kReasons[static_cast<unsigned>(outcome)];
  report.total_cycles = system_->cycle(0, report.partial ? now : last_end_);
  if (outcome == Outcome::kDeadlock) result_.dump = system_->dump();
  if (outcome == Outcome::kDone) left_over_ = system_->busy_domains();
  if (report.partial) settle(now);
  for (std::uint16_t d = 0; d < system_->devices(); ++d) {
    const std::size_t whole = report.kernels.size();
    if (report.partial) ledgers_[d].add_partial(system_->cycle(d, now), report.kernels);
    for (std::size_t i = whole; i < report.kernels.size(); ++i) report.kernels[i].device = d;
    ledgers_[d].collect_rest(report.unattributed);
  }
  const stats::IntervalSample rest = take_interval(report.partial ? now : last_end_);
  const bool counted = any(rest.counters);
  if (options_->interval && (ranks_ ? ranks_->sum(counted) > 0 : counted)) report.intervals.push_back(rest);
  gather_ranks();
  if (sampled_) complete_samples(report);
  refresh_notes();
  if (!gmmus_.empty()) report_managed();
  if (report.system) note_links();
}

/// What was not timed gets its estimates, and the energy of these.
void Controller::complete_samples(stats::RunReport& report) {
  sampled_->complete(report);
  for (stats::KernelResult& kernel : report.kernels)
    if (kernel.estimated || kernel.ctas_left_out > 0)
      kernel.energy =
          energy::Model(system_->device(kernel.device).config()).of(kernel.counters, kernel.cycles);
}

void Controller::note_links() {
  const energy::Model model(system_->device(0).config());
  stats::SystemReport& system = *result_.report.system;
  system.links = system_->links();
  if (system_->networking()) system.network = system_->network_report(stats::run_ps(result_.report));
  if (rank_report_) rank_report_->gather_end(*system_, result_.report, managed_events_, result_.dump);
  if (system.network) add_times(plan_->timestamps, host_->queue(), system_->base_khz(), *system.network);
  for (stats::LinkResult& link : system.links) link.picojoules = model.of_link(link.bytes);
}

void Controller::refresh_notes() {
  stats::RunReport& report = result_.report;
  report.unknown_opcodes = feeds_->unknown_opcodes();
  std::set<std::string> remarks = feeds_->remarks();
  remarks.insert(plan_->remarks.begin(), plan_->remarks.end());
  report.remarks.assign(remarks.begin(), remarks.end());
}

void Controller::report_progress(Time now) {
  if (!options_->on_progress) return;
  const auto wall = Clock::now();
  if (!stopped_ && wall < next_progress_) return;
  next_progress_ = wall + kProgressEvery;
  if (!stopped_) collect_active(now);
  Progress progress;
  progress.cycle = system_->cycle(0, now);
  progress.kernels_total = plan_->kernel_commands;
  for (std::uint16_t d = 0; d < system_->devices(); ++d) {
    const core::Dispatcher& dispatcher = system_->device(d).dispatcher();
    progress.kernels_done += ledgers_[d].closed();
    progress.warp_instructions += ledgers_[d].warp_instructions();
    for (const std::uint8_t slot : dispatcher.active()) {
      const core::LaunchPlan& plan = dispatcher.plan(dispatcher.slot(slot).kernel);
      if (progress.kernel.empty()) progress.kernel = plan.header->name;
      progress.ctas_done += dispatcher.slot(slot).drained;
      progress.ctas_total += plan.ctas;
    }
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
