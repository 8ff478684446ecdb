// Which absent pages the device accesses where they are, and why: advice, thrashing, access counters.
#pragma once

#include <optional>

#include "uvm/access_counters.hpp"
#include "uvm/advice.hpp"
#include "uvm/parameters.hpp"
#include "uvm/remote.hpp"
#include "uvm/thrashing.hpp"

namespace lockstep::uvm {

/// Reasons in this order: the page is pinned because it thrashed; advice; the access counters.
class RemoteControl {
 public:
  /// `lapse`: uvm.thrashing_lapse_ns in core cycles.
  RemoteControl(const Parameters& parameters, Cycle lapse);

  /// The page stays on the host: pinned, or because of advice.
  [[nodiscard]] bool kept(TreeIndex tree, unsigned page, bool write, Cycle now) const;
  /// The access is too early for the page to migrate. `context`: all but the policy's own parameters.
  [[nodiscard]] bool too_early(TreeIndex tree, unsigned page, bool write, const RemoteContext& context) const;
  /// Pages of the tree that are not prefetched: they thrash, or advice keeps them.
  [[nodiscard]] PageSet barred(TreeIndex tree) const;
  [[nodiscard]] bool counts_only_remote() const { return policy_->remote_only; }
  [[nodiscard]] bool by_counters() const { return policy_ != &kRemoteNever; }
  /// An access of the device to the page; `remote`: it crossed the link.
  void count_access(TreeIndex tree, unsigned page, bool remote) {
    if (by_counters() && (remote || !counts_only_remote())) counters.accessed(tree, page / kPagesPerLeaf);
  }
  /// The smart runtime's change.
  void change_policy(const RemotePolicy& policy) { policy_ = &policy; }

  template <class A>
  void persist(A& a) {
    a.members(*this, counters, advice, thrashing, a.given(policy_), a.given(threshold_), a.given(penalty_));
    a.choice(policy_, remote_policies());
  }

  AccessCounters counters;
  AdviceTable advice;
  std::optional<Thrashing> thrashing;

 private:
  const RemotePolicy* policy_;
  std::uint32_t threshold_, penalty_;
};

}  // namespace lockstep::uvm
