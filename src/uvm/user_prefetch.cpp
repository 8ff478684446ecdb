#include "uvm/user_prefetch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.hpp"

namespace lockstep::uvm {

PrefetchRange prefetch_range(const AddressSpace& space, Address address, std::uint64_t bytes) {
  const auto refuse = [&](const char* why) {
    return UserError(fmt::format("prefetch of 0x{:x}+{}: {}", address, bytes, why));
  };
  if (bytes == 0) throw refuse("found size 0, expected at least 1 byte");
  if (!space.contains(address)) throw refuse("expected an address in managed memory");
  const Allocation& a = space.allocations()[space.owner(space.place(address).tree)];
  const std::uint64_t offset = address - a.base;
  if (bytes > a.bytes - offset) throw refuse("expected a range inside one allocation");
  return {a.first_tree, offset / kPageBytes, (offset + bytes - 1) / kPageBytes + 1};
}

std::optional<Transfer> next_prefetch(PageTable& table, PrefetchRange& range) {
  while (range.next < range.end) {
    const TreeIndex index = table.touch(range.first_tree + range.next / kPagesPerTree);
    Tree& tree = table[index];
    const PageSet absent = ~(tree.resident | tree.incoming);
    const auto in_tree = static_cast<unsigned>(range.next % kPagesPerTree);
    const auto limit =
        static_cast<unsigned>(std::min<std::uint64_t>(tree.pages, in_tree + (range.end - range.next)));
    const unsigned first = std::min(absent.next(in_tree), limit);
    const unsigned last = first < limit ? std::min((~absent).next(first), limit) : limit;
    range.next += last - in_tree;
    if (first == last) continue;
    const Run run{index, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last - first)};
    tree.incoming |= run.set();
    return Transfer{run, false};
  }
  return std::nullopt;
}

}  // namespace lockstep::uvm
