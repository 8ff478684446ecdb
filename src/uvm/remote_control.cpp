#include "uvm/remote_control.hpp"

namespace lockstep::uvm {

RemoteControl::RemoteControl(const Parameters& p, Cycle lapse)
    : policy_(remote_policies()[p.remote]), threshold_(p.remote_threshold), penalty_(p.remote_penalty) {
  if (!p.thrashing || p.fault_mode != FaultMode::kDriver) return;
  thrashing.emplace(ThrashingRules{lapse, p.thrashing_threshold, p.thrashing_throttles,
                                   p.thrashing_pin_lapses, p.thrashing_epoch_lapses, p.thrashing_resets});
}

bool RemoteControl::kept(TreeIndex tree, unsigned page, bool write, Cycle now) const {
  if (thrashing && thrashing->pinned(tree, page, now)) return true;
  return !advice.empty() && advice.placement(tree, page, write) == Placement::kRemote;
}

bool RemoteControl::too_early(TreeIndex tree, unsigned page, bool write, const RemoteContext& context) const {
  if (write && !policy_->writes_stay) return false;
  RemoteContext c = context;
  c.threshold = threshold_;
  c.penalty = penalty_;
  return counters.accesses(tree, page / kPagesPerLeaf) < policy_->threshold(c);
}

PageSet RemoteControl::barred(TreeIndex tree) const {
  PageSet pages;
  if (thrashing) pages = thrashing->thrashing(tree);
  if (advice.empty()) return pages;
  const AdvisedPages& a = advice.of(tree);
  return pages | ((a.prefer_host | a.prefer_other | a.accessed_by) - a.prefer_device - a.read_mostly);
}

}  // namespace lockstep::uvm
