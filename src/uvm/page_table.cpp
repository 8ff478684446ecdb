#include "uvm/page_table.hpp"

namespace lockstep::uvm {

TreeIndex PageTable::touch(TreeId id) {
  for (std::size_t i = home(id);; i = (i + 1) & (buckets_.size() - 1)) {
    if (buckets_[i] == kNone) {
      if ((trees_.size() + 1) * 2 > buckets_.size()) {
        grow();
        return touch(id);
      }
      buckets_[i] = static_cast<TreeIndex>(trees_.size());
      Tree& tree = trees_.emplace_back();
      tree.id = id;
      tree.base = space_->address({id, 0});
      tree.pages = space_->pages_of(id);
      return buckets_[i];
    }
    if (trees_[buckets_[i]].id == id) return buckets_[i];
  }
}

std::optional<TreeIndex> PageTable::find(TreeId id) const {
  for (std::size_t i = home(id); buckets_[i] != kNone; i = (i + 1) & (buckets_.size() - 1))
    if (trees_[buckets_[i]].id == id) return buckets_[i];
  return std::nullopt;
}

void PageTable::grow() {
  buckets_.assign(buckets_.size() * 2, kNone);
  for (TreeIndex t = 0; t < trees_.size(); ++t) {
    std::size_t i = home(trees_[t].id);
    while (buckets_[i] != kNone) i = (i + 1) & (buckets_.size() - 1);
    buckets_[i] = t;
  }
}

}  // namespace lockstep::uvm
