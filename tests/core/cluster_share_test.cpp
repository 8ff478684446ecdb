// Which CTAs' shared memory an access reaches: against the words of each lane, and known cases.
#include "core/cluster_share.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace lockstep::core {
namespace {

using SharedLanes = std::array<Address, kWarpSize>;

/// Address of a byte in the shared memory of the CTA with a rank (trace::KernelHeader::shared_ranks).
Address at_rank(std::uint32_t rank, Address offset) { return (Address{rank} + 1) << 24 | offset; }

ClusterShares shares_of(const SharedLanes& lanes, LaneMask mask, unsigned bytes, std::uint32_t own,
                        std::uint32_t ranks, trace::OpClass op_class = trace::OpClass::kLoad) {
  std::vector<std::uint64_t> words;
  MioOperation op;
  op.op_class = op_class;
  op.access_bytes = static_cast<std::uint8_t>(bytes);
  op.mask = mask;
  op.form = trace::pack_addresses(mask, lanes.data(), words);
  op.words = words.data();
  ClusterShares shares;
  shares.split(op, own, ranks);
  return shares;
}

struct ExpectedShare {
  std::uint32_t rank = 0, mbarrier = 0;
  LaneMask lanes = 0;
  std::set<Address> sectors;
  std::map<unsigned, std::multiset<Address>> banks;

  [[nodiscard]] std::size_t wavefronts(bool atomic) const {
    std::size_t most = 1;
    for (const auto& [bank, words] : banks)
      most = std::max(most, atomic ? words.size() : std::set<Address>(words.begin(), words.end()).size());
    return most;
  }
};

struct LaneTarget {
  bool own = false;  // by an address below 2^24
  std::uint32_t rank = 0, mbarrier = 0;
  Address offset = 0;
};

TEST_CASE("shares of a cluster: random lanes against sets of words and sectors") {
  std::mt19937_64 engine(4);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 4000; ++round) {
    const std::uint32_t ranks = 1 + random() % 16, own = random() % ranks;
    const unsigned bytes = 1u << random() % 5, targets = 1 + random() % 4;
    const bool signals = random() % 3 == 0;
    const auto op_class = std::array{trace::OpClass::kLoad, trace::OpClass::kStore, trace::OpClass::kAtomic,
                                     trace::OpClass::kReduction}[random() % 4];
    const bool atomic = op_class == trace::OpClass::kAtomic || op_class == trace::OpClass::kReduction;
    const Address window = random() % 3 << 29;  // of the generic address space
    const std::uint64_t range = 1u << (2 + random() % 8);
    const auto mask = static_cast<LaneMask>(random() | 1u << random() % 32);
    const bool in_order = random() % 2;
    SharedLanes lanes{};
    std::vector<ExpectedShare> expected;
    for (unsigned l = 0; l < kWarpSize; ++l) {
      LaneTarget t;
      t.own = random() % 4 == 0;
      t.rank = t.own ? own : (own + random() % targets) % ranks;
      t.mbarrier = signals ? 1 + random() % 2 : 0;
      t.offset = in_order ? Address{l} * bytes : random() % range * bytes;
      lanes[l] = (t.own ? t.offset : at_rank(t.rank, t.offset)) | window | Address{t.mbarrier} << 32;
      if (!(mask >> l & 1)) continue;
      auto share = std::ranges::find_if(
          expected, [&](const ExpectedShare& e) { return e.rank == t.rank && e.mbarrier == t.mbarrier; });
      if (share == expected.end()) share = expected.insert(expected.end(), {t.rank, t.mbarrier, 0, {}, {}});
      share->lanes |= LaneMask{1} << l;
      std::set<Address> words;  // a lane's narrow access is one word
      for (Address a = t.offset; a < t.offset + bytes; ++a) {
        words.insert(a / 4);
        share->sectors.insert(a / 32);
      }
      for (const Address w : words) share->banks[w % 32].insert(w);
    }
    const ClusterShares shares = shares_of(lanes, mask, bytes, own, ranks, op_class);
    REQUIRE(shares.all().size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const ClusterShare& got = shares.all()[i];
      REQUIRE(got.rank == expected[i].rank);
      REQUIRE(got.mbarrier == expected[i].mbarrier);
      REQUIRE(got.lanes == expected[i].lanes);
      REQUIRE(got.bytes == 32 * expected[i].sectors.size());
      REQUIRE(got.wavefronts == expected[i].wavefronts(atomic));
    }
    const bool ordinary = expected.size() == 1 && expected[0].rank == own && expected[0].mbarrier == 0;
    REQUIRE(shares.ordinary(own) == ordinary);
  }
}

TEST_CASE("shares of a cluster: a row of a neighbour's shared memory, a column, one word") {
  SharedLanes row, column, word;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    row[l] = at_rank(2, 0x400 + 4 * l);
    column[l] = at_rank(2, 0x400 + 128 * l);  // one bank
    word[l] = at_rank(2, 0x400);
  }
  const auto only = [](const SharedLanes& lanes, trace::OpClass c = trace::OpClass::kLoad) {
    const ClusterShares shares = shares_of(lanes, 0xffffffff, 4, 0, 4, c);
    REQUIRE(shares.all().size() == 1);
    CHECK(shares.all()[0].rank == 2);
    CHECK(shares.all()[0].lanes == 0xffffffff);
    return std::pair<unsigned, unsigned>(shares.all()[0].wavefronts, shares.all()[0].bytes);
  };
  CHECK(only(row) == std::pair(1u, 128u));
  CHECK(only(column) == std::pair(32u, 1024u));
  CHECK(only(word) == std::pair(1u, 32u));
  CHECK(only(word, trace::OpClass::kAtomic) == std::pair(32u, 32u));  // one after another
}

TEST_CASE("shares of a cluster: an address beyond its CTAs is one of the CTA itself") {
  SharedLanes lanes{};
  lanes.fill(at_rank(4, 64));
  const ClusterShares inside = shares_of(lanes, 1, 4, 1, 5), beyond = shares_of(lanes, 1, 4, 1, 4);
  CHECK(inside.all()[0].rank == 4);
  CHECK_FALSE(inside.ordinary(1));
  CHECK(beyond.all()[0].rank == 1);
  CHECK(beyond.ordinary(1));
}

TEST_CASE("shares of a cluster: those of 32 CTAs' lanes, in the order of first lanes") {
  SharedLanes lanes{};
  for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = at_rank(15 - l % 16, 8 * l);
  const ClusterShares shares = shares_of(lanes, 0xfffffff8, 8, 3, 16);
  REQUIRE(shares.all().size() == 16);
  for (unsigned i = 0; i < 16; ++i) {  // lanes 0 to 2 do not take part: rank 12 comes first
    const unsigned lane = 3 + i;
    CHECK(shares.all()[i].rank == 15 - lane % 16);
    CHECK(shares.all()[i].lanes == (lane < 16 ? 0x10001u << lane : 1u << lane));
    CHECK(shares.all()[i].wavefronts == (lane < 16 ? 2 : 1));  // lane + 16: 128 bytes on, the same banks
  }
}

}  // namespace
}  // namespace lockstep::core
