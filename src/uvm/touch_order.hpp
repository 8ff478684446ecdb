// Items in the order in which they were last touched, each with a weight, found by position.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::uvm {

/// Ids are small numbers. Touching, removing and finding by position take time logarithmic in the number of
/// items. Positions count weights: an item has the positions from the sum of the weights before it on.
class TouchOrder {
 public:
  /// The item becomes the last; it is added if it was not present. `weight` > 0.
  void touch(std::uint32_t id, std::uint32_t weight);
  /// Moves the item, if present, in front of the first other one for which `younger` is true. Linear.
  template <class F>
  void reposition(std::uint32_t id, F&& younger) {
    const std::uint32_t own = weight(id);
    if (own == 0) return;
    std::vector<Thing> things;
    bool placed = false;
    for (std::uint32_t entry = 0; entry < used_; ++entry) {
      if (weights_[entry] == 0 || ids_[entry] == id) continue;
      if (!placed && younger(ids_[entry])) {
        things.push_back({id, own});
        placed = true;
      }
      things.push_back({ids_[entry], weights_[entry]});
    }
    if (!placed) things.push_back({id, own});
    assign(things);
  }
  /// Changes the weight in place; 0 removes the item. Has no effect if it is not present.
  void set_weight(std::uint32_t id, std::uint32_t weight);
  [[nodiscard]] std::uint32_t weight(std::uint32_t id) const {
    const std::uint32_t entry = entry_of(id);
    return entry == kNone ? 0 : weights_[entry];
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }

  /// Calls f(id, offset) from the item at `position` on, until f returns true. `offset`: of the position in
  /// the first item, 0 in the others. Returns whether f did.
  template <class F>
  bool walk(std::uint64_t position, F&& f) const {
    if (position >= total_) return false;
    std::uint64_t offset = position;
    for (std::uint32_t entry = find(offset); entry < used_; ++entry) {
      if (weights_[entry] == 0) continue;
      if (f(ids_[entry], offset)) return true;
      offset = 0;
    }
    return false;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, entries_, ids_, weights_, sums_, used_, total_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  [[nodiscard]] std::uint32_t entry_of(std::uint32_t id) const {
    return id < entries_.size() ? entries_[id] : kNone;
  }
  /// The entry at the position, from which the weights before the entry are subtracted.
  [[nodiscard]] std::uint32_t find(std::uint64_t& position) const;
  void change(std::uint32_t entry, std::uint32_t weight);
  struct Thing {
    std::uint32_t id, weight;
  };
  void rebuild();
  void assign(const std::vector<Thing>& things);

  std::vector<std::uint32_t> entries_;        // id -> entry
  std::vector<std::uint32_t> ids_, weights_;  // by entry, ascending by time of the last touch
  std::vector<std::uint64_t> sums_;           // Fenwick tree over weights_; its size is a power of two
  std::uint32_t used_ = 0;                    // entries given out
  std::uint64_t total_ = 0;
};

}  // namespace lockstep::uvm
