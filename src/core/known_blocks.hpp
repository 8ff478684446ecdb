// The blocks of 2 MB of device memory whose translation an SM knows. Looked up for every line of global
// memory, so by an array of the blocks met last; std::unordered_set is behind it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_set>

#include "util/types.hpp"

namespace lockstep::core {

class KnownBlocks {
 public:
  static constexpr Address kBlockBytes = 2 << 20;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// Holds at most `most` blocks, at least one: first in, first out.
  explicit KnownBlocks(std::uint32_t most) : most_(most) { recent_.fill(kNone); }

  [[nodiscard]] static std::uint64_t block_of(Address line) { return line / kBlockBytes; }
  [[nodiscard]] bool has(std::uint64_t block) {
    std::uint64_t& recent = recent_[block % kRecent];
    if (recent == block) return true;
    if (!all_.contains(block)) return false;
    recent = block;
    return true;
  }
  void add(std::uint64_t block) {
    if (!all_.insert(block).second) return;
    order_.push_back(block);
    if (order_.size() <= most_) return;
    all_.erase(order_.front());
    if (std::uint64_t& recent = recent_[order_.front() % kRecent]; recent == order_.front()) recent = kNone;
    order_.pop_front();
  }
  void clear() {
    recent_.fill(kNone);
    all_.clear();
    order_.clear();
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(most_), recent_, all_, order_);
  }

 private:
  static constexpr std::size_t kRecent = 64;
  std::uint32_t most_;
  std::array<std::uint64_t, kRecent> recent_{};
  std::unordered_set<std::uint64_t> all_;  // never walked over
  std::deque<std::uint64_t> order_;
};

}  // namespace lockstep::core
