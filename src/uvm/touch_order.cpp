#include "uvm/touch_order.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::uvm {

void TouchOrder::change(std::uint32_t entry, std::uint32_t weight) {
  const std::uint64_t difference = std::uint64_t{weight} - weights_[entry];  // modulo 2^64
  weights_[entry] = weight;
  total_ += difference;
  for (std::size_t i = std::size_t{entry} + 1; i <= sums_.size(); i += i & (~i + 1))
    sums_[i - 1] += difference;
}

void TouchOrder::touch(std::uint32_t id, std::uint32_t weight) {
  set_weight(id, 0);
  if (used_ == ids_.size()) rebuild();
  if (id >= entries_.size()) entries_.resize(id + 1, kNone);
  entries_[id] = used_;
  ids_[used_] = id;
  change(used_++, weight);
}

void TouchOrder::set_weight(std::uint32_t id, std::uint32_t weight) {
  const std::uint32_t entry = entry_of(id);
  if (entry == kNone) return;
  change(entry, weight);
  if (weight == 0) entries_[id] = kNone;
}

std::uint32_t TouchOrder::find(std::uint64_t& position) const {
  std::size_t entry = 0;
  for (std::size_t step = sums_.size(); step; step /= 2)
    if (entry + step <= sums_.size() && sums_[entry + step - 1] <= position) {
      entry += step;
      position -= sums_[entry - 1];
    }
  return static_cast<std::uint32_t>(entry);
}

/// Leaves the empty entries out; room for as many touches again.
void TouchOrder::rebuild() {
  std::vector<Thing> things;
  for (std::uint32_t entry = 0; entry < used_; ++entry)
    if (weights_[entry] != 0) things.push_back({ids_[entry], weights_[entry]});
  assign(things);
}

void TouchOrder::assign(const std::vector<Thing>& things) {
  used_ = static_cast<std::uint32_t>(things.size());
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(64, things.size() * 2));
  ids_.resize(capacity);
  weights_.assign(capacity, 0);
  sums_.assign(capacity, 0);
  total_ = 0;
  for (std::uint32_t entry = 0; entry < used_; ++entry) {
    ids_[entry] = things[entry].id;
    entries_[things[entry].id] = entry;
    change(entry, things[entry].weight);
  }
}

}  // namespace lockstep::uvm
