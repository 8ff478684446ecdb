#include "uvm/advice.hpp"

namespace lockstep::uvm {

void AdviceTable::advise(TreeIndex tree, const PageSet& pages, Advice advice, Named place,
                         std::uint16_t other) {
  AdvisedPages& a = trees_[tree];
  switch (advice) {
    case Advice::kSetReadMostly:
      a.read_mostly |= pages;
      return;
    case Advice::kUnsetReadMostly:
      a.read_mostly -= pages;
      return;
    case Advice::kSetPreferredLocation:
    case Advice::kUnsetPreferredLocation:
      for (PageSet* set : {&a.prefer_host, &a.prefer_device, &a.prefer_other}) *set -= pages;
      for (PageSet& set : a.preferred_by) set -= pages;
      if (advice == Advice::kUnsetPreferredLocation) return;
      if (place == Named::kOther) {
        if (a.preferred_by.size() <= other) a.preferred_by.resize(other + 1u);
        a.preferred_by[other] |= pages;
      }
      (place == Named::kHost     ? a.prefer_host
       : place == Named::kDevice ? a.prefer_device
                                 : a.prefer_other) |= pages;
      return;
    case Advice::kSetAccessedBy:
      if (place != Named::kOther) (place == Named::kHost ? a.accessed_by_host : a.accessed_by) |= pages;
      return;
    case Advice::kUnsetAccessedBy:
      if (place != Named::kOther) (place == Named::kHost ? a.accessed_by_host : a.accessed_by) -= pages;
      return;
    case Advice::kNone:
      return;
  }
}

Placement AdviceTable::placement(TreeIndex tree, unsigned page, bool write) const {
  const AdvisedPages& a = of(tree);
  if (!write && a.read_mostly.contains(page)) return Placement::kDuplicate;
  if (a.prefer_device.contains(page)) return Placement::kMigrate;
  const bool stays =
      a.prefer_host.contains(page) || a.prefer_other.contains(page) || a.accessed_by.contains(page);
  return stays && !a.read_mostly.contains(page) ? Placement::kRemote : Placement::kMigrate;
}

}  // namespace lockstep::uvm
