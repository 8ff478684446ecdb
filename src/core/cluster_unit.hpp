// What an SM does for clusters: accesses to other SMs' shared memory and theirs to its own, copies between
// them, signals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/cluster_port.hpp"
#include "core/cluster_share.hpp"
#include "core/lsu_latencies.hpp"
#include "core/lsu_operation.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_results.hpp"
#include "stats/counters.hpp"

namespace lockstep::core {

/// A load or atomic takes cluster.latency where nothing else is on the way: to the other SM, over its banks,
/// and back. Stores and reductions have no result. The load/store unit takes nothing further before the data
/// of a store have left. `data_free`, where it is given: the cycle from which the SM's banks
/// take the next operation.
class ClusterUnit {
 public:
  ClusterUnit(const config::GpuConfig& config, icnt::Fabric& fabric, std::uint32_t sm,
              const LsuLatencies& latencies, LsuPort& port, LsuResults& results,
              std::vector<stats::SmCounters>& counters)
      : port_(config, *fabric.cluster, sm),
        shared_rest_(latencies.shared_rest),
        crossbar_(&port),
        results_(&results),
        counters_(&counters) {}

  /// Start of a window.
  void gather(Cycle from) { port_.gather(from); }

  /// A CTA of a cluster begins in a slot.
  void join(unsigned cta, std::uint8_t kernel, const icnt::ClusterPlace& place);
  [[nodiscard]] const icnt::ClusterPlace& place(unsigned cta) const { return members_[cta].place; }

  /// Begins an access to shared memory whose addresses name CTAs. False: it is one of the CTA's own memory,
  /// and nothing has been done.
  [[nodiscard]] bool access(Cycle now, const MioOperation& op, Cycle& data_free);
  /// Of the access that has just begun: passes over the banks of all SMs that have a part of it.
  [[nodiscard]] unsigned wavefronts() const;
  /// The load/store unit waits until what it has stored has left.
  [[nodiscard]] bool holds_stores() const { return port_.has_data(ClusterPort::kRequests); }
  /// Begins a bulk copy to other CTAs' shared memory.
  void copy(const MioOperation& op);
  /// Events at an mbarrier of the CTA with that rank. `filled`: bytes that a multicast has brought there.
  void signal(Cycle now, unsigned cta, std::uint32_t rank, std::uint32_t mbarrier, std::uint32_t events,
              std::uint32_t filled);
  /// kBarrier or kGone, to the other CTAs of the cluster. `phase`: of the barrier.
  void broadcast(Cycle now, unsigned cta, icnt::ClusterMessage::Kind kind, std::uint32_t phase);

  /// Something is to be received or sent in this cycle.
  [[nodiscard]] bool active(Cycle now) const { return port_.active(now) || !copies_.empty(); }
  void receive(Cycle now, Cycle& data_free);
  void send(Cycle now, Cycle& data_free);
  /// What has come for CTAs of the SM in this cycle.
  [[nodiscard]] const std::vector<icnt::ClusterMessage>& news() const { return news_; }
  void clear_news() { news_.clear(); }
  [[nodiscard]] Cycle next_event(Cycle now) const;
  [[nodiscard]] bool idle() const {
    return port_.idle() && copies_.empty() && free_.size() == pending_.size();
  }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, port_, a.given(shared_rest_), a.given(crossbar_), a.given(results_), a.given(counters_),
              members_, a.given(shares_), pending_, free_, copies_, news_);
  }

 private:
  struct Member {
    std::uint8_t kernel = 0;
    icnt::ClusterPlace place = {};
  };
  /// An access that waits for replies.
  struct Pending {
    Cycle ready = 0;  // the result does not come before
    std::uint32_t handle = 0, replies = 0;
  };
  struct Copy {
    std::uint32_t handle = 0, left = 0;  // bytes
    std::uint32_t mbarrier = 0, events = 0;
    std::uint16_t ranks = 0;
    std::uint8_t cta = 0;
  };
  [[nodiscard]] icnt::ClusterMessage message(icnt::ClusterMessage::Kind kind, unsigned cta,
                                             std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t take_entry(std::uint32_t handle);
  void send_share(Cycle now, const MioOperation& op, const ClusterShare& share, std::uint32_t tag);
  void serve(Cycle now, std::uint32_t sm, const icnt::ClusterMessage& request, Cycle& data_free);
  void take_reply(Cycle now, std::uint32_t tag);
  void send_chunk(Cycle now, Cycle& data_free);

  ClusterPort port_;
  Cycle shared_rest_;
  LsuPort* crossbar_;
  LsuResults* results_;
  std::vector<stats::SmCounters>* counters_;
  std::vector<Member> members_;  // by CTA slot
  ClusterShares shares_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_;
  Ring<Copy> copies_;
  std::vector<icnt::ClusterMessage> news_;
};

}  // namespace lockstep::core
