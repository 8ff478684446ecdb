#include "exec/cta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/check/launch_check.hpp"
#include "ptx/printer.hpp"
#include "ptx/source_lines.hpp"

namespace lockstep::exec {

namespace {
constexpr unsigned kRoundsBeforeSpinning = 16;  // rounds of full turns until a CTA counts as spinning
// Before a CTA whose warps only wait for each other asks whether it gets any further.
constexpr std::uint64_t kCtaPatience = 256, kCtaLong = kTurn;  // rounds, instructions
}  // namespace

Cta::Cta() = default;
Cta::~Cta() = default;

void Cta::start(Machine& machine, std::uint64_t index, CtaRecord* record) {
  machine_ = &machine;
  state_.index = index;
  record_ = record;
  threads_ = static_cast<std::uint32_t>(machine.launch.block.count());
  const std::uint32_t warps = (threads_ + kWarpSize - 1) / kWarpSize;
  state_.shared.assign(machine.shared_bytes, std::byte{0});
  warps_.resize(warps);
  for (auto& barrier : barriers_) barrier = {};
  state_.mbarriers.clear();
  state_.numbers.clear();
  state_.recorded = record != nullptr;
  state_.warps = warps;
  if (record) {
    record->index = index;
    record->warps.resize(warps);
    for (auto& warp : record->warps) warp.clear();
  }
  for (std::uint32_t w = 0; w < warps; ++w)
    warps_[w].start(machine, *this, w, record ? &record->warps[w] : nullptr);
  stuck_ = false;
  next_ = 0;
  round_ = {};
  if (!machine.check) return;
  if (!checked_) checked_ = std::make_unique<CtaCheck>();
  state_.checked = checked_.get();
  machine.check->start(*checked_, index, warps);
}

void Cta::join(const std::vector<Cta*>& cluster) {
  cluster_ = cluster;
  state_.cluster.clear();
  for (Cta* const member : cluster) state_.cluster.push_back(&member->state_);
}

/// False: interrupted.
inline bool Cta::run_in_turn(std::size_t warp) {
  const std::uint64_t before = machine_->counts.warp_instructions, phases = state_.phases;
  const Turn turn = warps_[warp].run();
  const bool executed = machine_->counts.warp_instructions != before;
  round_.running += executed;
  round_.further |= turn != Turn::kSpinning && executed;
  switch (turn) {
    case Turn::kDone:
    case Turn::kBlocked:
      round_.rested |= executed;
      break;
    case Turn::kYields:
      ++round_.yielding;
      break;
    default:
      turn_over_[warp] = true;
      round_.spinning |= turn == Turn::kSpinning;
      round_.tired |= turn == Turn::kTurnOver;
      round_.sliced |= turn == Turn::kSliced;
  }
  round_.further |= state_.phases != phases;  // somebody who spins will get further
  if (machine_->observer_waits()) notify_observer();
  return !machine_->options.interrupt || !machine_->options.interrupt->load(std::memory_order_relaxed);
}

/// Lets each warp have its turn, those that yield in parts of it. False: interrupted; the next call goes on
/// with the next warp.
bool Cta::finish_round() {
  if (next_ == 0) {
    round_ = {};
    turn_over_.assign(warps_.size(), false);
    one_runs_ = false;
  }
  for (;;) {
    while (next_ < warps_.size()) {
      const std::size_t warp = next_++;
      if (!warps_[warp].done() && !turn_over_[warp] && !run_in_turn(warp)) return false;
      if (machine_->counts.warp_instructions >= machine_->options.max_instructions) return next_ = 0, true;
    }
    next_ = 0;
    if (round_.yielding == 0) return true;
    one_runs_ = round_.running == 1;
    round_.running = round_.yielding = 0;
  }
}

void Cta::notify_observer() const {
  machine_->notify_observer(0, [this] {
    WarpPlaces places;
    add_places(places);
    return places.text();
  });
}

bool Cta::release(Divergence::Hold hold) {
  bool released = false;
  for (Warp& warp : warps_)
    if (!warp.done()) released |= warp.release_reconvergence(hold);
  return released;
}

/// After a round. All of them poll together, with barriers in between.
bool Cta::is_livelocked(LivelockDetector& still, std::uint64_t before) const {
  if (!machine_->options.may_wait) return false;
  const auto verdict = still.round(machine_->counts.warp_instructions - before, [this] {
    Fingerprint print;
    add_to(print);
    return print.value();
  });
  return verdict == LivelockDetector::Verdict::kStands || verdict == LivelockDetector::Verdict::kDead;
}

Cta::State Cta::run() {
  unsigned tired_rounds = 0;
  LivelockDetector still(machine_->watch, kCtaPatience, kCtaLong);
  const std::uint64_t before = machine_->counts.warp_instructions;
  for (;;) {
    if (!finish_round()) return State::kInterrupted;
    const Round& round = round_;
    bool left = false;
    for (const Warp& warp : warps_) left |= !warp.done();
    if (!left) return State::kDone;
    if (machine_->counts.warp_instructions >= machine_->options.max_instructions)
      fault(FaultKind::kInstructionLimit, "the launch may still be running");
    if (round.tired || !round.sliced || round.rested) tired_rounds = round.tired ? tired_rounds + 1 : 0;
    if (!round.sliced && is_livelocked(still, before)) return State::kSpinning;
    if (round.sliced && machine_->turns) return State::kTurnOver;
    if (round.further && tired_rounds < kRoundsBeforeSpinning) {
      stuck_ = false;
      continue;
    }
    if (!round.spinning && !round.tired) {
      if (release(Divergence::Hold::kBarrier)) continue;
      return State::kBlocked;
    }
    if (release(!stuck_ && tired_rounds == 0 ? Divergence::Hold::kLock : Divergence::Hold::kSpin)) {
      stuck_ = false;
      tired_rounds = 0;
      continue;
    }
    stuck_ = true;
    return State::kSpinning;
  }
}

void Cta::fault(FaultKind kind, const std::string& detail) const {
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    if (warps_[w].done()) continue;
    const Warp::Standing standing = warps_[w].standing();
    machine_->fault(kind, state_.index, w * kWarpSize + standing.lane, standing.pc, 0, detail);
  }
}

