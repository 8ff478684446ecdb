// Matrices of wgmma in shared memory, against the layouts of the PTX ISA (9.7.15.5.1) worked out by hand.
#include "exec/shared_matrix.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace lockstep::exec {
namespace {

/// Matrix descriptor: start, leading and stride byte offset, base offset, swizzling mode.
std::uint64_t matrix_descriptor(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                                std::uint64_t mode, std::uint64_t base = 0) {
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | mode << 62;
}
constexpr std::uint64_t kNoSwizzle = 0, kSwizzle128 = 1, kSwizzle64 = 2, kSwizzle32 = 3;

TEST_CASE("shared matrices: without a swizzle core matrices of 8 rows of 16 bytes are anywhere") {
  // Neighbours along k are `leading` apart, groups of eight rows `stride`.
  const SharedMatrix m(matrix_descriptor(0x400, 128, 256, kNoSwizzle), false);
  CHECK(m.unit(0, 0) == 0x400);
  CHECK(m.unit(1, 0) == 0x410);
  CHECK(m.unit(7, 0) == 0x470);
  CHECK(m.unit(0, 1) == 0x400 + 128);
  CHECK(m.unit(8, 0) == 0x400 + 256);
  CHECK(m.unit(13, 1) == 0x400 + 256 + 128 + 5 * 16);
  // Where neighbours are elements across k, the two offsets change their meaning.
  const SharedMatrix across(matrix_descriptor(0x400, 128, 256, kNoSwizzle), true);
  CHECK(across.unit(3, 0) == 0x430);
  CHECK(across.unit(0, 1) == 0x400 + 256);
  CHECK(across.unit(8, 0) == 0x400 + 128);
}

TEST_CASE("shared matrices: with a swizzle of 128 bytes unit c of row r lies at c xor r % 8") {
  const SharedMatrix m(matrix_descriptor(0x2000, 16, 1024, kSwizzle128), false);
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned unit = 0; unit < 8; ++unit)
      CHECK(m.unit(row, unit) == 0x2000 + row / 8 * 1024 + row % 8 * 128 + (unit ^ row % 8) * 16);
}

TEST_CASE("shared matrices: with swizzles of 64 and 32 bytes two and four rows share a line of 128 bytes") {
  const SharedMatrix half(matrix_descriptor(0x1000, 16, 512, kSwizzle64), false);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned unit = 0; unit < 4; ++unit)  // the row of 128 bytes chooses
      CHECK(half.unit(row, unit) == 0x1000 + row / 8 * 512 + row % 8 * 64 + (unit ^ row / 2 % 4) * 16);
  const SharedMatrix quarter(matrix_descriptor(0x1000, 16, 256, kSwizzle32), false);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned unit = 0; unit < 2; ++unit)
      CHECK(quarter.unit(row, unit) == 0x1000 + row / 8 * 256 + row % 8 * 32 + (unit ^ row / 4 % 2) * 16);
}

TEST_CASE("shared matrices: units of a matrix are different ones, in the bytes that it takes") {
  for (const auto& [mode, units] : {std::pair{kSwizzle128, 8u}, {kSwizzle64, 4u}, {kSwizzle32, 2u}}) {
    const SharedMatrix m(matrix_descriptor(0x800, 64 * 16 * units, 8 * 16 * units, mode), false);
    std::set<Address> places;
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned unit = 0; unit < 2 * units; ++unit) {  // two repetitions along k
        const Address a = m.unit(row, unit);
        CHECK(a % 16 == 0);
        CHECK((a >= 0x800 && a < 0x800 + 2 * 64 * 16 * units));
        places.insert(a);
      }
    CHECK(places.size() == 64 * 2 * units);
  }
}

TEST_CASE("shared matrices: the base offset moves the pattern with a start that it does not divide") {
  // A pattern of 1024 bytes that begins at 0x2200: (0x2200 >> 7) & 7 = 4.
  const SharedMatrix m(matrix_descriptor(0x2200, 16, 1024, kSwizzle128, 4), false);
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned unit = 0; unit < 8; ++unit)
      CHECK(m.unit(row, unit) == 0x2200 + row * 128 + (unit ^ row) * 16);
}

TEST_CASE("swizzling is its own inverse, and keeps the 16 bytes and the line of an address") {
  for (unsigned bits = 0; bits <= 3; ++bits)
    for (Address a = 0; a < 4096; a += 4) {
      CHECK(swizzled(swizzled(a, bits), bits) == a);
      CHECK(swizzled(a, bits) % 16 == a % 16);
      CHECK(swizzled(a, bits) / 128 == a / 128);
    }
}

}  // namespace
}  // namespace lockstep::exec
