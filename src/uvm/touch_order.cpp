#include "uvm/touch_order.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::uvm {

void TouchOrder::change(std::uint32_t slot, std::uint32_t weight) {
  const std::uint64_t difference = std::uint64_t{weight} - weights_[slot];  // modulo 2^64
  weights_[slot] = weight;
  total_ += difference;
  for (std::size_t i = std::size_t{slot} + 1; i <= sums_.size(); i += i & (~i + 1))
    sums_[i - 1] += difference;
}

void TouchOrder::touch(std::uint32_t id, std::uint32_t weight) {
  set_weight(id, 0);
  if (used_ == ids_.size()) rebuild();
  if (id >= slots_.size()) slots_.resize(id + 1, kNone);
  slots_[id] = used_;
  ids_[used_] = id;
  change(used_++, weight);
}

void TouchOrder::set_weight(std::uint32_t id, std::uint32_t weight) {
  const std::uint32_t slot = slot_of(id);
  if (slot == kNone) return;
  change(slot, weight);
  if (weight == 0) slots_[id] = kNone;
}

std::uint32_t TouchOrder::find(std::uint64_t& position) const {
  std::size_t slot = 0;
  for (std::size_t step = sums_.size(); step; step /= 2)
    if (slot + step <= sums_.size() && sums_[slot + step - 1] <= position) {
      slot += step;
      position -= sums_[slot - 1];
    }
  return static_cast<std::uint32_t>(slot);
}

/// Leaves the empty slots out; room for as many touches again.
void TouchOrder::rebuild() {
  std::vector<Thing> things;
  for (std::uint32_t slot = 0; slot < used_; ++slot)
    if (weights_[slot] != 0) things.push_back({ids_[slot], weights_[slot]});
  assign(things);
}

void TouchOrder::assign(const std::vector<Thing>& things) {
  used_ = static_cast<std::uint32_t>(things.size());
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(64, things.size() * 2));
  ids_.resize(capacity);
  weights_.assign(capacity, 0);
  sums_.assign(capacity, 0);
  total_ = 0;
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ids_[slot] = things[slot].id;
    slots_[things[slot].id] = slot;
    change(slot, things[slot].weight);
  }
}

}  // namespace lockstep::uvm
