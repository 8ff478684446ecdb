#include "uvm/page_table.hpp"

namespace lockstep::uvm {

TreeIndex PageTable::touch(TreeId id) {
  for (std::size_t i = home(id);; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i] == kNone) {
      if ((trees_.size() + 1) * 2 > slots_.size()) {
        grow();
        return touch(id);
      }
      slots_[i] = static_cast<TreeIndex>(trees_.size());
      Tree& tree = trees_.emplace_back();
      tree.id = id;
      tree.base = space_->address({id, 0});
      tree.pages = space_->pages_of(id);
      return slots_[i];
    }
    if (trees_[slots_[i]].id == id) return slots_[i];
  }
}

std::optional<TreeIndex> PageTable::find(TreeId id) const {
  for (std::size_t i = home(id); slots_[i] != kNone; i = (i + 1) & (slots_.size() - 1))
    if (trees_[slots_[i]].id == id) return slots_[i];
  return std::nullopt;
}

void PageTable::grow() {
  slots_.assign(slots_.size() * 2, kNone);
  for (TreeIndex t = 0; t < trees_.size(); ++t) {
    std::size_t i = home(trees_[t].id);
    while (slots_[i] != kNone) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = t;
  }
}

}  // namespace lockstep::uvm
