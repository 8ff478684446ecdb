// Sets of the pages of one tree (2 MiB).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "util/types.hpp"

namespace lockstep::uvm {

inline constexpr std::uint32_t kPageBytes = 4096;  // the migration granule
inline constexpr std::uint32_t kLeafBytes = 64 * 1024;
inline constexpr std::uint32_t kTreeBytes = 2 * 1024 * 1024;
inline constexpr unsigned kPagesPerLeaf = kLeafBytes / kPageBytes;   // 16
inline constexpr unsigned kLeavesPerTree = kTreeBytes / kLeafBytes;  // 32, at most
inline constexpr unsigned kPagesPerTree = kTreeBytes / kPageBytes;   // 512, at most

/// One bit per page, 512 in all. Iterates in ascending order.
class PageSet {
 public:
  static constexpr bool kPlain = true;  // its bytes are its state (util/archive_fields.hpp)

  [[nodiscard]] static PageSet range(unsigned first, unsigned count) {
    PageSet s;
    for (unsigned p = first; p < first + count;) {
      const unsigned offset = p % 64, n = std::min(64 - offset, first + count - p);
      s.words_[p / 64] |= (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << offset;
      p += n;
    }
    return s;
  }
  [[nodiscard]] static PageSet leaf(unsigned index) { return range(index * kPagesPerLeaf, kPagesPerLeaf); }

  void insert(unsigned page) { words_[page / 64] |= std::uint64_t{1} << page % 64; }
  void erase(unsigned page) { words_[page / 64] &= ~(std::uint64_t{1} << page % 64); }
  [[nodiscard]] bool contains(unsigned page) const { return words_[page / 64] >> page % 64 & 1; }

  [[nodiscard]] unsigned count() const {
    unsigned n = 0;
    for (const std::uint64_t w : words_) n += static_cast<unsigned>(std::popcount(w));
    return n;
  }
  [[nodiscard]] bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t w : words_) any |= w;
    return any == 0;
  }
  /// Pages of [first, first + count) that are in the set.
  [[nodiscard]] unsigned count(unsigned first, unsigned pages) const {
    return (*this & range(first, pages)).count();
  }
  [[nodiscard]] unsigned in_leaf(unsigned leaf) const {
    const std::uint64_t quarter = words_[leaf / 4] >> leaf % 4 * kPagesPerLeaf & 0xffff;
    return static_cast<unsigned>(std::popcount(quarter));
  }

  /// Smallest member >= `from`; kPagesPerTree if there is none.
  [[nodiscard]] unsigned next(unsigned from) const {
    for (unsigned w = from / 64; w < words_.size(); ++w) {
      const std::uint64_t bits = w == from / 64 ? words_[w] & ~std::uint64_t{0} << from % 64 : words_[w];
      if (bits) return w * 64 + static_cast<unsigned>(std::countr_zero(bits));
    }
    return kPagesPerTree;
  }
  template <class F>
  void for_each(F&& f) const {
    for (unsigned w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits; bits &= bits - 1)
        f(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
  }
  /// f(first, count) for each maximal run of consecutive members.
  template <class F>
  void for_each_run(F&& f) const {
    const PageSet rest = ~*this;
    for (unsigned p = next(0); p < kPagesPerTree;) {
      const unsigned end = rest.next(p);
      f(p, end - p);
      p = end < kPagesPerTree ? next(end) : end;
    }
  }

  PageSet& operator|=(const PageSet& o) {
    return each(o, [](auto& a, auto b) { a |= b; });
  }
  PageSet& operator&=(const PageSet& o) {
    return each(o, [](auto& a, auto b) { a &= b; });
  }
  PageSet& operator-=(const PageSet& o) {
    return each(o, [](auto& a, auto b) { a &= ~b; });
  }
  friend PageSet operator|(PageSet a, const PageSet& b) { return a |= b; }
  friend PageSet operator&(PageSet a, const PageSet& b) { return a &= b; }
  friend PageSet operator-(PageSet a, const PageSet& b) { return a -= b; }
  friend PageSet operator~(PageSet a) {
    for (std::uint64_t& w : a.words_) w = ~w;
    return a;
  }
  friend bool operator==(const PageSet&, const PageSet&) = default;

 private:
  template <class F>
  PageSet& each(const PageSet& o, F f) {
    for (unsigned i = 0; i < words_.size(); ++i) f(words_[i], o.words_[i]);
    return *this;
  }

  std::array<std::uint64_t, kPagesPerTree / 64> words_{};
};

}  // namespace lockstep::uvm
