#include "uvm/managed_command.hpp"

#include <algorithm>

namespace lockstep::uvm {

std::vector<PageRange> pages_in(const AddressSpace& space, Address address, std::uint64_t bytes) {
  std::vector<PageRange> ranges;
  const Address last = bytes == 0 ? address : std::max(address, address + (bytes - 1));  // an end beyond 2^64
  if (bytes == 0) return ranges;
  for (const std::uint32_t index : space.by_base()) {
    const Allocation& a = space.allocations()[index];
    const Address a_last = a.base + (a.bytes - 1);
    if (a_last < address || a.base > last) continue;
    std::uint64_t page = (std::max(a.base, address) - a.base) / kPageBytes;
    const std::uint64_t end = (std::min(a_last, last) - a.base) / kPageBytes + 1;
    while (page < end) {
      const std::uint64_t in_tree = page % kPagesPerTree;
      const std::uint64_t pages = std::min(end - page, kPagesPerTree - in_tree);
      ranges.push_back({a.first_tree + page / kPagesPerTree, static_cast<std::uint16_t>(in_tree),
                        static_cast<std::uint16_t>(pages)});
      page += pages;
    }
  }
  return ranges;
}

}  // namespace lockstep::uvm
