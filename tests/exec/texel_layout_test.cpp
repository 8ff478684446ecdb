// Block-linear images by the bits of a byte's place in its tile, and by loops over tiles and blocks.
#include "exec/texel_layout.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace lockstep::exec {
namespace {

Image array_of(std::uint32_t width, std::uint32_t height, std::uint8_t channels, std::uint8_t bits,
               std::uint32_t depth = 1) {
  Image image;
  image.data = 0x100000;
  image.format = {channels, bits, TexelKind::kUnsigned};
  image.width = width;
  image.height = height;
  image.depth = depth;
  image.row_pitch = std::uint64_t{width} * image.format.bytes();
  image.slice_pitch = image.row_pitch * height;
  image.block_linear = true;
  return image;
}

/// Tegra X1 Technical Reference Manual, "block linear": from bit 0 on, bits of x and y of a byte in its tile.
std::uint64_t by_bits(std::uint64_t x, std::uint64_t y) {
  const auto bit = [](std::uint64_t value, unsigned from, unsigned to) { return (value >> from & 1) << to; };
  return (x & 15) | bit(y, 0, 4) | bit(x, 4, 5) | bit(y, 1, 6) | bit(y, 2, 7) | bit(x, 5, 8);
}

TEST_CASE("texels: a byte's place in its tile has the bits x3 to x0, y0, x4, y1, y2, x5") {
  const Image image = array_of(64, 8, 1, 8);  // one tile
  const TexelLayout layout(image);
  for (std::uint64_t y = 0; y < 8; ++y)
    for (std::uint64_t x = 0; x < 64; ++x) CHECK(layout.place(x, y, 0) - image.data == by_bits(x, y));
  CHECK(layout.slice_bytes() == 512);
}

TEST_CASE("texels: tiles stand above each other in blocks no higher than the image needs, up to 16") {
  struct Shape {
    std::uint32_t width, height, block_tiles;
  };
  for (const Shape& s :
       {Shape{100, 2, 1}, {100, 8, 1}, {100, 9, 2}, {33, 40, 8}, {16, 128, 16}, {20, 300, 16}}) {
    const Image image = array_of(s.width, s.height, 4, 8);
    const TexelLayout layout(image);
    const std::uint64_t row_tiles = (s.width * 4 + 63) / 64, block_rows = 8 * s.block_tiles;
    CAPTURE(s.width, s.height);
    std::set<Address> places;
    for (std::uint64_t y = 0; y < s.height; ++y)
      for (std::uint64_t x = 0; x < s.width; ++x) {
        const std::uint64_t tile = x * 4 / 64, block = y / block_rows * row_tiles + tile;
        const std::uint64_t before = block * s.block_tiles + y % block_rows / 8;  // tiles
        const Address expected = image.data + before * 512 + by_bits(x * 4 % 64, y % 8);
        REQUIRE(layout.place(x, y, 0) == expected);
        places.insert(expected);
      }
    CHECK(places.size() == std::size_t{s.width} * s.height);
    CHECK(layout.slice_bytes() == row_tiles * 64 * ((s.height + block_rows - 1) / block_rows * block_rows));
    CHECK(*places.rbegin() < image.data + layout.slice_bytes());
    CHECK(layout.place(3, 1, 2) - layout.place(3, 1, 0) == 2 * layout.slice_bytes());
  }
}

TEST_CASE("texels: 32 texels of 4 bytes in a row are in 8 sectors, 16 with the row below") {
  // As an RTX 3070 counts: 8 sectors for a row's 128 bytes, and the neighbouring row is in the same ones.
  const Image image = array_of(1024, 1024, 4, 8);
  const TexelLayout layout(image);
  std::set<Address> one, two;
  for (std::uint64_t x = 0; x < 32; ++x) {
    one.insert(layout.place(x, 6, 0) / 32);
    for (const std::uint64_t y : {6u, 7u}) two.insert(layout.place(x, y, 0) / 32);
  }
  CHECK(one.size() == 8);
  CHECK(two == one);
}

TEST_CASE("texels: images of one row and linear memory lie as their pitches say") {
  Image row = array_of(1000, 1, 1, 32);
  row.slice_pitch = 8192;
  CHECK(TexelLayout(row).place(7, 0, 3) == row.data + 3 * 8192 + 28);
  CHECK(TexelLayout(row).slice_bytes() == 8192);
  Image linear = array_of(100, 50, 2, 16);
  linear.block_linear = false;
  linear.row_pitch = 512;
  CHECK(TexelLayout(linear).place(9, 4, 0) == linear.data + 4 * 512 + 36);
}

}  // namespace
}  // namespace lockstep::exec
