#include "core/sm_ctas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "util/bits.hpp"

namespace lockstep::core {

using stats::Stall;

void SmCtas::start_cta(const icnt::LaunchCta& launch, Cycle now) {
  const KernelSlot& kernel = kernels[launch.kernel];
  if (kernel.launch_sequence > seen_launch) {
    seen_launch = kernel.launch_sequence;
    mio.invalidate();
    front.preload(kernel.code_base);
  }
  if (kernel.launch_sequence != std::exchange(slot_launch[launch.kernel], kernel.launch_sequence))
    mio.begin_kernel(launch.kernel);
  if (launch.carveout != carveout) {
    assert(occupied == 0);
    carveout = launch.carveout;
    mio.set_carveout(carveout);
  }
  const unsigned slot = free_cta_slot();
  Cta& cta = ctas[slot];
  cta = {};
  cta.trace = kernel.feed->take(launch.cta);
  no_cta_end_before = now;  // to be found anew
  cta.index = launch.cta;
  cta.kernel = launch.kernel;
  if (launch.cluster.ranks > 1) join_cluster(slot, launch.cluster);
  const auto count = static_cast<unsigned>(cta.trace->warps.size());
  cta.live_warps = cta.busy_warps = static_cast<std::uint16_t>(count);
  ++counters[launch.kernel].ctas;
  counters[launch.kernel].warps += count;
  count_residency(launch.kernel, now);
  resident_warps[launch.kernel] += count;
  std::array<std::uint8_t, kMaxWarps> slots{};
  for (unsigned i = 0; i < count; ++i) {
    const unsigned w = free_warp_slot();
    occupied |= warp_bit(w);
    cta.warps |= warp_bit(w);
    slots[i] = static_cast<std::uint8_t>(w);
    start_warp(w, slot, i, local(now) + i * config.launch.warp_interval_milli / 1000);
  }
  cta.cluster_barrier.live = cta.warps;
  find_barrier_members(cta, slots);
  for (unsigned i = 0; i < count; ++i)
    if (warps[slots[i]].next == warps[slots[i]].end) end_warp(slots[i], now);
}

void SmCtas::start_warp(unsigned w, unsigned cta, unsigned number, Tick at) {
  const Cta& owner = ctas[cta];
  const trace::WarpSpan& span = owner.trace->warps[number];
  Warp& warp = warps[w];
  warp = {};
  warp.next = warp.fetch = owner.trace->records.data() + span.first_record;
  warp.end = warp.next + span.record_count;
  warp.words = owner.trace->words.data() + span.first_word;
  warp.table = kernels[owner.kernel].instructions;
  if (warp.fetch != warp.end) warp.fetch_inst = &(*warp.table)[warp.fetch->inst()];
  warp.kernel = owner.kernel;
  warp.cta = static_cast<std::uint8_t>(cta);
  warp.number = static_cast<std::uint8_t>(number);
  warp.resident = true;
  warp.fetch_from = at;
  subcores[w / 16].age[w % 16] = next_age++;
  line_awaited &= ~warp_bit(w);
  redirected &= ~warp_bit(w);
  set_waiting(w, Stall::kNoInstruction);
  update_fetch(w, local(current));
}

/// A slot of the sub-core with the fewest warps that have not ended: hardware deals a CTA's warps out over
/// the sub-cores and frees a warp's slot and registers when it ends (G. Smith, NVIDIA, on Stack Overflow:
/// streaming multiprocessors, blocks and threads).
unsigned SmCtas::free_warp_slot() const {
  unsigned best = 0;
  int fewest = 17;
  for (unsigned s = 0; s < subcore_count; ++s) {
    const int n = std::popcount(occupied >> 16 * s & 0xffff);
    if (n < fewest) {
      fewest = n;
      best = s;
    }
  }
  assert(fewest < 16);
  return 16 * best + static_cast<unsigned>(std::countr_one(occupied >> 16 * best & 0xffff));
}

unsigned SmCtas::free_cta_slot() {
  const auto free =
      std::find_if(ctas.begin(), ctas.end(), [](const Cta& c) { return !c.trace && c.stores == 0; });
  if (free != ctas.end()) return static_cast<unsigned>(free - ctas.begin());
  ctas.emplace_back();  // the others still wait for acknowledgements of CTAs that have left
  return static_cast<unsigned>(ctas.size() - 1);
}

/// Other traces than ours name a barrier but not how many warps take part. Barrier 0 is the whole CTA's; any
/// other is that of the warps that use it at all.
void SmCtas::find_barrier_members(Cta& cta, const std::array<std::uint8_t, kMaxWarps>& slots) {
  cta.members[0] = cta.warps;
  if (!kernels[cta.kernel].instructions->named_barriers()) return;
  for (unsigned i = 0; i < cta.trace->warps.size(); ++i) {
    const Warp& warp = warps[slots[i]];
    for (const trace::Record* r = warp.next; r != warp.end; ++r) {
      const IssueInst& inst = (*warp.table)[r->inst()];
      if (r->mask != 0 && inst.barrier != trace::BarrierOp::kNone && inst.barrier_id % 16 != 0)
        cta.members[inst.barrier_id % 16] |= warp_bit(slots[i]);
    }
  }
}

void SmCtas::note_arrival(const Warp& warp, unsigned id, Cycle now) {
  ++counters[warp.kernel].barriers;
  Cycle& last = ctas[warp.cta].last_arrival[id];
  last = std::max(now, barrier_free);
  barrier_free = last + config.sync.barrier_interval;
}

void SmCtas::barrier(unsigned w, const IssueInst& inst, Cycle now) {
  if (inst.barrier == trace::BarrierOp::kNone) return;  // reads or resets barrier state
  Warp& warp = warps[w];
  Cta& cta = ctas[warp.cta];
  const unsigned id = inst.barrier_id % 16;
  cta.arrived[id] |= warp_bit(w);
  note_arrival(warp, id, now);
  if (inst.barrier != trace::BarrierOp::kArrive) {
    warp.block = Block::kBarrier;
    warp.barrier = static_cast<std::uint8_t>(id);
  }
  release_barrier_if_complete(cta, id, now);
}

void SmCtas::release_barrier_if_complete(Cta& cta, unsigned id, Cycle now) {
  if (cta.arrived[id] == 0 || (cta.members[id] & ~cta.arrived[id])) return;
  const WarpSet64 released = cta.arrived[id];
  cta.arrived[id] = 0;
  for (const unsigned w : bits_of(released)) {
    Warp& warp = warps[w];
    if (warp.block != Block::kBarrier || warp.barrier != id) continue;  // only arrived
    release_from_barrier(w, std::max(now, cta.last_arrival[id]), now);
  }
}

void SmCtas::release_from_barrier(unsigned w, Cycle since, Cycle now) {
  Warp& warp = warps[w];
  warp.block = Block::kNone;
  warp.not_before = local(since) + config.sync.barrier_latency;
  warp.delay = Stall::kBarrier;
  evaluate(w, local(now) + 1);
}

/// A barrier of which the record says how many threads must have arrived.
void SmCtas::counted_barrier(unsigned w, const IssueInst& inst, const trace::BarrierEvents& events,
                             Cycle now) {
  Warp& warp = warps[w];
  Cta& cta = ctas[warp.cta];
  const unsigned id = events.barrier;
  note_arrival(warp, id, now);
  cta.counted[id] += events.arriving;
  if (inst.barrier != trace::BarrierOp::kArrive) {
    warp.block = Block::kBarrier;
    warp.barrier = static_cast<std::uint8_t>(trace::kCountedBarrier + id);
    warp.waits_for = {0, static_cast<std::uint32_t>(events.awaited)};
  }
  for (const unsigned other : bits_of(cta.warps)) {
    const Warp& there = warps[other];
    if (there.block == Block::kBarrier && there.barrier == trace::kCountedBarrier + id &&
        there.waits_for.events <= cta.counted[id])
      release_from_barrier(other, std::max(now, cta.last_arrival[id]), now);
  }
}

/// A test that was successful waits until the mbarrier has had the events that it had then.
void SmCtas::wait_for_mbarrier(Warp& warp, const MbarrierEvents& wanted) {
  const std::vector<std::uint32_t>& had = ctas[warp.cta].mbarriers;
  const std::uint32_t events = wanted.mbarrier < had.size() ? had[wanted.mbarrier] : 0;
  if (wanted.mbarrier == 0 || events >= wanted.events) return;
  warp.waits_for = wanted;
  warp.block = Block::kMbarrier;
}

void SmCtas::notify_mbarrier(Cta& cta, const MbarrierEvents& told, Cycle now) {
  if (told.mbarrier >= cta.mbarriers.size()) cta.mbarriers.resize(told.mbarrier + 1);
  const std::uint32_t events = cta.mbarriers[told.mbarrier] += told.events;
  for (const unsigned w : bits_of(cta.warps)) {
    Warp& warp = warps[w];
    if (warp.block != Block::kMbarrier || warp.waits_for.mbarrier != told.mbarrier ||
        warp.waits_for.events > events)
      continue;
    warp.block = Block::kNone;
    evaluate(w, local(now) + 1);
  }
}

void SmCtas::end_warp(unsigned w, Cycle now) {
  Warp& warp = warps[w];
  Cta& cta = ctas[warp.cta];
  warp.block = Block::kNone;
  set_waiting(w, Stall::kDrain);
  if (profile) note_issued(w);
  fetch_wanted &= ~warp_bit(w);
  --cta.live_warps;
  leave_cluster(w, now);
  for (unsigned id = 0; id < cta.members.size(); ++id) {
    if (!(cta.members[id] & warp_bit(w))) continue;
    cta.members[id] &= ~warp_bit(w);
    cta.arrived[id] &= ~warp_bit(w);
    release_barrier_if_complete(cta, id, now);
  }
  free_warp_if_done(w, now);
}

/// What the warp has issued so far.
void SmCtas::note_issued(unsigned w) {
  const Warp& warp = warps[w];
  const trace::CtaTrace& trace = *ctas[warp.cta].trace;
  profile->add_issued(warp, w, trace.records.data() + trace.warps[warp.number].first_record);
}

void SmCtas::free_warp_if_done(unsigned w, Cycle now) {
  Warp& warp = warps[w];
  if (warp.results > 0 || warp.readers > 0) return;
  set_waiting(w, Stall::kEmpty);
  scoreboard.clear(w, warp.table->scoreboard_entries());
  Cta& cta = ctas[warp.cta];
  warp.resident = false;
  occupied &= ~warp_bit(w);
  cta.warps &= ~warp_bit(w);
  if (--cta.busy_warps > 0) return;
  if (!mio.holds_exits()) return free_cta(cta, now);
  held_ctas.push_back(warp.cta);
}

void SmCtas::free_held_ctas(Cycle now) {
  if (mio.holds_exits()) return;
  for (const std::uint8_t slot : held_ctas) free_cta(ctas[slot], now);
  held_ctas.clear();
}

/// All its warps are done: the dispatcher may use what it had of the SM.
void SmCtas::free_cta(Cta& cta, Cycle now) {
  count_residency(cta.kernel, now);
  resident_warps[cta.kernel] -= static_cast<std::uint32_t>(cta.trace->warps.size());
  cta.freed = true;
  report(cta, icnt::CtaEvent::Kind::kFreed, now);
  kernels[cta.kernel].feed->release(cta.trace);
  release_cta_slot_if_drained(cta, now);
}

void SmCtas::release_cta_slot_if_drained(Cta& cta, Cycle now) {
  if (cta.stores > 0) return;
  report(cta, icnt::CtaEvent::Kind::kDrained, now);
  cta.trace = nullptr;
}

/// A kernel that has written to other devices ends with a release of system scope.
void SmCtas::report(Cta& cta, icnt::CtaEvent::Kind kind, Cycle now) {
  if (kind == icnt::CtaEvent::Kind::kDrained && mio.stored_to_peer(cta.kernel))
    now += config.sync.membar_system;
  fabric.cta_event->send(index, 0, now + done_latency, {kind, cta.kernel, cta.index, now});
}

/// A warp issues its records one by one, at most one a cycle, the first at `now`.
Cycle SmCtas::earliest_cta_end(Cycle now) const {
  Cycle earliest = kNever;
  for (const Cta& cta : ctas) {
    if (!cta.trace) continue;
    std::ptrdiff_t left = 1;
    if (!cta.freed)
      for (const unsigned w : bits_of(cta.warps)) left = std::max(left, warps[w].end - warps[w].next);
    earliest = std::min(earliest, now + static_cast<Cycle>(left - 1));
  }
  return earliest;
}

void SmCtas::count_residency(std::uint8_t kernel, Cycle now) {
  counters[kernel].warp_cycles += resident_warps[kernel] * (now - resident_since[kernel]);
  resident_since[kernel] = now;
}

void SmCtas::dump(std::string& out) const {
  constexpr std::array kNames = {
      "issued",          "math pipe", "MIO throttle", "register port",      "wait",  "short scoreboard",
      "long scoreboard", "barrier",   "memory fence", "dependency barrier", "sleep", "branch",
      "no instruction",  "drain",     "empty"};
  static_assert(kNames.size() == stats::kStalls);
  if (occupied == 0) return;
  fmt::format_to(std::back_inserter(out), "SM {}\n", index);
  for (const unsigned w : bits_of(occupied)) {
    const Warp& warp = warps[w];
    const Cta& cta = ctas[warp.cta];
    fmt::format_to(std::back_inserter(out), "  sub-core {} warp {:2}: kernel slot {} CTA {}, ", w / 16,
                   w % 16, warp.kernel, cta.index);
    if (warp.next == warp.end) {
      fmt::format_to(std::back_inserter(out), "at its end");
    } else {
      const IssueInst& inst = (*warp.table)[warp.next->inst()];
      fmt::format_to(std::back_inserter(out), "pc {:#x}, {} to go, {} buffered", inst.pc,
                     warp.end - warp.next, warp.buffered);
    }
    fmt::format_to(std::back_inserter(out), ", stall: {}", kNames[static_cast<unsigned>(reason[w])]);
    if (warp.block == Block::kBarrier && warp.barrier >= trace::kCountedBarrier) {
      const unsigned id = warp.barrier - trace::kCountedBarrier;
      fmt::format_to(std::back_inserter(out), " (barrier {}: {} threads have arrived, it waits for {})", id,
                     cta.counted[id], warp.waits_for.events);
    } else if (warp.block == Block::kBarrier) {
      fmt::format_to(std::back_inserter(out), " (barrier {}: arrived {} of {})", warp.barrier,
                     bit_count(cta.arrived[warp.barrier]), bit_count(cta.members[warp.barrier]));
    }
    if (warp.block == Block::kMbarrier)
      fmt::format_to(std::back_inserter(out), " (mbarrier {} of the CTA: waits for {} events)",
                     warp.waits_for.mbarrier, warp.waits_for.events);
    if (warp.block == Block::kCluster) out += " (barrier of the cluster)";
    if (warp.block == Block::kSignal) out += " (waits for signals of other CTAs, kernels or devices)";
    fmt::format_to(std::back_inserter(out), "; owed results {}, operand reads {}, stores {}\n", warp.results,
                   warp.readers, warp.stores);
  }
  mio.dump(out);
}

}  // namespace lockstep::core
