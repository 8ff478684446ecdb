// Translations under way: a page-walk cache, a limited number of walkers, and the order in which they end.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "util/types.hpp"
#include "uvm/page_table.hpp"
#include "uvm/parameters.hpp"
#include "uvm/tlb.hpp"

namespace lockstep::uvm {

/// An access that missed the TLB of its source.
struct Access {
  std::uint32_t source = 0;  // SM
  std::uint64_t token = 0;   // the source's own; returned with the reply
  TreeIndex tree = 0;
  std::uint16_t page = 0;
  bool write = false;
  Cycle faulted_at = 0;  // the end of the walk that missed
  Cycle asked_at = 0;    // when it first reached the walkers
  // For accesses to a page that is on the host according to their source's TLB.
  bool remote = false, returns_data = true;  // returns_data: data come back
  std::uint16_t bytes = 0;
};

/// Every translation ends some time after its access arrived; those that end in the same cycle do so in the
/// order of arrival. A hit of the shared TLB takes its latency, a walk one memory access for each level that
/// misses the walk cache. UVMSmart: no shared TLB, any number of walkers, one constant latency.
class WalkPool {
 public:
  WalkPool(const Parameters& parameters, const PageTable& table);

  void add(Cycle now, const Access& access);
  /// Earliest end, or kNever if nothing is under way.
  [[nodiscard]] Cycle next() const { return heap_.empty() ? kNever : heap_.top().ready; }
  /// Takes the first translation that has ended by `now`; false if there is none.
  bool pop(Cycle now, Access& access);
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

  /// The shared TLB has the translation of a resident page from now on.
  void learn(Place place, Granule granule) { l2_.insert(place, granule); }
  std::uint32_t forget(TreeId tree, std::uint32_t first, std::uint32_t pages, ShootdownScope scope) {
    return scope == ShootdownScope::kAll ? l2_.clear() : l2_.invalidate(tree, first, pages);
  }

  std::uint64_t walks = 0, l2_hits = 0, l2_misses = 0, cache_hits = 0;

  template <class A>
  void persist(A& a) {
    a.members(*this, walks, l2_hits, l2_misses, cache_hits, a.given(parameters_), a.given(table_), l2_,
              cache_, heap_, walkers_, shared_, order_);
  }

 private:
  struct Walk {
    Cycle ready;
    std::uint64_t order;
    Access access;
    friend bool operator>(const Walk& a, const Walk& b) {
      return a.ready != b.ready ? a.ready > b.ready : a.order > b.order;
    }
  };
  [[nodiscard]] Cycle walk(Cycle now, Place place);

  const Parameters* parameters_;
  const PageTable* table_;
  Tlb l2_, cache_;
  std::priority_queue<Walk, std::vector<Walk>, std::greater<>> heap_;
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> walkers_;  // when each is free
  std::unordered_map<std::uint64_t, Cycle> shared_;                         // page -> end of its walk
  std::uint64_t order_ = 0;
};

}  // namespace lockstep::uvm
