// Address forms: what is packed comes back, in the fewest words.
#include <bit>
#include <random>

#include "reader_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;

namespace {

using Lanes = std::array<Address, kWarpSize>;

/// Fewest words that any of the forms needs, straight from their definitions.
std::size_t fewest_words(LaneMask mask, const Lanes& lanes) {
  std::vector<std::pair<int, Address>> active;
  for (int lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1) active.emplace_back(lane, lanes[static_cast<std::size_t>(lane)]);
  }
  if (active.empty()) return 0;
  std::size_t best = active.size();
  bool delta = true;
  for (const auto& [lane, address] : active) {
    const auto offset = static_cast<std::int64_t>(address - active[0].second);
    delta = delta && offset >= INT32_MIN && offset <= INT32_MAX;
  }
  if (delta) best = std::min(best, 1 + active.size() / 2);
  if (active.size() > 1) {
    const auto gap = static_cast<std::int64_t>(active[1].first - active[0].first);
    const auto distance = static_cast<std::int64_t>(active[1].second - active[0].second);
    bool affine = distance % gap == 0;
    for (const auto& [lane, address] : active) {
      affine = affine && address == active[0].second + static_cast<Address>(distance / gap) *
                                                           static_cast<Address>(lane - active[0].first);
    }
    if (affine) best = std::min<std::size_t>(best, 2);
  }
  return best;
}

}  // namespace

TEST_CASE("Packed addresses come back in the fewest words") {
  std::mt19937_64 random(1);
  std::size_t seen[4] = {};
  for (int i = 0; i < 20000; ++i) {
    LaneMask mask = static_cast<LaneMask>(random());
    if (i % 3 == 0) mask = ~0u;
    if (i % 7 == 0) mask &= static_cast<LaneMask>(random()) & static_cast<LaneMask>(random());
    if (i % 101 == 0) mask = 0;
    Lanes lanes{};
    const Address base = random();
    const auto stride = static_cast<std::int64_t>(random() % 4096) - 2048;
    for (int lane = 0; lane < 32; ++lane) {
      auto& a = lanes[static_cast<std::size_t>(lane)];
      switch (i % 4) {
        case 0:
          a = base + static_cast<Address>(stride * lane);
          break;
        case 1:
          a = base + random() % 100000;
          break;
        case 2:
          a = base + (random() % 2 == 0 ? 0x7fffffffu : Address{0} - 0x80000000u) * (random() % 2);
          break;
        default:
          a = random();
      }
    }
    std::vector<std::uint64_t> words{42};
    const AddressForm form = pack_addresses(mask, lanes.data(), words);
    REQUIRE(words[0] == 42);
    REQUIRE(words.size() - 1 == address_words(form, mask));
    REQUIRE(words.size() - 1 == fewest_words(mask, lanes));
    ++seen[static_cast<int>(form)];
    Lanes out;
    out.fill(7);
    expand_addresses(form, mask, words.data() + 1, out.data());
    for (std::size_t lane = 0; lane < 32; ++lane) REQUIRE(out[lane] == (mask >> lane & 1 ? lanes[lane] : 7));
  }
  for (const std::size_t count : seen) CHECK(count > 100);
}

TEST_CASE("Affine lanes count from the first active lane, gaps included") {
  const std::uint64_t words[] = {1000, static_cast<std::uint64_t>(-8)};
  Lanes out{};
  expand_addresses(AddressForm::kAffine, 0b1011000, words, out.data());
  CHECK(out[3] == 1000);
  CHECK(out[4] == 992);
  CHECK(out[6] == 976);
}

TEST_CASE("Offsets sit two in a word, the low half first, from the base") {
  const std::uint64_t words[] = {100, std::uint64_t{0xffffffff} << 32 | 5, 9};
  Lanes out{};
  expand_addresses(AddressForm::kDelta, 0b1111, words, out.data());
  CHECK(out[0] == 100);
  CHECK(out[1] == 105);
  CHECK(out[2] == 99);
  CHECK(out[3] == 109);
}

TEST_CASE("The static table keeps elements in place while it grows") {
  StaticTable table;
  StaticInst inst;
  table.push(inst);
  const StaticInst* first = &table[0];
  for (std::uint32_t i = 1; i < 3 * StaticTable::kChunk; ++i) {
    inst.pc = i;
    CHECK(table.push(inst) == i);
  }
  CHECK(first == &table[0]);
  CHECK(table.size() == 3 * StaticTable::kChunk);
  CHECK(table[2 * StaticTable::kChunk + 5].pc == 2 * StaticTable::kChunk + 5);
}
