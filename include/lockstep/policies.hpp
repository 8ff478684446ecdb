// One's own policies of managed memory. A configuration names them as it names those that are built in:
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

/// Pages of 4 KiB of a tree, which is at most 2 MiB: bit p is page p.
using Pages = std::bitset<512>;

/// What a prefetcher sees of a tree some of whose pages fault.
struct PrefetchTree {
  std::uint64_t base = 0;    // address of page 0
  unsigned pages = 512;      // that the tree has: a power of two from 16
  Pages faults;              // that fault now; none is resident or incoming
  Pages resident, incoming;  // on the device; on the way there
};
/// Adds to `along` the pages that are to come with those that fault. Pages that are resident or incoming may
/// be named and are left out. Must depend on its arguments alone, or runs are not reproducible.
using Prefetcher = std::function<void(const PrefetchTree& tree, Pages& along)>;

/// What an evictor chooses from: the units (pages, 64 KiB or trees) with resident pages, the one that was
/// touched the longest time ago first.
class EvictionUnits {
 public:
  virtual ~EvictionUnits() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  struct Unit {
    std::uint64_t base = 0;      // address of the tree's page 0
    Pages pages, dirty;          // that may leave now, perhaps none; of these, written since they came
    std::uint32_t accesses = 0;  // of the whole tree
  };
  /// visit(position, unit) from the one at `from` on until it returns true.
  virtual void walk(std::uint64_t from,
                    const std::function<bool(std::uint64_t, const Unit&)>& visit) const = 0;
};
enum class EvictionUnit : std::uint8_t { kPage, kLeaf, kTree };  // 4 KiB, 64 KiB, up to 2 MiB
/// The position of the unit that leaves, or nothing when none may.
using Evictor = std::function<std::optional<std::uint64_t>(const EvictionUnits& units)>;

/// The value of uvm.prefetcher and uvm.evictor that names the policy from now on. To be called before the
/// first Machine is made, for at most kMaxPolicies of each. Throws Error: too late, too many, or a name that
/// is taken.
inline constexpr std::size_t kMaxPolicies = 8;
void add_prefetcher(const std::string& name, const std::string& help, Prefetcher prefetcher);
void add_evictor(const std::string& name, const std::string& help, EvictionUnit unit, Evictor evictor);

}  // namespace lockstep
