// Whose memory an address is, against a table of every address.
#include "mem/apertures.hpp"

#include <catch2/catch.hpp>
#include <map>
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

TEST_CASE("Multicast ranges stand for memory of several devices, until they are one's again") {
  std::mt19937 random(11);
  constexpr std::uint16_t kAsker = 99, kMulticast = Apertures::kMulticast;
  constexpr unsigned kAddresses = 64, kDevices = 4;
  struct Expected {
    std::uint16_t owner = kAsker;
    std::map<std::uint16_t, Address> places;
  };
  for (int round = 0; round < 200; ++round) {
    Apertures apertures;
    std::vector<Expected> expected(kAddresses);
    for (int i = 0; i < 16; ++i) {
      const Address begin = random() % kAddresses;
      const std::uint64_t bytes = random() % (kAddresses - begin + 1);
      const auto device = static_cast<std::uint16_t>(random() % kDevices);
      const Address memory = random() % 1000;
      const bool several = random() % 4 != 0;
      several ? apertures.multicast(begin, bytes, device, memory) : apertures.place(begin, bytes, device);
      for (Address a = begin; a < begin + bytes; ++a) {
        Expected& e = expected[a];
        if (!several) e = {device, {}};
        if (several) e.owner = kMulticast, e.places[device] = memory + (a - begin);
      }
      for (Address a = 0; a < kAddresses; ++a) {
        const Expected& e = expected[a];
        REQUIRE(apertures.owner(a, kAsker) == e.owner);
        std::uint64_t team = 0;
        for (const auto& [member, place] : e.places) {
          team |= std::uint64_t{1} << member;
          REQUIRE(apertures.place_of(a, member) == place);
        }
        REQUIRE(apertures.team(a) == team);
      }
    }
  }
  Apertures whole;
  whole.multicast(~Address{0} - 9, 100, 2, 0);
  CHECK(whole.team(~Address{0}) == 4);
  CHECK(whole.place_of(~Address{0}, 2) == 9);
}

}  // namespace
}  // namespace lockstep::mem
