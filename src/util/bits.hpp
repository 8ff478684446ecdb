// Sets of up to 64 members as the bits of an integer.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

namespace lockstep {

/// The positions of the set bits, the lowest first: `for (const unsigned lane : bits_of(mask))`.
template <std::unsigned_integral Set>
class bits_of {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(Set rest) : rest_(rest) {}
    [[nodiscard]] constexpr unsigned operator*() const {
      return static_cast<unsigned>(std::countr_zero(rest_));
    }
    constexpr Iterator& operator++() {
      rest_ = static_cast<Set>(rest_ & (rest_ - 1));
      return *this;
    }
    [[nodiscard]] constexpr bool operator==(const Iterator&) const = default;

   private:
    Set rest_;
  };

  constexpr explicit bits_of(Set set) : set_(set) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(set_); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(0); }

 private:
  Set set_;
};

/// How many members it has; also of a narrow set that an operator has made an int.
template <std::integral Set>
[[nodiscard]] constexpr unsigned bit_count(Set set) {
  return static_cast<unsigned>(std::popcount(static_cast<std::make_unsigned_t<Set>>(set)));
}

}  // namespace lockstep