void Cta::add_places(WarpPlaces& places) const {
  const Dim3 id = machine_->cta_id(state_.index);
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    if (warps_[w].done()) continue;
    const ptx::Instruction& at = machine_->kernel.instruction(warps_[w].standing().pc);
    const auto& function = *machine_->kernel.function_of(warps_[w].standing().pc).source;
    const ptx::ModuleInfo& module = machine_->kernel.program().modules[function.module];
    const std::string source = ptx::source_text(at.source, function, module.files);
    places.add(id, w,
               fmt::format("{}:{}{} [{}]", module.name, at.place.line,
                           source.empty() ? "" : " (" + source + ")", ptx::print(at.form)));
  }
}

void Cta::add_to(Fingerprint& print) const {
  print.add(state_.index);
  for (const Barrier& b : barriers_) {
    print.add(b.pending);
    if (!b.pending) continue;
    for (const std::uint64_t word : {std::uint64_t{b.threads}, std::uint64_t{b.all}, b.yes}) print.add(word);
    for (const LaneMask arrived : b.arrived) print.add(arrived);
  }
  for (const Warp& warp : warps_)
    if (!warp.done()) warp.add_to(print);
}

/// Threads of the warp's latest arrivals, with those that have ended.
std::uint32_t Cta::Barrier::count(std::size_t warp, LaneMask live) const {
  return latest[warp] == 0 ? 0 : kWarpSize - static_cast<std::uint32_t>(std::popcount(live & ~latest[warp]));
}

bool Cta::complete(const Barrier& barrier) const {
  std::uint32_t threads = barrier.earlier;
  bool all = true;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    all &= (warps_[w].live() & ~barrier.arrived[w]) == 0;
    threads += barrier.count(w, warps_[w].live());
  }
  return barrier.threads == 0 ? all : threads >= barrier.threads;
}

std::uint32_t Cta::arrive(const Arrival& arrival, std::uint32_t warp) {
  Barrier& barrier = barriers_[arrival.barrier];
  if (!barrier.pending) {
    barrier.pending = true;
    barrier.threads = arrival.threads;
    barrier.all = true;
    barrier.yes = 0;
    barrier.earlier = 0;
    barrier.arrived.assign(warps_.size(), 0);
    barrier.latest.assign(warps_.size(), 0);
  }
  const LaneMask live = warps_[warp].live();
  std::uint32_t before = barrier.count(warp, live);
  if ((barrier.latest[warp] & arrival.lanes) != 0) {
    barrier.earlier += before;
    barrier.latest[warp] = before = 0;
  }
  barrier.latest[warp] |= arrival.lanes;
  barrier.arrived[warp] |= arrival.lanes;
  barrier.all &= arrival.yes == arrival.lanes;
  barrier.yes += static_cast<unsigned>(std::popcount(arrival.yes));
  const std::uint32_t added = barrier.count(warp, live) - before;
  barrier.total += added;
  return added;
}

void Cta::settle(std::uint32_t which) {
  Barrier& barrier = barriers_[which];
  if (!barrier.pending || !complete(barrier)) return;
  barrier.pending = false;
  one_runs_ = false;
  if (checked_) checked_->order.complete(which, barrier.arrived, barrier.threads == 0);
  const Reduced reduced{barrier.all, barrier.yes != 0, barrier.yes, barrier.total};
  for (Warp& warp : warps_)
    if (!warp.done()) warp.release_barrier(which, reduced);
}

void Cta::lanes_exited() {
  for (std::uint32_t b = 0; b < kBarriers; ++b)
    if (barriers_[b].pending) settle(b);
  if (cluster_.size() > 1) settle_cluster();
  if (!machine_->kernel.warpgroups().empty())
    for (std::uint32_t g = 0; g * kWarpsOfGroup < warps_.size(); ++g) settle_warpgroup(g);
}

std::span<const Warp> Cta::warpgroup(std::uint32_t number) const {
  const std::span<const Warp> from = std::span(warps_).subspan(std::size_t{number} * kWarpsOfGroup);
  return from.first(std::min<std::size_t>(from.size(), kWarpsOfGroup));
}

std::uint32_t Cta::committed(std::uint32_t number) const {
  std::uint32_t least = ~0u;
  for (const Warp& warp : warpgroup(number))
    if (!warp.done()) least = std::min(least, warp.committed());
  return least;
}

void Cta::settle_warpgroup(std::uint32_t number) {
  const std::uint32_t groups = committed(number);
  one_runs_ = false;
  const std::size_t first = std::size_t{number} * kWarpsOfGroup;
  for (std::size_t w = first; w < std::min(first + kWarpsOfGroup, warps_.size()); ++w)
    if (!warps_[w].done()) warps_[w].release_warpgroup(groups);
}

void Cta::settle_cluster() {
  bool any = false;
  for (const Cta* cta : cluster_)
    for (const Warp& warp : cta->warps_) {
      if (!warp.arrived_at_cluster()) return;
      any |= !warp.done();
    }
  if (!any) return;
  for (Cta* cta : cluster_) {
    cta->one_runs_ = false;
    if (machine_->check) machine_->check->join_cluster(*cta->checked_);
    for (Warp& warp : cta->warps_) warp.release_cluster();
  }
}

}  // namespace lockstep::exec
