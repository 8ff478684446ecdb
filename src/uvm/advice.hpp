// Advice about pages (cudaMemAdvise), and where a page is placed because of it (NVIDIA's driver).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "uvm/managed_command.hpp"
#include "uvm/page_table.hpp"

namespace lockstep::uvm {

/// Advice for the pages of one tree.
struct AdvisedPages {
  PageSet read_mostly;
  PageSet prefer_host, prefer_device, prefer_other;  // disjoint; other: another device
  PageSet accessed_by;                               // the device
  PageSet accessed_by_host;
  std::vector<PageSet> preferred_by;  // parts of prefer_other, by device
  template <class A>
  void persist(A& a) {
    a.members(*this, read_mostly, prefer_host, prefer_device, prefer_other, accessed_by, accessed_by_host,
              preferred_by);
  }
};

/// What a device's fault on a page of the host leads to.
enum class Placement : std::uint8_t {
  kMigrate,    // to the device
  kDuplicate,  // a copy on the device, read-only; the host keeps its own
  kRemote      // the page stays where it is, the device maps it
};

class AdviceTable {
 public:
  /// `other`: which device, if `place` is another one.
  void advise(TreeIndex tree, const PageSet& pages, Advice advice, Named place, std::uint16_t other = 0);
  [[nodiscard]] const AdvisedPages& of(TreeIndex tree) const {
    static const AdvisedPages kNone;
    if (trees_.empty()) return kNone;
    const auto found = trees_.find(tree);
    return found == trees_.end() ? kNone : found->second;
  }
  /// Read-mostly: reads duplicate, writes leave the writer's copy alone valid. Otherwise the preferred
  /// location decides: if it is the device, the page migrates, else it stays. Otherwise a page that is
  /// accessed by the device stays.
  [[nodiscard]] Placement placement(TreeIndex tree, unsigned page, bool write) const;
  [[nodiscard]] bool empty() const { return trees_.empty(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, trees_);
  }

 private:
  std::unordered_map<TreeIndex, AdvisedPages> trees_;  // never walked over
};

}  // namespace lockstep::uvm
