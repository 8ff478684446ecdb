#include "lower/held_ranges.hpp"

#include <algorithm>

namespace lockstep::lower {
namespace {

constexpr unsigned kWordBits = 64;
constexpr std::uint32_t kNotLive = ~0u;

/// The bits of word `w` that belong to the range.
std::uint64_t bits_in(HeldRange range, std::uint32_t w) {
  std::uint64_t bits = ~std::uint64_t{0};
  if (w == range.first / kWordBits) bits &= ~std::uint64_t{0} << range.first % kWordBits;
  if (w == range.last / kWordBits) bits &= ~std::uint64_t{0} >> (kWordBits - 1 - range.last % kWordBits);
  return bits;
}

/// Goes through a block from its end to its begin.
class BlockRanges {
 public:
  BlockRanges(const std::vector<ptx::RegisterId>& roots, std::vector<std::vector<HeldRange>>& found)
      : roots_(roots), found_(found), last_(roots.size(), kNotLive) {}

  void read(ptx::RegisterId id, std::uint32_t at) {
    const ptx::RegisterId root = roots_[id];
    if (last_[root] != kNotLive) return;
    last_[root] = at;
    live_.push_back(root);
  }
  void write(ptx::RegisterId id, std::uint32_t at, bool whole) {
    const ptx::RegisterId root = roots_[id];
    const std::uint32_t last = last_[root] == kNotLive ? at : last_[root];
    found_[root].push_back({at, last});
    if (whole) last_[root] = kNotLive;
  }
  void begin(std::uint32_t at) {
    for (const ptx::RegisterId root : live_) {
      if (last_[root] != kNotLive) found_[root].push_back({at, last_[root]});
      last_[root] = kNotLive;
    }
    live_.clear();
  }

 private:
  const std::vector<ptx::RegisterId>& roots_;
  std::vector<std::vector<HeldRange>>& found_;
  std::vector<std::uint32_t> last_;    // by root: where the range ends that has not begun yet
  std::vector<ptx::RegisterId> live_;  // roots that were live since begin()
};

}  // namespace

std::vector<std::vector<HeldRange>> held_ranges(const ptx::Function& function, const ptx::ControlFlow& flow,
                                                const ptx::Liveness& liveness, const Fusions& fusions,
                                                const std::vector<ptx::RegisterId>& roots,
                                                const std::vector<bool>& whole) {
  std::vector<std::vector<HeldRange>> found(roots.size());
  BlockRanges ranges(roots, found);
  for (const ptx::Block& block : flow.blocks()) {
    if (!block.reachable || block.first == block.end) continue;
    for (const std::uint32_t next : block.successors)
      for (const ptx::RegisterId id : liveness.live_before(flow.blocks()[next].first))
        ranges.read(id, block.end);
    for (std::uint32_t at = block.end; at-- > block.first;) {
      const auto use = ptx::register_use(function.instructions[at]);
      for (const ptx::RegisterId id : use.writes) ranges.write(id, at + 1, whole[id]);
      for (const ptx::RegisterId id : use.reads) ranges.read(id, at);
      if (const Fused* fused = fusions.at(at))
        for (const ptx::RegisterId id : ptx::register_use(function.instructions[fused->producer]).reads)
          ranges.read(id, at);
    }
    ranges.begin(block.first);
  }
  return found;
}

bool TakenPositions::overlaps(HeldRange range) const {
  for (std::uint32_t w = range.first / kWordBits; w <= range.last / kWordBits && w < words_.size(); ++w)
    if (words_[w] & bits_in(range, w)) return true;
  return false;
}

void TakenPositions::take(HeldRange range) {
  words_.resize(std::max<std::size_t>(words_.size(), range.last / kWordBits + 1));
  for (std::uint32_t w = range.first / kWordBits; w <= range.last / kWordBits; ++w)
    words_[w] |= bits_in(range, w);
}

}  // namespace lockstep::lower
