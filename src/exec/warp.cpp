#include "exec/warp.hpp"

#include <bit>
#include <utility>

#include "exec/access_set.hpp"
#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"

namespace lockstep::exec {

void Warp::start(Machine& machine, Cta& cta, std::uint32_t index, WarpRecord* record) {
  machine_ = &machine;
  cta_ = &cta;
  record_ = record;
  print_.reset();
  index_ = index;
  const Executable& kernel = machine.kernel;
  operations_ = kernel.operations().data();
  slots_ = kernel.slots().data();
  lanes_ = &lane_memory();
  const std::uint32_t left = cta.threads() - index * kWarpSize;
  live_ = left >= kWarpSize ? kAllLanes : (LaneMask{1} << left) - 1;
  flags_ = {};
  polls_.forget();
  cluster_arrived_ = 0;
  committed_ = 0;
  first_row_ = static_cast<std::uint32_t>(kernel.fixed().size());
  const FunctionCode& entry = kernel.functions().front();
  if (file_.size() < first_row_ + entry.slots) file_.resize(first_row_ + entry.slots);
  local_stride_ = entry.frame_bytes;
  local_.assign(std::size_t{local_stride_} * kWarpSize, std::byte{0});
  stack_tops_ = {};
  splits_.clear();
  meetings_.assign(1, Meeting{kNowhere, 0, 0, live_, 0});
  frames_.assign(1, Frame{0, 0, 0, 0, 0, live_});
  clear_frame(frames_[0], live_);
  fill_fixed();
  now_ = {};
  now_.pc = entry.first;
  now_.mask = live_;
  splits_.push_back(now_);
  clock_reads_ = 0;
}

void Warp::fill_fixed() {
  const auto& fixed = machine_->kernel.fixed();
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i].special == ptx::Special::kTid) {
      fill_thread_ids(fixed[i].index, file_[i]);
    } else if (differs_by_lane(fixed[i].special)) {
      for (std::uint32_t l = 0; l < kWarpSize; ++l) file_[i].lane[l] = fixed_value(fixed[i], l);
    } else {
      const std::uint64_t value = fixed_value(fixed[i], 0);
      for (auto& slot : file_[i].lane) slot = value;
    }
  }
}

/// Takes the next split that can run, together with those that stand at the same place.
bool Warp::pick() {
  for (std::size_t i = splits_.size(); i-- > 0;) {
    if (splits_[i].state != Split::State::kReady || splits_[i].spun) continue;
    now_ = splits_[i];
    splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = splits_.size(); j-- > 0;) {
      const Split& other = splits_[j];
      if (other.state != Split::State::kReady || other.pc != now_.pc || other.meeting != now_.meeting ||
          other.frame != now_.frame)
        continue;
      now_.mask |= other.mask;
      splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(j));
    }
    return true;
  }
  return false;
}

Turn Warp::run() {
  budget_ = kTurn;
  for (auto& split : splits_)
    if (std::exchange(split.spun, false)) print_.reset();
  while (pick()) {
    print_.reset();
    enter_frame();
    const Stop stop = machine_->check ? run_split<true>() : run_split<false>();
    if (stop == Stop::kSpun || stop == Stop::kTired || stop == Stop::kWaits) {
      now_.spun = stop != Stop::kTired;
      now_.spins = kSpinsLeft;
      if (now_.spun) polls_.ask_again();
      splits_.insert(splits_.begin(), now_);
      if (stop == Stop::kTired) return Turn::kTired;
      if (stop == Stop::kWaits) return Turn::kSpinning;
    } else {
      for (auto& split : splits_) split.spun = false;
    }
  }
  if (splits_.empty() && live_ == 0) return Turn::kDone;
  for (const auto& split : splits_)
    if (split.state == Split::State::kReady) return Turn::kSpinning;
  for (const auto& split : splits_)
    if (split.owes_record) note_barrier(split.barrier);
  return Turn::kBlocked;
}

LaneMask Warp::guard(const Operation& op) const {
  const LaneMask mask = lanes_->predicate(*at(op.guard));
  return op.guard_negated ? ~mask : mask;
}

