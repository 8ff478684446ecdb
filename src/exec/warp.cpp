#include "exec/warp.hpp"

#include <bit>
#include <utility>

#include "exec/access_set.hpp"
#include "exec/address_space.hpp"
#include "exec/cta.hpp"
#include "exec/warp_call.hpp"
#include "exec/warp_check.hpp"
#include "exec/warp_copy.hpp"
#include "exec/warp_instructions.hpp"
#include "exec/warp_mbarrier.hpp"
#include "exec/warp_multimem.hpp"
#include "exec/warp_poll.hpp"

namespace lockstep::exec {

namespace {

constexpr Handler kFirstAsync =
    Handler::kCopyAsync;             // it and those behind it neither jump nor wait for others
constexpr unsigned kSpinsLeft = 12;  // equal polls that a spinning split starts with when it runs again

}  // namespace

void Warp::start(Machine& machine, Cta& cta, std::uint32_t index, WarpRecord* record) {
  print_.reset();
  state_.machine = &machine;
  cta_ = &cta;
  state_.cta = &cta.state();
  state_.record = record;
  state_.operations = machine.kernel.operations().data();
  state_.operands = machine.kernel.operands().data();
  state_.lanes = &lane_memory();
  state_.index = index;
  const std::uint32_t left = cta.threads() - index * kWarpSize;
  state_.live = left >= kWarpSize ? kAllLanes : (LaneMask{1} << left) - 1;
  state_.now = {};
  state_.flags = {};
  state_.polls.forget();
  start_frames(state_);
  fixed_.start(state_);
  groups_ = {};
  sliced_ = yielded_ = false;
  sharing_ = Sharing::kNone;
  shared_accesses_ = machine.kernel.shared_accesses().data();
  paths_.start(state_.live, machine.kernel.functions().front().first);
}

Turn Warp::run() {
  if (!std::exchange(sliced_, false)) budget_ = kTurn;
  slice_ = state_.machine->options.interleave;
  bool picked = std::exchange(yielded_, false);
  if (!picked && paths_.forget_spun()) print_.reset();
  for (; picked || pick(); picked = false) {
    const Stop stop = state_.machine->check ? run_split_as_asked<true>() : run_split_as_asked<false>();
    if (stop == Stop::kYields) {
      sliced_ = yielded_ = true;
      return Turn::kYields;
    }
    if (stop == Stop::kSliced) {
      state_.now.spun = state_.now.spins >= kSpinsLeft;  // it has spun, and sees the same still
      paths_.put_back(state_.now);
      sliced_ = true;
      return any_can_run() ? Turn::kSliced : Turn::kSpinning;
    }
    if (stop == Stop::kSpun || stop == Stop::kTurnOver || stop == Stop::kWaits) {
      state_.now.spun = stop != Stop::kTurnOver;
      state_.now.spins = kSpinsLeft;
      if (state_.now.spun) state_.polls.ask_again();
      paths_.put_back(state_.now);
      if (stop == Stop::kTurnOver) return Turn::kTurnOver;
      if (stop == Stop::kWaits) return Turn::kSpinning;
    } else {
      paths_.forget_spun();
    }
  }
  if (paths_.others().empty() && state_.live == 0) return Turn::kDone;
  for (const Split& split : paths_.others())
    if (split.state == Split::State::kReady) return Turn::kSpinning;
  for (const Split& split : paths_.others())
    if (split.owes_record) note_barrier(state_, paths_, split.barrier);
  return Turn::kBlocked;
}

/// The split that runs next. False: there is none.
bool Warp::pick() {
  if (!paths_.pick(state_)) return false;
  print_.reset();
  paths_.enter(state_);
  memory_.forget();
  return true;
}

/// Is there a split that is ready and does not spin?
bool Warp::any_can_run() const {
  for (const Split& split : paths_.others())
    if (split.state == Split::State::kReady && !split.spun) return true;
  return false;
}

template <bool kChecked>
Warp::Stop Warp::run_split_as_asked() {
  if (state_.machine->options.interleave > 0) return run_split<kChecked, Others::kAfterSlice>();
  const bool share = state_.cta->warps > 1 && !state_.cta->shared.empty();
  return share ? run_split<kChecked, Others::kAtTurnsOfSharing>() : run_split<kChecked, Others::kLater>();
}

/// On hardware the warps of a CTA advance about together, and programs that lack a barrier may rely on that.
/// Between two accesses to shared memory a warp changes nothing that the others see there. So it is enough
/// that all have made their reads before one writes, and their writes before one reads.
bool Warp::yields_before(const Operation& op, SharedAccess access, LaneMask active) {
  if (active == 0 || sharing_ == Sharing::kCompares) return false;
  if (access.generic) {
    const MemoryForm& form = state_.machine->kernel.memory()[op.detail];
    const std::uint64_t base = form.base.exists() ? state_.uniform(form.base, active) : 0;
    if (!in_shared_window(base + static_cast<std::uint64_t>(form.offset))) return false;
  }
  return std::exchange(sharing_, access.sharing) != Sharing::kNone && !cta_->one_runs();
}

/// What an operation finds in registers that no operation has written.
[[gnu::noinline]] void Warp::prepare(const Operation& op) {
  // A clock that only paces a wait would keep states from repeating (watch.hpp).
  if (op.reads_clock && !(op.paces && state_.machine->watch.compares())) fixed_.refresh_clocks(state_);
  if (op.clears) clear_rows(state_);
}

/// An operation on registers alone.
inline void Warp::step_lane(const Operation& op, LaneMask active) {
  if (state_.record) {
    state_.note(active);
    if (op.slow_path && active != 0) note_slow_path(op, active);
  }
  if (active != 0) state_.lane(op, active);
}

template <bool kChecked, Warp::Others kOthers>
Warp::Stop Warp::run_split() {
  for (;;) {
    if constexpr (kOthers == Others::kAfterSlice)
      if (slice_ == 0) return Stop::kSliced;
    if (state_.now.pc == paths_.reconvergence_pc()) {
      if (!paths_.arrive(state_)) return Stop::kGone;
      continue;
    }
    const Operation& op = state_.operations[state_.now.pc];
    const LaneMask active = op.guard.exists() ? state_.now.mask & state_.guard(op) : state_.now.mask;
    if constexpr (kOthers == Others::kAtTurnsOfSharing)
      if (const SharedAccess access = shared_accesses_[state_.now.pc];
          access.sharing != Sharing::kNone && access.sharing != sharing_ && yields_before(op, access, active))
        return Stop::kYields;
    ++state_.machine->counts.warp_instructions;
    state_.machine->counts.thread_instructions += static_cast<unsigned>(std::popcount(active));
    --budget_;
    if constexpr (kOthers == Others::kAfterSlice) --slice_;
    if (op.reads_clock | op.clears) prepare(op);
    if constexpr (kChecked) check_operation(state_, op, active);
    switch (op.handler) {
      case Handler::kLane:
        step_lane(op, active);
        ++state_.now.pc;
        continue;
      case Handler::kLoad:
        memory_.load(state_, op, active);
        ++state_.now.pc;
        break;
      case Handler::kStore:
        memory_.store(state_, op, active);
        ++state_.now.pc;
        continue;
      case Handler::kAtomic:
        execute_atomic(state_, op, active);
        ++state_.now.pc;
        if (state_.machine->turns && state_.machine->kernel.atomics()[op.second].takes) return Stop::kSliced;
        break;
      default: {
        bool stop = false;
        const Stop how =
            op.handler < kFirstAsync ? step_control(op, active, stop) : step_async(op, active, stop);
        if (stop) return how;
      }
    }
    if (state_.now.spins >= kSpinLimit) return spun();
    // At the end of a loop's body, so that the next turn begins where this one did.
    if (budget_ <= 0 && op.handler >= Handler::kBranch && op.handler <= Handler::kCall)
      return Stop::kTurnOver;
  }
}

/// While CTAs run concurrently, reductions return no values: a loop that seems to spin may not do so.
Warp::Stop Warp::spun() const {
  if (state_.machine->accesses && state_.machine->accesses->reduces()) throw Dependent();
  return state_.now.spins > kSpinLimit ? Stop::kWaits : Stop::kSpun;
}

/// Other accesses to memory. Where `stop` becomes true, the split is suspended, and comes again.
Warp::Stop Warp::step_async(const Operation& op, LaneMask active, bool& stop) {
  if (op.handler != Handler::kMbarrier && op.handler != Handler::kMultimem)
    ++state_.machine->watch.changes;  // maybe
  switch (op.handler) {
    case Handler::kMbarrier:
      stop = execute_mbarrier(state_, op, active);
      if (stop) return Stop::kSpun;
      break;
    case Handler::kCopyAsync:
      execute_copy_async(state_, op, active);
      break;
    case Handler::kCopyBulk:
      execute_copy_bulk(state_, runs_, op, active);
      break;
    case Handler::kWarpgroup:
      execute_warpgroup(state_, op, active);
      break;
    case Handler::kTensorCopy:
      execute_tensor_copy(state_, runs_, op, active);
      break;
    case Handler::kTensorMap:
      execute_tensor_map(state_, op, active);
      break;
    case Handler::kStack:
      execute_stack(state_, op, active);
      break;
    case Handler::kTexture:
      execute_texture(state_, op, active);
      break;
    case Handler::kMultimem:
      execute_multimem(state_, op, active);
      break;
    default:  // kMatrixMove
      if (state_.machine->kernel.matrices()[op.second].fragment.registers != 0)
        execute_wmma_move(state_, op, active);
      else
        execute_matrix_move(state_, op, active);
  }
  ++state_.now.pc;
  return Stop::kGone;
}

/// Control and synchronisation. Where `stop` becomes true, the split no longer runs.
Warp::Stop Warp::step_control(const Operation& op, LaneMask active, bool& stop) {
  const bool at_last = op.handler == Handler::kBarrier || op.handler == Handler::kClusterArrive;
  if (state_.record && (!at_last || active == 0))
    state_.note(op.handler == Handler::kBranch ? state_.now.mask : active);
  switch (op.handler) {
    case Handler::kBranch:
      paths_.branch(state_, op, active);
      return Stop::kGone;
    case Handler::kBranchTable:
      paths_.branch_table(state_, op, active);
      return Stop::kGone;
    case Handler::kNothing:
    case Handler::kNanosleep:
      ++state_.now.pc;
      return Stop::kGone;
    case Handler::kCall:
      stop = !execute_call(state_, paths_, op, active);
      return Stop::kGone;
    case Handler::kReturn:
      stop = !execute_return(state_, paths_, active);
      return Stop::kGone;
    case Handler::kExit:
      ++state_.now.pc;
      state_.now.mask &= ~active;
      kill(active);
      stop = state_.now.mask == 0;
      return Stop::kGone;
    case Handler::kTrap:
      if (active != 0) state_.fault(FaultKind::kTrap, active, 0, {});
      ++state_.now.pc;
      return Stop::kGone;
    case Handler::kBarrier:
      stop = !barrier(op, active);
      return Stop::kBlocked;
    case Handler::kWarpBarrier:
      stop = !execute_warp_barrier(state_, paths_, op, active);
      return Stop::kBlocked;
    case Handler::kLaneSync:
      stop = !execute_lane_sync(state_, paths_, op, active);
      return Stop::kBlocked;
    default:
      return step_groups(op, active, stop);
  }
}

/// Executes operations of clusters and warpgroups.
Warp::Stop Warp::step_groups(const Operation& op, LaneMask active, bool& stop) {
  switch (op.handler) {
    case Handler::kClusterArrive:
      ++state_.now.pc;
      groups_.cluster_arrive(active);
      if (state_.record && active != 0) note_cluster_arrival(active);
      if (active != 0) cta_->settle_cluster();
      return Stop::kGone;
    case Handler::kClusterWait:
      sharing_ = Sharing::kNone;
      stop = !groups_.cluster_wait(state_, paths_, active);
      return Stop::kBlocked;
    case Handler::kWarpgroupCommit:
      ++state_.now.pc;
      if (active == 0) return Stop::kGone;
      groups_.commit();
      ++state_.machine->watch.changes;
      cta_->settle_warpgroup(state_.index / kWarpsOfGroup);
      return Stop::kGone;
    case Handler::kWarpgroupWait:
      stop = !groups_.wait(state_, paths_, op, active, cta_->committed(state_.index / kWarpsOfGroup));
      return Stop::kBlocked;
    default:
      state_.fault(FaultKind::kIllegalInstruction, active, 0, "not supported");
  }
}

/// The warp arrives with the last of its lanes.
void Warp::note_cluster_arrival(LaneMask active) {
  --state_.now.pc;
  state_.note(groups_.arrived_at_cluster(state_.live) ? active : 0);
  ++state_.now.pc;
}

void Warp::note_slow_path(const Operation& op, LaneMask active) {
  const LaneMask lanes = op.slow_path(state_.lane_args(op, active, active));
  if (lanes == 0) return;
  const std::uint32_t index = state_.machine->kernel.slow_path_record(state_.now.pc);
  state_.record->records.push_back(trace::Record::make(index, trace::AddressForm::kNone, lanes));
}

/// False: no lanes of the split that runs are left to go on.
bool Warp::barrier(const Operation& op, LaneMask active) {
  Arrival arrival;
  const bool left = execute_barrier(state_, paths_, op, active, arrival);
  if (arrival.lanes == 0) return left;
  if (arrival.waits) sharing_ = Sharing::kNone;
  const std::uint32_t counted = cta_->arrive(arrival, state_.index);
  if (state_.record) note_arrival(state_, paths_, op, arrival, counted);
  cta_->settle(arrival.barrier);
  return left;
}

void Warp::kill(LaneMask lanes) {
  if (lanes == 0) return;
  paths_.kill(state_, lanes);
  settle_sync(state_, paths_);
  cta_->lanes_exited();
}

bool Warp::release_reconvergence(Divergence::Hold hold) {
  const bool released = paths_.release_reconvergence(state_, hold);
  if (released) print_.reset();
  return released;
}

void Warp::release_barrier(std::uint32_t barrier, const Reduced& reduced) {
  print_.reset();
  exec::release_barrier(state_, paths_, barrier, reduced);
}

void Warp::release_cluster() {
  print_.reset();
  groups_.release_cluster(paths_);
}

void Warp::release_warpgroup(std::uint32_t groups) {
  print_.reset();
  WarpGroups::release_warpgroup(paths_, groups);
}

Warp::Standing Warp::standing() const {
  const Split& split = yielded_ ? state_.now : paths_.others().front();
  return {split.pc, static_cast<std::uint32_t>(std::countr_zero(split.mask))};
}

void Warp::add_to(Fingerprint& all) const {
  if (!print_) print_ = print_now();
  all.add(*print_);
}

std::uint64_t Warp::print_now() const {
  Fingerprint print;
  const auto add = [&](auto... words) { (print.add(static_cast<std::uint64_t>(words)), ...); };
  add(state_.live, sharing_);
  groups_.add_to(print);
  paths_.add_to(print);
  for (const Frame& f : state_.frames) add(f.function, f.base, f.local, f.return_pc, f.parent, f.lanes);
  add(state_.flags.carry);
  state_.polls.add_to(print);
  print.add(std::as_bytes(std::span(state_.file)));
  print.add(state_.local.frames());
  return print.value();
}

}  // namespace lockstep::exec
