// Whose memory an address is, against a table of every address.
#include "mem/apertures.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace lockstep::mem {
namespace {

TEST_CASE("Later places win; what none has is the asker's") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Apertures apertures;
    constexpr std::uint16_t kAsker = 99;
    std::vector<std::uint16_t> owner(64, kAsker);
    for (int i = 0; i < 12; ++i) {
      const Address begin = random() % 64;
      const std::uint64_t bytes = random() % (64 - begin + 1);
      const auto device = static_cast<std::uint16_t>(random() % 5);
      apertures.place(begin, bytes, device);
      for (Address a = begin; a < begin + bytes; ++a) owner[a] = device;
      for (Address a = 0; a < 64; ++a) REQUIRE(apertures.owner(a, kAsker) == owner[a]);
    }
  }
}

TEST_CASE("A range may reach the end of the address space, and not beyond") {
  Apertures apertures;
  constexpr Address kLast = ~Address{0};
  apertures.place(kLast - 9, 100, 3);
  CHECK(apertures.owner(kLast, 0) == 3);
  CHECK(apertures.owner(kLast - 9, 0) == 3);
  CHECK(apertures.owner(kLast - 10, 0) == 0);
  CHECK(apertures.owner(0, 1) == 1);
  apertures.place(0, kLast, 4);
  CHECK(apertures.owner(kLast - 1, 0) == 4);
  CHECK(apertures.owner(kLast, 0) == 3);
}

}  // namespace
}  // namespace lockstep::mem
