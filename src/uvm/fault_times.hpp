// How long far faults take, phase by phase.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "uvm/counters.hpp"
#include "uvm/page_table.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

/// One record for each page that has faulted and is not served yet. The phases of a fault, in core cycles:
/// - detect: from the entry of the page's first access into the walkers to the end of its walk;
/// - queue: until the fault is taken up: fetched in a batch (driver), or its handling or transfer begins;
/// - service: until the page's transfer begins: the driver's work, evictions, the wait for the link;
/// - transfer: until the page is on the device;
/// - replay: until the reply to the first access.
/// Their sum is the fault's latency. If a page arrives before its fault was taken up, all of that time counts
/// as queue.
class FaultTimes {
 public:
  explicit FaultTimes(std::uint64_t core_khz) : khz_(core_khz) {}

  void raised(TreeIndex tree, unsigned page, Cycle asked, Cycle now);
  void taken(const Run& run, Cycle now);
  void started(const Run& run, Cycle now);
  void arrived(const Run& run, Cycle now);
  /// An access to the page gets its reply; adds the fault's times to the counters if it is the first.
  void replayed(TreeIndex tree, unsigned page, Cycle now, Counters& counters);
  /// The page stays on the host after all.
  void dropped(TreeIndex tree, unsigned page);
  [[nodiscard]] std::size_t size() const { return times_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(khz_), times_, open_);
  }

 private:
  struct Times {
    Cycle asked = 0, raised = 0, taken = kNever, started = kNever, arrived = kNever;
  };
  template <class Set>
  void set(const Run& run, Set&& set);

  std::uint64_t khz_;
  std::unordered_map<std::uint64_t, Times> times_;  // by page; never iterated
  std::vector<PageSet> open_;                       // by tree: pages with a record
};

}  // namespace lockstep::uvm
