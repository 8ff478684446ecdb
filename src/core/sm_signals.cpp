// What instructions wait for besides registers, and whom they signal when they are done: mbarriers, groups of
// asynchronous copies, fences.
#include <algorithm>
#include <array>
#include <utility>

#include "core/sm_stages.hpp"
#include "trace/bulk_runs.hpp"
#include "trace/mbarrier_words.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

/// Bytes of global memory that a bulk copy's record names.
std::uint32_t bytes_of_copy(const trace::Record& record, const std::uint64_t* words) {
  std::array<Address, kWarpSize> each{};
  trace::expand_addresses(record.form(), record.mask, words, each.data());
  std::uint64_t bytes = 0;
  trace::each_bulk_run(each.data(), bit_count(record.mask),
                       [&](const trace::BulkRun& run) { bytes += std::uint64_t{run.rows} * run.bytes; });
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace

/// What an operation waits for, or whom it signals, when it is done.
[[gnu::noinline]] void Sm::State::synchronise(unsigned w, const IssueInst& inst, const trace::Record& record,
                                              const MioOperation& op) {
  Warp& warp = warps[w];
  InFlight& f = in_flight[op.handle];
  if (inst.signal == trace::SignalOp::kAwaits) {
    ++warp.awaited;
    f.notifies = {kAwaitsSignals, 0};
    if (!awaits(warp, warp.next + 1)) warp.block = Block::kSignal;
    return;
  }
  const MbarrierEvents events = events_of(inst, record, warp.words);
  if (inst.barrier == trace::BarrierOp::kSync) return wait_for_mbarrier(warp, events);
  f.notifies = events;
  if (!op.ranks) return;
  if (op.bulk == trace::BulkCopy::kBetween) f.notifies = {};  // its last line does
  if (op.multicast) f.filled = bytes_of_copy(record, warp.words);
  if (events.mbarrier == kSignalsByLane) by_lane.push_back({op.handle, op.form, op.mask, op.words});
}

/// Is there a record, and does it wait for signals?
bool Sm::State::awaits(const Warp& warp, const trace::Record* record) {
  return record != warp.end && (*warp.table)[record->inst()].signal == trace::SignalOp::kAwaits;
}

void Sm::State::end_await(Warp& warp) {
  if (--warp.awaited == 0 && warp.block == Block::kSignal) warp.block = Block::kNone;
}

/// The events of a test, an arrival or a bulk copy whose record has them; none for other instructions.
MbarrierEvents Sm::State::events_of(const IssueInst& inst, const trace::Record& record,
                                    const std::uint64_t* words) {
  if (record.form() == trace::AddressForm::kNone) return {};
  std::array<Address, kWarpSize> said{};  // mbarrier, events
  if (inst.bulk != trace::BulkCopy::kNone) {
    trace::expand_addresses(record.form(), record.mask, words, said.data());
  } else if (inst.barrier != trace::BarrierOp::kNone &&
             (record.form() == trace::AddressForm::kAffine || (words[0] & trace::kSignalByLane) != 0)) {
    said = {words[0], words[1]};
  }
  const std::uint64_t word = said[0];
  if (inst.bulk == trace::BulkCopy::kNone && (word & trace::kSignalByLane) != 0)
    return {kSignalsByLane, 1, 0};
  if (trace::mbarrier_of(word) >= kMaxMbarriers) return {};  // no recording of ours
  return {trace::mbarrier_of(word), static_cast<std::uint32_t>(said[1]), trace::targets_of(word)};
}

/// A multicast's events in its own CTA.
void Sm::State::notify_own(const InFlight& f, Cycle now) {
  Cta& cta = ctas[f.cta];
  if ((f.notifies.targets >> cta.cluster_barrier.rank & 1) != 0) notify_mbarrier(cta, f.notifies, now);
}

/// Each lane's event goes to the mbarrier that its word names.
void Sm::State::signal_by_lane(const InFlight& f, std::uint32_t handle, Cycle now) {
  const auto found = std::find_if(by_lane.begin(), by_lane.end(),
                                  [&](const SignalsByLane& s) { return s.handle == handle; });
  if (found == by_lane.end()) return;
  std::array<Address, kWarpSize> words{};
  trace::expand_addresses(found->form, found->mask, found->words, words.data());
  for (const unsigned lane : bits_of(found->mask)) {
    const std::uint64_t word = words[lane] & ~trace::kSignalByLane;
    if (word != 0) signal(f.cta, {trace::mbarrier_of(word), 1, trace::targets_of(word)}, now);
  }
  *found = by_lane.back();
  by_lane.pop_back();
}

/// A fence lets the warp go on when its stores are acknowledged, and not before its own latency has passed.
void Sm::State::fence(Warp& warp, const IssueInst& inst, Tick now) {
  const config::SyncGroup& s = config.sync;
  const Tick latency = inst.fence == trace::FenceScope::kCta      ? s.membar_cta
                       : inst.fence == trace::FenceScope::kSystem ? s.membar_system
                                                                  : s.membar_gpu;
  warp.not_before = now + latency;
  warp.delay = stats::Stall::kMemBar;
  if (warp.stores > 0) warp.block = Block::kFence;
}

/// LDGDEPBAR closes the group of async copies; DEPBAR waits until at most `immediate` closed groups are under
/// way.
void Sm::State::async_groups(Warp& warp, const IssueInst& inst) {
  if (inst.closes_group) {
    warp.open_group = static_cast<std::uint8_t>((warp.open_group + 1) % kMaxAsyncGroups);
    return;
  }
  warp.wait_groups = static_cast<std::uint16_t>(std::clamp(inst.immediate, 0, int{kMaxAsyncGroups}));
  if (!groups_done(warp)) warp.block = Block::kDepBar;
}

/// ARRIVES: when the warp's copies so far have ended.
void Sm::State::arrive_after_copies(Warp& warp, const MbarrierEvents& events, Cycle now) {
  if (events.mbarrier == 0) return;
  for (unsigned back = 0; back < kMaxAsyncGroups; ++back) {
    const unsigned g = (warp.open_group + kMaxAsyncGroups - back) % kMaxAsyncGroups;
    if (warp.group[g] == 0) continue;
    if (warp.notifies[g].mbarrier != 0) signal(warp.cta, warp.notifies[g], now);  // no more than one
    warp.notifies[g] = events;
    if (g == warp.open_group)
      warp.open_group = static_cast<std::uint8_t>((warp.open_group + 1) % kMaxAsyncGroups);
    return;
  }
  signal(warp.cta, events, now);
}

/// One of the group's copies has ended.
void Sm::State::end_copy(Warp& warp, unsigned group, Cycle now) {
  if (--warp.group[group] > 0) return;
  if (warp.block == Block::kDepBar && groups_done(warp)) warp.block = Block::kNone;
  if (warp.notifies[group].mbarrier != 0) signal(warp.cta, std::exchange(warp.notifies[group], {}), now);
}

bool Sm::State::groups_done(const Warp& warp) {
  for (unsigned back = warp.wait_groups + 1u; back < kMaxAsyncGroups; ++back)
    if (warp.group[(warp.open_group + kMaxAsyncGroups - back) % kMaxAsyncGroups] > 0) return false;
  return true;
}

/// What waits for the result of an operation that synchronises.
[[gnu::noinline]] void Sm::State::notify(const InFlight& f, std::uint32_t handle, Cycle now) {
  if (f.notifies.mbarrier == kAwaitsSignals) return end_await(warps[f.warp]);
  if (f.notifies.mbarrier == kSignalsByLane) return signal_by_lane(f, handle, now);
  f.multicast ? notify_own(f, now) : signal(f.cta, f.notifies, now);
}

}  // namespace lockstep::core
