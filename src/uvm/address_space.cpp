#include "uvm/address_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "util/error.hpp"

namespace lockstep::uvm {

TreeLayout layout_of(std::uint64_t bytes) {
  if (bytes == 0) throw UserError("managed allocation: found size 0, expected at least 1 byte");
  const auto rest = static_cast<std::uint32_t>(bytes % kTreeBytes);
  TreeLayout layout{bytes / kTreeBytes, 0};
  if (rest) layout.remainder_bytes = std::bit_ceil((rest + kLeafBytes - 1) / kLeafBytes) * kLeafBytes;
  return layout;
}

void AddressSpace::add(Address base, std::uint64_t bytes) {
  const TreeLayout layout = layout_of(bytes);
  if (base + (bytes - 1) < base)
    throw UserError(fmt::format("managed range 0x{:x}+{}: its end is beyond the address space", base, bytes));
  const auto after = std::partition_point(by_base_.begin(), by_base_.end(),
                                          [&](std::uint32_t i) { return allocations_[i].base < base; });
  const auto overlaps = [&](std::uint32_t i) {
    const Allocation& a = allocations_[i];
    return base <= a.base + (a.bytes - 1) && a.base <= base + (bytes - 1);
  };
  if ((after != by_base_.end() && overlaps(*after)) ||
      (after != by_base_.begin() && overlaps(*std::prev(after))))
    throw UserError(fmt::format("managed range 0x{:x}+{} overlaps another managed range", base, bytes));
  by_base_.insert(after, static_cast<std::uint32_t>(allocations_.size()));
  allocations_.push_back({base, bytes, layout, trees_});
  trees_ += layout.trees();
  footprint_ += layout.bytes();
}

void AddressSpace::cover(Address base, std::uint64_t bytes) {
  if (bytes == 0) return add(base, bytes);  // says what is wrong
  const Address last = base + (bytes - 1);
  std::vector<std::pair<Address, Address>> gaps;  // first and last byte
  Address at = base;
  bool more = true;  // [at, last] is not looked at yet
  for (const std::uint32_t index : by_base_) {
    const Allocation& a = allocations_[index];
    const Address a_last = a.base + (a.bytes - 1);
    if (!more || a.base > last) break;
    if (a_last < at) continue;
    if (a.base > at) gaps.emplace_back(at, a.base - 1);
    more = a_last < last;
    at = a_last + 1;
  }
  if (more) gaps.emplace_back(at, last);
  for (const auto& [first, end] : gaps) {
    const std::uint64_t size = end - first + 1,
                        to_border = (kTreeBytes - (first - base) % kTreeBytes) % kTreeBytes;
    const std::uint64_t head = std::min(size, to_border);
    if (head > 0) add(first, head);
    if (size > head) add(first + head, size - head);
  }
}

void AddressSpace::follow(const AddressSpace& other) {
  for (std::size_t i = allocations_.size(); i < other.allocations_.size(); ++i)
    add(other.allocations_[i].base, other.allocations_[i].bytes);
}

const Allocation* AddressSpace::find(Address a) const {
  const auto after = std::partition_point(by_base_.begin(), by_base_.end(),
                                          [&](std::uint32_t i) { return allocations_[i].base <= a; });
  if (after == by_base_.begin()) return nullptr;
  const Allocation& candidate = allocations_[*std::prev(after)];
  return a - candidate.base < candidate.bytes ? &candidate : nullptr;
}

std::size_t AddressSpace::owner(TreeId tree) const {
  const auto after = std::partition_point(allocations_.begin(), allocations_.end(),
                                          [&](const Allocation& a) { return a.first_tree <= tree; });
  return static_cast<std::size_t>(std::distance(allocations_.begin(), after)) - 1;
}

Address AddressSpace::address(Place place) const {
  const Allocation& a = allocations_[owner(place.tree)];
  return a.base + (place.tree - a.first_tree) * kTreeBytes + std::uint64_t{place.page} * kPageBytes;
}

std::uint32_t AddressSpace::pages_of(TreeId tree) const {
  const Allocation& a = allocations_[owner(tree)];
  return tree - a.first_tree < a.layout.full_trees ? kPagesPerTree : a.layout.remainder_bytes / kPageBytes;
}

}  // namespace lockstep::uvm
