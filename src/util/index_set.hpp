// A set of small numbers, one bit each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/bits.hpp"

namespace lockstep {

/// Of numbers below `limit`; does not allocate after its construction.
class IndexSet {
 public:
  explicit IndexSet(std::size_t limit) : words_((limit + 63) / 64) {}

  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void erase(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  [[nodiscard]] bool empty() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += bit_count(word);
    return count;
  }
  /// The next member after `i`, cyclically, which may be `i`. Precondition: there is one.
  [[nodiscard]] std::size_t next_after(std::size_t i) const {
    std::size_t w = i / 64;
    std::uint64_t bits = i % 64 == 63 ? 0 : words_[w] & ~std::uint64_t{0} << (i % 64 + 1);
    while (bits == 0) {
      w = w + 1 == words_.size() ? 0 : w + 1;
      bits = words_[w];
    }
    return w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }
  /// f(i) for each member, the smallest first. f may erase that member.
  template <class F>
  void each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (const unsigned bit : bits_of(words_[w])) f(w * 64 + bit);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, words_);
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace lockstep
