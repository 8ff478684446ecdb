// Explicit prefetches of a range (cudaMemPrefetchAsync to the device), piece by piece (spec B.11).
#pragma once

#include <cstdint>
#include <optional>

#include "uvm/page_table.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

/// Pages [next, end) of an allocation, counted from its start, that are still to be brought.
struct PrefetchRange {
  TreeId first_tree = 0;  // of the allocation
  std::uint64_t next = 0, end = 0;
};

/// The pages of an explicit prefetch of [address, address + bytes), rounded outward to pages. Throws
/// UserError where the range does not lie in one allocation or is empty.
[[nodiscard]] PrefetchRange prefetch_range(const AddressSpace& space, Address address, std::uint64_t bytes);

/// The next transfer of the range: pages that are neither resident nor incoming, up to one that is, the end
/// of the range, or the next 2 MB from the start of the allocation. Marks them incoming but does not count
/// them in the tree. Empty when the range is done.
[[nodiscard]] std::optional<Transfer> next_prefetch(PageTable& table, PrefetchRange& range);

}  // namespace lockstep::uvm
