// Pages that migrate back and forth between processors, and what the driver does about them
// (open-gpu-kernel-modules, uvm_perf_thrashing.c).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/types.hpp"
#include "uvm/page_table.hpp"

namespace lockstep::uvm {

enum class Processor : std::uint8_t { kNone, kHost, kDevice };

struct ThrashingRules {
  Cycle lapse = 0;                 // migrations count that follow one another within it
  std::uint32_t threshold = 3;     // this many in a row: the page thrashes
  std::uint32_t throttles = 10;    // this many: the page is pinned
  std::uint32_t pin_lapses = 300;  // 0: for ever
  std::uint32_t epoch_lapses = 2000, resets = 4;
};

/// Times are core cycles and never decrease. The pages of a block of 2 MiB are recorded from when two
/// processors have migrated pages of it within a lapse. A page thrashes after `threshold` migrations each
/// within a lapse of the one before. Then only one processor at a time gets it: the others' faults are
/// throttled until the nap of one lapse is over. After `throttles` of these it is pinned: it stays where it
/// is and others access it remotely, for `pin_lapses`. The records of a block in which nothing has thrashed
/// for an epoch are cleared, at most `resets` times. Evictions are not reported to this class: migrating back
/// and forth for lack of memory is not thrashing.
class Thrashing {
 public:
  explicit Thrashing(const ThrashingRules& rules) : rules_(rules) {}

  enum class Hint : std::uint8_t { kNone, kThrottle, kPin };

  /// Pages have migrated to the processor.
  void migrated(TreeIndex tree, const PageSet& pages, Processor to, Cycle now);
  /// The processor has faulted on the page: what to do.
  [[nodiscard]] Hint hint(TreeIndex tree, unsigned page, Processor faulter, Cycle now);
  /// Pages of the tree that thrash or are pinned: they are not prefetched.
  [[nodiscard]] PageSet thrashing(TreeIndex tree) const;
  /// When a throttled page becomes available; precondition: hint() returned kThrottle.
  [[nodiscard]] Cycle throttled_until(TreeIndex tree, unsigned page) const {
    return blocks_[tree].pages->at(page).nap_end;
  }
  /// The page is no longer pinned at `now`.
  [[nodiscard]] bool pinned(TreeIndex tree, unsigned page, Cycle now) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(rules_), blocks_);
  }

 private:
  struct Page {
    Cycle last = 0, nap_end = 0, pin_end = 0;
    std::uint8_t events = 0;  // in a row
    bool known = false, thrashes = false, pinned = false;
    std::uint32_t throttles = 0;
    Processor owner = Processor::kNone;  // may have it until nap_end
  };
  using Pages = std::array<Page, kPagesPerTree>;
  struct Block {
    std::unique_ptr<Pages> pages;
    Cycle last = 0;
    Processor last_processor = Processor::kNone;
    Cycle last_thrashing = 0;
    std::uint32_t resets = 0;
    PageSet thrashing;
    template <class A>
    void persist(A& a) {
      a.members(*this, pages, last, last_processor, last_thrashing, resets, thrashing);
    }
  };
  void reset_if_quiet(Block& block, Cycle now);

  ThrashingRules rules_;
  std::vector<Block> blocks_;  // by tree
};

}  // namespace lockstep::uvm
