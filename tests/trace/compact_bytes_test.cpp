// Numbers and texts of compact traces: what is written is read again, and what is broken is an error.
#include "trace/compact_bytes.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "trace/compact_model.hpp"

namespace lockstep::trace {
namespace {

/// Of any magnitude, the borders of varints among them.
std::uint64_t any_number(std::mt19937_64& random) {
  const std::uint64_t bits = random() % 65;
  const std::uint64_t top = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return random() % 3 == 0 ? top + random() % 3 - 1 : random() & top;
}

TEST_CASE("compact bytes: random numbers, differences and texts are read as they were written") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Bytes bytes;
    std::vector<std::function<void(ByteReader&)>> checks;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t value = any_number(random);
      switch (random() % 4) {
        case 0:
          put_varint(bytes, value);
          checks.emplace_back([value](ByteReader& r) { REQUIRE(r.varint() == value); });
          break;
        case 1:
          put_varint(bytes, zigzag(value));
          checks.emplace_back([value](ByteReader& r) { REQUIRE(r.difference() == value); });
          break;
        case 2: {
          const auto size = static_cast<unsigned>(1 + random() % 8);
          const std::uint64_t low = size == 8 ? value : value & ((std::uint64_t{1} << 8 * size) - 1);
          put_fixed(bytes, value, size);
          checks.emplace_back([low, size](ByteReader& r) { REQUIRE(r.fixed(size) == low); });
          break;
        }
        default: {
          const std::string text(random() % 300, static_cast<char>(random() % 256));
          put_text(bytes, text);
          checks.emplace_back([text](ByteReader& r) { REQUIRE(r.text() == text); });
        }
      }
    }
    ByteReader reader{bytes};
    CHECK(reader.left() == bytes.size());
    for (const auto& check : checks) check(reader);
    CHECK_NOTHROW(reader.expect_end("the column"));
  }
}

TEST_CASE(
    "compact bytes: a varint has a byte for each seven bits, and a small difference of either sign one") {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    Bytes bytes;
    put_varint(bytes, bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits));
    CHECK(bytes.size() == std::max(1u, (bits + 6) / 7));
  }
  for (std::int64_t d = -64; d < 64; ++d) {
    Bytes bytes;
    put_varint(bytes, zigzag(static_cast<std::uint64_t>(d)));
    CHECK(bytes.size() == 1);
    CHECK(unzigzag(zigzag(static_cast<std::uint64_t>(d))) == static_cast<std::uint64_t>(d));
  }
}

TEST_CASE("compact bytes: what ends too early, is too long or too large is an error that says so") {
  const auto reading = [](const Bytes& bytes, const auto& read) {
    ByteReader reader{bytes};
    read(reader);
  };
  const auto varint = [](ByteReader& r) { (void)r.varint(); };
  for (std::size_t size = 0; size < 10; ++size)
    CHECK_THROWS_WITH(reading(Bytes(size, 0x80), varint), "a column ends too early");
  CHECK_THROWS_WITH(reading(Bytes(10, 0xff), varint), "a number has more than 64 bits");
  CHECK_THROWS_WITH(reading(Bytes(20, 0x80), varint), "a number has more than 64 bits");
  Bytes largest(9, 0xff);
  largest.push_back(1);
  CHECK(ByteReader{largest}.varint() == ~std::uint64_t{0});
  largest.back() = 2;
  CHECK_THROWS_WITH(reading(largest, varint), "a number has more than 64 bits");
  Bytes text;
  put_varint(text, ~std::uint64_t{0});  // longer than memory
  text.resize(text.size() + 5);
  CHECK_THROWS_WITH(reading(text, [](ByteReader& r) { (void)r.text(); }), "a column ends too early");
  CHECK_THROWS_WITH(reading(Bytes(7), [](ByteReader& r) { (void)r.fixed(8); }), "a column ends too early");
  CHECK_THROWS_WITH(reading({}, [](ByteReader& r) { (void)r.byte(); }), "a column ends too early");
  Bytes number;
  put_varint(number, 301);
  CHECK_THROWS_WITH(reading(number, [](ByteReader& r) { (void)r.number(300, "a register"); }),
                    "a register is 301; expected at most 300");
  CHECK(ByteReader{number}.number(301, "a register") == 301);
  CHECK_THROWS_WITH(reading(Bytes(3), [](ByteReader& r) { r.expect_end("the table"); }),
                    "3 bytes are left over in the table");
}

TEST_CASE("compact model: the masks used last are those of a list with the latest first") {
  std::mt19937_64 random(4);
  RecentMasks masks;
  std::vector<LaneMask> model(kRecentMasks, 0);
  model[0] = ~LaneMask{0};
  unsigned found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto mask = static_cast<LaneMask>(1 + random() % 9);
    const unsigned at = masks.find(mask);
    const auto expected = std::find(model.begin(), model.end(), mask);
    REQUIRE(at == static_cast<unsigned>(expected - model.begin()));
    if (at < kRecentMasks) {
      REQUIRE(masks.use(at) == mask);
      model.erase(expected);
      ++found;
    } else {
      masks.add(mask);
      model.pop_back();
    }
    model.insert(model.begin(), mask);
    REQUIRE(masks.latest() == mask);
  }
  CHECK(found > 5000);
  CHECK(found < 15'000);
}

TEST_CASE("compact model: at first each instruction is followed by the table's next, then by its last one") {
  Successors successors;
  CHECK(successors.after(0) == 0);
  CHECK(successors.after(1000) == 1000);
  successors.after(5) = 77;
  CHECK(successors.after(5) == 77);
  CHECK(successors.after(4) == 4);
  successors.after(5) = 2;
  CHECK(successors.after(5) == 2);
  successors.reset();
  CHECK(successors.after(5) == 5);
}

TEST_CASE("compact model: words stored from lane addresses give these again, in every form") {
  std::mt19937_64 random(8);
  for (int i = 0; i < 3000; ++i) {
    std::array<Address, kWarpSize> lanes{}, back{};
    const auto mask = static_cast<LaneMask>(random() | std::uint64_t{1} << random() % 32);
    const AddressForm form = i % 2 == 0 ? AddressForm::kDelta : AddressForm::kList;
    const Address base = random() >> 8;
    for (Address& lane : lanes) {
      const auto offset = static_cast<std::int32_t>(random() >> 33);  // less than 2^31 from the base
      lane = form == AddressForm::kList ? random() : base + static_cast<Address>(std::int64_t{offset} / 2);
    }
    std::vector<std::uint64_t> words;
    store_words(form, mask, lanes.data(), words);
    REQUIRE(words.size() == address_words(form, mask));
    expand_addresses(form, mask, words.data(), back.data());
    for (unsigned l = 0; l < kWarpSize; ++l)
      if (mask >> l & 1) REQUIRE(back[l] == lanes[l]);
  }
}

}  // namespace
}  // namespace lockstep::trace
