// Walking through sets of bits, against a loop over all positions.
#include "util/bits.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace lockstep {
namespace {

template <class Set>
void check(Set set) {
  std::vector<unsigned> expected, found;
  for (unsigned i = 0; i < 8 * sizeof set; ++i)
    if (static_cast<Set>(set >> i) & 1) expected.push_back(i);
  for (const unsigned i : bits_of(set)) found.push_back(i);
  CHECK(found == expected);
  CHECK(bit_count(set) == expected.size());
}

TEST_CASE("the members of a set come once each, the lowest first") {
  check(std::uint8_t{0});
  check(std::uint8_t{0xff});
  check(std::uint16_t{0x8001});
  check(~std::uint32_t{0});
  check(~std::uint64_t{0});
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) {
    check(random());
    check(static_cast<std::uint32_t>(random()));
    check(static_cast<std::uint8_t>(random()));
  }
}

}  // namespace
}  // namespace lockstep