template <bool kChecked>
Warp::Stop Warp::run_split() {
  for (KnownAccess& known : known_) known.mask = 0;
  for (;;) {
    if (now_.pc == meet_) {
      if (!arrive()) return Stop::kGone;
      continue;
    }
    const Operation& op = operations_[now_.pc];
    const LaneMask active = op.guard.exists() ? now_.mask & guard(op) : now_.mask;
    ++machine_->counts.warp_instructions;
    machine_->counts.thread_instructions += static_cast<unsigned>(std::popcount(active));
    --budget_;
    if (op.reads_clock) refresh_clocks();
    if constexpr (kChecked) check(op, active);
    switch (op.handler) {
      case Handler::kLane:
        if (record_) {
          note(active);
          if (op.slow_path && active != 0) note_slow_path(op, active);
        }
        if (active != 0) lane(op, active);
        ++now_.pc;
        continue;
      case Handler::kLoad:
        load(op, active);
        ++now_.pc;
        break;
      case Handler::kStore:
        store(op, active);
        ++now_.pc;
        continue;
      case Handler::kAtomic:
        atomic(op, active);
        ++now_.pc;
        break;
      case Handler::kCopyAsync:
      case Handler::kCopyBulk:
      case Handler::kMbarrier:
      case Handler::kMatrixMove:
      case Handler::kWarpgroup:
      case Handler::kTensorCopy:
      case Handler::kTensorMap:
      case Handler::kStack:
      case Handler::kTexture:
      case Handler::kMultimem:
        step_async(op, active);
        if (std::exchange(suspends_, false)) return Stop::kSpun;
        ++now_.pc;
        break;
      default: {
        bool stop = false;
        const Stop how = step_control(op, active, stop);
        if (stop) return how;
      }
    }
    if (now_.spins >= kSpinLimit) return spun();
    // At the end of a loop's body, so that the next turn begins where this one did.
    if (budget_ <= 0 && op.handler >= Handler::kBranch && op.handler <= Handler::kCall) return Stop::kTired;
  }
}

/// Reductions of CTAs that run at once tell no values: what looks like spinning may be none.
Warp::Stop Warp::spun() const {
  if (machine_->accesses && machine_->accesses->reduces()) throw Dependent();
  return now_.spins > kSpinLimit ? Stop::kWaits : Stop::kSpun;
}

void Warp::step_async(const Operation& op, LaneMask active) {
  if (op.handler != Handler::kMbarrier && op.handler != Handler::kMultimem)
    ++machine_->watch.changes;  // maybe
  switch (op.handler) {
    case Handler::kCopyAsync:
      return copy_async(op, active);
    case Handler::kCopyBulk:
      return copy_bulk(op, active);
    case Handler::kMbarrier:
      return mbarrier(op, active);
    case Handler::kWarpgroup:
      return warpgroup(op, active);
    case Handler::kTensorCopy:
      return tensor_copy(op, active);
    case Handler::kTensorMap:
      return change_tensor_map(op, active);
    case Handler::kStack:
      return stack(op, active);
    case Handler::kTexture:
      return texture(op, active);
    case Handler::kMultimem:
      return multimem(op, active);
    default:
      return matrix_move(op, active);
  }
}

/// Control and synchronisation. Where `stop` becomes true, now_ no longer runs.
Warp::Stop Warp::step_control(const Operation& op, LaneMask active, bool& stop) {
  if (record_ && (op.handler != Handler::kBarrier || active == 0))
    note(op.handler == Handler::kBranch ? now_.mask : active);
  switch (op.handler) {
    case Handler::kBranch:
      branch(op, active);
      return Stop::kGone;
    case Handler::kBranchTable:
      branch_table(op, active);
      return Stop::kGone;
    case Handler::kNothing:
    case Handler::kNanosleep:
      ++now_.pc;
      return Stop::kGone;
    case Handler::kCall:
      stop = !call(op, active);
      return Stop::kGone;
    case Handler::kReturn:
      stop = !ret(active);
      return Stop::kGone;
    case Handler::kExit:
      ++now_.pc;
      now_.mask &= ~active;
      kill(active);
      stop = now_.mask == 0;
      return Stop::kGone;
    case Handler::kTrap:
      if (active != 0) fault(FaultKind::kTrap, active, 0, {});
      ++now_.pc;
      return Stop::kGone;
    case Handler::kBarrier:
      stop = !barrier(op, active);
      return Stop::kBlocked;
    case Handler::kWarpBarrier:
      stop = !warp_barrier(op, active);
      return Stop::kBlocked;
    case Handler::kLaneSync:
      stop = !lane_sync(op, active);
      return Stop::kBlocked;
    default:
      return step_groups(op, active, stop);
  }
}

