// User-defined policies for managed memory. A configuration names them like the built-in ones:
//
//   lockstep::add_prefetcher("next", "the page behind each fault", [](const lockstep::PrefetchTree& tree,
//   lockstep::Pages& along) {
//     along |= tree.faults << 1;
//   });
//   const lockstep::Machine gpu("v100", {"uvm.prefetcher=next"});
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lockstep {

/// A set of 4 KiB pages of a tree, which is at most 2 MiB: bit p stands for page p.
using Pages = std::bitset<512>;

/// What a prefetcher sees of a tree when some of its pages fault.
struct PrefetchTree {
  std::uint64_t base = 0;    // address of page 0
  unsigned pages = 512;      // number of pages of the tree: a power of two, at least 16
  Pages faults;              // pages that fault in this batch; never resident or incoming
  Pages resident, incoming;  // on the device; on their way to it
};
/// Adds to `along` the pages to migrate together with the faulting ones. Pages that are resident or incoming
/// may be included; they are ignored. Must depend on its arguments alone, or runs are not reproducible.
using Prefetcher = std::function<void(const PrefetchTree& tree, Pages& along)>;

/// What an evictor chooses from: the units (pages, 64 KiB blocks or trees) with resident pages, least
/// recently touched first.
class EvictionUnits {
 public:
  virtual ~EvictionUnits() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  struct Unit {
    std::uint64_t base = 0;      // address of the tree's page 0
    Pages pages, dirty;          // pages that may be evicted, possibly none; those of them that are dirty
    std::uint32_t accesses = 0;  // to the whole tree
  };
  /// Calls visit(position, unit) for each unit, starting with the one at `from`, until it returns true.
  virtual void walk(std::uint64_t from,
                    const std::function<bool(std::uint64_t, const Unit&)>& visit) const = 0;
};
enum class EvictionUnit : std::uint8_t { kPage, kLeaf, kTree };  // 4 KiB, 64 KiB, up to 2 MiB
/// Returns the position of the unit to evict, or nothing if no unit may be evicted.
using Evictor = std::function<std::optional<std::uint64_t>(const EvictionUnits& units)>;

/// Registers a policy under a name, which is then a value of uvm.prefetcher or uvm.evictor. To be called
/// before the first Machine is made, for at most kMaxPolicies of each. Throws Error if it is called too late
/// or too often, or if the name is taken.
inline constexpr std::size_t kMaxPolicies = 8;
void add_prefetcher(const std::string& name, const std::string& help, Prefetcher prefetcher);
void add_evictor(const std::string& name, const std::string& help, EvictionUnit unit, Evictor evictor);

}  // namespace lockstep
