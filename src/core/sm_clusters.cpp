// Clusters: the barrier of their CTAs, and events at mbarriers of other CTAs.
#include <algorithm>

#include "core/sm_ctas.hpp"
#include "util/bits.hpp"

namespace lockstep::core {

using stats::Stall;

/// All CTAs of a cluster begin in the same cycle: no message comes before its receiver.
void SmCtas::join_cluster(unsigned slot, const icnt::ClusterPlace& place) {
  Cta& cta = ctas[slot];
  cta.cluster = place.number;
  cta.cluster_barrier.ranks = place.ranks;
  cta.cluster_barrier.rank = place.rank;
  mio.cluster()->join(slot, cta.kernel, place);
}

void SmCtas::signal(unsigned cta, const MbarrierEvents& events, Cycle now) {
  const std::uint8_t own = ctas[cta].cluster_barrier.rank;
  if (events.targets == 0 || (events.targets >> own & 1) != 0) notify_mbarrier(ctas[cta], events, now);
  if (events.targets != 0) signal_others(cta, events, 0, now);
}

void SmCtas::signal_others(unsigned cta, const MbarrierEvents& events, std::uint32_t filled, Cycle now) {
  const ClusterBarrier& cluster = ctas[cta].cluster_barrier;
  for (const unsigned rank : bits_of(static_cast<std::uint32_t>(events.targets & cluster.everyone()))) {
    if (rank == cluster.rank) continue;
    mio.cluster()->signal(now, cta, rank, events.mbarrier, events.events, filled);
    mio_next = std::min(mio_next, now + 1);
  }
}

void SmCtas::cluster_barrier(unsigned w, const IssueInst& inst, Cycle now) {
  Warp& warp = warps[w];
  ClusterBarrier& cluster = ctas[warp.cta].cluster_barrier;
  if (cluster.ranks == 1) return;
  if (inst.barrier == trace::BarrierOp::kArrive) {
    if ((cluster.arrived & warp_bit(w)) != 0) return;
    ++counters[warp.kernel].barriers;
    cluster.arrived |= warp_bit(w);
    cluster.owes_wait |= warp_bit(w);
    return settle_cluster(warp.cta, now);
  }
  if ((cluster.owes_wait & warp_bit(w)) == 0) return;
  cluster.owes_wait &= ~warp_bit(w);
  if ((cluster.arrived & warp_bit(w)) != 0) {
    warp.block = Block::kCluster;
  } else if (cluster.release > now) {
    warp.not_before = local(cluster.release);
    warp.delay = Stall::kBarrier;
  }
}

/// A warp has ended: it counts as having arrived from now on.
void SmCtas::leave_cluster(unsigned w, Cycle now) {
  const unsigned slot = warps[w].cta;
  ClusterBarrier& cluster = ctas[slot].cluster_barrier;
  if (cluster.ranks == 1) return;
  cluster.live &= ~warp_bit(w);
  cluster.arrived &= ~warp_bit(w);
  if (cluster.live != 0) return settle_cluster(slot, now);
  mio.cluster()->broadcast(now, slot, icnt::ClusterMessage::Kind::kGone, 0);
  mio_next = std::min(mio_next, now + 1);
}

/// Whether the CTA has arrived, and whether all have.
void SmCtas::settle_cluster(unsigned slot, Cycle now) {
  Cta& cta = ctas[slot];
  ClusterBarrier& cluster = cta.cluster_barrier;
  if (cluster.live == 0) return;
  std::uint16_t& here = cluster.here[cluster.phase % 2];
  const auto self = static_cast<std::uint16_t>(1u << cluster.rank);
  if ((here & self) == 0) {
    if (cluster.arrived == 0 || (cluster.live & ~cluster.arrived) != 0) return;
    here |= self;
    cluster.own_arrival = now;
    mio.cluster()->broadcast(now, slot, icnt::ClusterMessage::Kind::kBarrier, cluster.phase);
    mio_next = std::min(mio_next, now + 1);
  }
  if ((here | cluster.gone) == cluster.everyone()) release_cluster(cta, now);
}

/// A CTA's own arrival takes as long as those of others to count.
void SmCtas::release_cluster(Cta& cta, Cycle now) {
  ClusterBarrier& cluster = cta.cluster_barrier;
  cluster.here[cluster.phase % 2] = 0;
  ++cluster.phase;
  cluster.arrived = 0;
  cluster.release = std::max(now, cluster.own_arrival + config.cluster.barrier_latency);
  for (const unsigned w : bits_of(cta.warps)) {
    Warp& warp = warps[w];
    if (warp.block != Block::kCluster) continue;
    warp.block = Block::kNone;
    warp.not_before = local(cluster.release);
    warp.delay = Stall::kBarrier;
    evaluate(w, local(now) + 1);
  }
}

/// What comes for a CTA that has ended is lost.
void SmCtas::receive_of_cluster(const icnt::ClusterMessage& message, Cycle now) {
  const auto found = std::find_if(ctas.begin(), ctas.end(), [&](const Cta& c) {
    return c.trace && !c.freed && c.kernel == message.kernel && c.cluster == message.cluster &&
           c.cluster_barrier.ranks > 1 && c.cluster_barrier.rank == message.to;
  });
  if (found == ctas.end()) return;
  const auto from = static_cast<std::uint16_t>(1u << message.from);
  switch (message.kind) {
    case icnt::ClusterMessage::Kind::kBarrier:
      found->cluster_barrier.here[message.events % 2] |= from;
      break;
    case icnt::ClusterMessage::Kind::kGone:
      found->cluster_barrier.gone |= from;
      break;
    default:
      return notify_mbarrier(*found, {message.mbarrier, message.events, 0}, now);
  }
  settle_cluster(static_cast<unsigned>(found - ctas.begin()), now);
}

}  // namespace lockstep::core
