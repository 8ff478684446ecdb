#include "uvm/advice.hpp"

namespace lockstep::uvm {

void AdviceTable::advise(TreeIndex tree, const PageSet& pages, Advice advice, bool host) {
  AdvisedPages& a = trees_[tree];
  switch (advice) {
    case Advice::kSetReadMostly:
      a.read_mostly |= pages;
      return;
    case Advice::kUnsetReadMostly:
      a.read_mostly -= pages;
      return;
    case Advice::kSetPreferredLocation:
      (host ? a.prefer_host : a.prefer_device) |= pages;
      (host ? a.prefer_device : a.prefer_host) -= pages;
      return;
    case Advice::kUnsetPreferredLocation:
      a.prefer_host -= pages;
      a.prefer_device -= pages;
      return;
    case Advice::kSetAccessedBy:
      (host ? a.accessed_by_host : a.accessed_by) |= pages;
      return;
    case Advice::kUnsetAccessedBy:
      (host ? a.accessed_by_host : a.accessed_by) -= pages;
      return;
    case Advice::kNone:
      return;
  }
}

Placement AdviceTable::placement(TreeIndex tree, unsigned page, bool write) const {
  const AdvisedPages& a = of(tree);
  if (!write && a.read_mostly.contains(page)) return Placement::kDuplicate;
  if (a.prefer_device.contains(page)) return Placement::kMigrate;
  const bool stays = a.prefer_host.contains(page) || a.accessed_by.contains(page);
  return stays && !a.read_mostly.contains(page) ? Placement::kRemote : Placement::kMigrate;
}

}  // namespace lockstep::uvm