/// Of clusters and warpgroups.
Warp::Stop Warp::step_groups(const Operation& op, LaneMask active, bool& stop) {
  switch (op.handler) {
    case Handler::kClusterArrive:
      ++now_.pc;
      cluster_arrive(active);
      return Stop::kGone;
    case Handler::kClusterWait:
      stop = !cluster_wait(active);
      return Stop::kBlocked;
    case Handler::kWarpgroupCommit:
      ++now_.pc;
      warpgroup_commit(active);
      return Stop::kGone;
    case Handler::kWarpgroupWait:
      stop = !warpgroup_wait(op, active);
      return Stop::kBlocked;
    default:
      fault(FaultKind::kIllegalInstruction, active, 0, "not supported");
  }
}

LaneArgs Warp::lane_args(const Operation& op, LaneMask active, LaneMask present) {
  LaneArgs args;
  const Slot* slot = slots_ + op.operands;
  args.dst[1] = nullptr;  // a second result that the instruction does not name
  for (unsigned i = 0; i < op.destinations; ++i, ++slot) args.dst[i] = slot->exists() ? at(*slot) : nullptr;
  for (unsigned i = 0; i < op.sources; ++i, ++slot) args.src[i] = at(*slot);
  args.mask = active;
  args.present = present;
  args.flags = &flags_;
  return args;
}

std::uint64_t Warp::uniform(Slot slot, LaneMask active) const {
  return at(slot)->lane[std::countr_zero(active)];
}

void Warp::note(LaneMask active) {
  record_->records.push_back(trace::Record::make(now_.pc, trace::AddressForm::kNone, active));
}

void Warp::note_slow_path(const Operation& op, LaneMask active) {
  const LaneMask lanes = op.slow_path(lane_args(op, active, active));
  if (lanes == 0) return;
  const std::uint32_t index = machine_->kernel.slow_path_record(now_.pc);
  record_->records.push_back(trace::Record::make(index, trace::AddressForm::kNone, lanes));
}

void Warp::note(LaneMask active, const Addresses& addresses) {
  if (active == 0) return note(active);
  const auto form = trace::pack_addresses(active, addresses.lane, record_->words);
  record_->records.push_back(trace::Record::make(now_.pc, form, active));
}

/// As trace::pack_addresses() would, where the span says it all.
void Warp::note(LaneMask active, const Addresses& addresses, const AddressSpan& span, std::uint32_t bytes) {
  const bool equal = span.differ == 0 && (active & (active - 1)) != 0;
  if (!span.neighbours && !equal) return note(active, addresses);
  note_line(active, addresses.lane[std::countr_zero(active)], equal ? 0 : bytes);
}

/// Counts polls that see what the one before at this place saw, or rounds of polls that see what the round
/// before saw.
void Warp::note_poll(LaneMask active, const Addresses& addresses, const LaneSlots& value, bool lock) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  std::uint64_t places = active, values = active;  // neither waits for the other
  for_lanes(active, [&](int l) {
    places = (std::rotl(places, 5) ^ addresses.lane[l]) * kMix;
    values = (std::rotl(values, 5) ^ value.lane[l]) * kMix;
  });
  const std::uint64_t hash = (std::rotl(places, 5) ^ values) * kMix;
  const bool cycle = polls_.add(hash + now_.pc, static_cast<unsigned>(std::popcount(active)));
  unsigned place = now_.poll_pc[0] == now_.pc ? 0 : 1;
  if (now_.poll_pc[place] == now_.pc && now_.poll[place] == hash) {
    ++now_.spins;
  } else {
    if (now_.poll_pc[place] != now_.pc) {
      place = 0;
      std::swap(now_.poll[0], now_.poll[1]);
      std::swap(now_.poll_pc[0], now_.poll_pc[1]);
    }
    now_.poll_pc[place] = now_.pc;
    now_.poll[place] = hash;
    now_.spins = 0;
  }
  if (cycle && now_.spins < kSpinLimit) now_.spins = kSpinLimit + 1;
  if (now_.spins != 0) now_.locks = lock;
}

void Warp::fault(FaultKind kind, LaneMask lanes, Address address, const std::string& detail) const {
  const auto l = static_cast<std::uint32_t>(lanes ? std::countr_zero(lanes) : std::countr_zero(now_.mask));
  machine_->fault(kind, cta_->index(), index_ * kWarpSize + l, now_.pc, address, detail);
}

Warp::Standing Warp::standing() const {
  const Split& split = splits_.front();
  return {split.pc, static_cast<std::uint32_t>(std::countr_zero(split.mask))};
}

}  // namespace lockstep::exec
