// Lane offsets that a CTA's records have in common, kept once.
//
// A kernel repeats few patterns of offsets within its warps: SGEMM's shared-memory loads take 137 KB per CTA
// if each record has its own offsets, and 30 KB if not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// Memory for share(), used again from CTA to CTA.
class OffsetSharing {
 public:
  /// `plain`: the words of `cta`'s warps, whose records have other forms than kShared and whose spans count
  /// in `plain`. Turns records of kDelta with more than one word of offsets into kShared, fills cta.words and
  /// makes the spans count there.
  void share(const std::vector<std::uint64_t>& plain, CtaTrace& cta);

 private:
  [[nodiscard]] std::uint64_t place_of(const std::uint64_t* offsets, unsigned count);

  struct Pattern {  // one that has occurred; a newer one with the same hash replaces it
    std::uint32_t place = 0, count = 0;
  };
  std::array<Pattern, 1024> known_{};
  std::vector<std::uint64_t> offsets_;  // of all patterns
  std::vector<std::uint64_t> words_;    // of all warps
  std::vector<std::uint32_t> places_;   // words of records that name a pattern
};

/// The reverse: a copy of `cta` without kShared.
void copy_plain(const CtaTrace& cta, CtaTrace& out);

}  // namespace lockstep::trace
