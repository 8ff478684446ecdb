// Mipmaps, levels of detail, gathers and formats of textures, with images of one value a level or a row.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "exec/texture.hpp"
#include "exec/texture_table.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

/// An image all of whose texels have one value.
Image even_image(DeviceMemory& memory, std::uint32_t width, std::uint32_t height, float value) {
  Image image;
  image.width = width;
  image.height = height;
  image.row_pitch = std::uint64_t{width} * 4;
  image.slice_pitch = image.row_pitch * height;
  image.data = *memory.allocate(image.slice_pitch);
  for (std::uint32_t i = 0; i < width * height; ++i)
    std::memcpy(reinterpret_cast<void*>(image.data + 4 * i), &value, 4);
  return image;
}

/// Level l has the value 10 l.
Texture pyramid(DeviceMemory& memory) {
  Texture t;
  t.normalized_coordinates = true;
  for (unsigned l = 0; l < 4; ++l)
    t.levels.push_back(even_image(memory, 16 >> l, 8 >> l, 10.0f * static_cast<float>(l)));
  t.max_level = 3;
  return t;
}

float value_at(const Texture& t, float level, const DeviceMemory& memory) {
  Fetch f;
  f.at = {0.4f, 0.6f, 0};
  f.level = level;
  Address fault = 0;
  const auto texel = fetch(t, f, memory, fault);
  REQUIRE(fault == 0);
  return std::bit_cast<float>(texel[0]);
}

TEST_CASE("mipmaps: the nearest level, from the middle between two on the finer one's next") {
  DeviceMemory memory(16 << 20);
  const Texture t = pyramid(memory);
  for (const auto& [level, value] : {std::pair{-3.0f, 0.0f},
                                     {0.0f, 0.0f},
                                     {0.49f, 0.0f},
                                     {0.5f, 10.0f},
                                     {1.2f, 10.0f},
                                     {2.6f, 30.0f},
                                     {3.0f, 30.0f},
                                     {9.0f, 30.0f}})
    CHECK(value_at(t, level, memory) == value);
}

TEST_CASE("mipmaps: between levels the value is linear, in steps of a 256th") {
  DeviceMemory memory(16 << 20);
  Texture t = pyramid(memory);
  t.linear_mipmap = true;
  for (float level = -0.5f; level < 4; level += 0.013f) {
    const double inside = std::clamp(static_cast<double>(level), 0.0, 3.0);
    const double expected = 10 * std::floor(inside * 256 + 0.5) / 256;
    CHECK(static_cast<double>(value_at(t, level, memory)) == Approx(expected).margin(1e-5));
  }
}

TEST_CASE("mipmaps: the bias is added before the level is clamped") {
  DeviceMemory memory(16 << 20);
  Texture t = pyramid(memory);
  t.linear_mipmap = true;
  t.level_bias = 1.5f;
  CHECK(value_at(t, 0, memory) == 15);
  CHECK(value_at(t, 1, memory) == 25);
  t.min_level = 1;
  t.max_level = 2;
  CHECK(value_at(t, 5, memory) == 20);
  CHECK(value_at(t, -5, memory) == 10);
  t.level_bias = 0;
  CHECK(value_at(t, 1.25f, memory) == 12.5f);
  t.min_level = 2.5f;  // above max_level: it wins
  CHECK(value_at(t, 0, memory) == 25);
}

TEST_CASE("mipmaps: integers are never mixed") {
  DeviceMemory memory(16 << 20);
  Texture t = pyramid(memory);
  t.linear_mipmap = t.linear_filter = true;
  for (Image& level : t.levels) level.format = {1, 32, TexelKind::kUnsigned};
  Fetch f;
  f.level = 1.3f;
  Address fault = 0;
  CHECK(fetch(t, f, memory, fault)[0] == std::bit_cast<std::uint32_t>(10.0f));
}

TEST_CASE("level of detail: log2 of the longer gradient in texels") {
  DeviceMemory memory(16 << 20);
  const Texture t = pyramid(memory);  // 16 x 8
  const auto level = [&](std::array<float, 3> dx, std::array<float, 3> dy, unsigned dimensions = 2) {
    return level_of(t, dimensions, dx.data(), dy.data());
  };
  CHECK(level({1 / 16.0f, 0, 0}, {0, 1 / 8.0f, 0}) == 0);  // a texel each
  CHECK(level({4 / 16.0f, 0, 0}, {0, 1 / 8.0f, 0}) == 2);
  CHECK(level({0, 1 / 8.0f, 0}, {0, 1, 0}) == 3);
  CHECK(level({3 / 16.0f, 4 / 8.0f, 0}, {}) == Approx(std::log2(5.0)));
  CHECK(level({3 / 16.0f, 4 / 8.0f, 0}, {}, 1) == Approx(std::log2(3.0)));  // the rest is not read
  CHECK(level({0.25f / 16, 0, 0}, {}) == -2);
  CHECK(level({}, {}) == 0);
}

// Lane l fetches with gradients of 2^(l / 8) texels in x, and with the level l / 8; then gathers.
TEST_CASE("tex.grad reads the level that tex.level names") {
  Device device(R"(
.visible .entry run(.param .u64 tex, .param .u64 out) {
  .reg .b32 %r<8>; .reg .f32 %f<20>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [tex]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 3;
  cvt.rn.f32.u32 %f1, %r2;
  ex2.approx.f32 %f2, %f1;
  mul.f32 %f2, %f2, 0.0625;
  mov.f32 %f3, 0.5;
  mov.f32 %f4, 0.0;
  tex.grad.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd1, {%f3, %f3}], {%f2, %f4}, {%f4, %f4};
  tex.level.2d.v4.f32.f32 {%f9, %f10, %f11, %f12}, [%rd1, {%f3, %f3}], %f1;
  tex.2d.v4.f32.f32 {%f13, %f14, %f15, %f16}, [%rd1, {%f3, %f3}];
  mul.wide.u32 %rd3, %r1, 16;
  add.u64 %rd2, %rd2, %rd3;
  st.global.v4.f32 [%rd2], {%f5, %f9, %f13, %f16};
  ret;
})");
  TextureTable table;
  device.options.textures = &table;
  const std::uint64_t texture = table.add(pyramid(device.memory));
  const Address out = device.zeros<float>(32 * 4);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(texture, out));
  const auto values = device.read<float>(out, 32 * 4);
  for (unsigned l = 0; l < 32; ++l) {
    const auto level = static_cast<float>(l / 8);
    CHECK(values[4 * l] == 10 * level);
    CHECK(values[4 * l + 1] == 10 * level);
    CHECK(values[4 * l + 2] == 0);
    CHECK(values[4 * l + 3] == 1);  // the alpha that the texels lack
  }
}

TEST_CASE("a texel outside mapped memory is named by its address") {
  DeviceMemory memory(16 << 20);
  Texture t = pyramid(memory);
  t.levels.resize(1);
  t.normalized_coordinates = false;
  t.levels[0].data = 0x1000;
  Fetch f;
  f.at = {3.5f, 2.5f, 0};
  Address fault = 0;
  CHECK(fetch(t, f, memory, fault) == std::array<std::uint32_t, 4>{});
  CHECK(fault == 0x1000 + 2 * 64 + 3 * 4);
  fault = 0;
  (void)gather(t, f, 0, memory, fault);
  CHECK(fault != 0);
}

TEST_CASE("a bad coordinate reads the first texel or the border, never memory elsewhere") {
  DeviceMemory memory(16 << 20);
  Texture t;
  t.levels = {even_image(memory, 4, 4, 5)};
  t.border = {-1, -2, -3, -4};
  Fetch f;
  for (const bool linear : {false, true})
    for (const float bad : {NAN, INFINITY, -INFINITY, 1e30f, -1e30f}) {
      t.linear_filter = linear;
      f.at = {bad, bad, 0};
      Address fault = 0;
      t.address = {AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
      CHECK(std::bit_cast<float>(fetch(t, f, memory, fault)[0]) == 5);
      t.address = {AddressMode::kBorder, AddressMode::kBorder, AddressMode::kBorder};
      const float got = std::bit_cast<float>(fetch(t, f, memory, fault)[0]);
      if (!std::isnan(bad)) CHECK(got == -1);
      CHECK(fault == 0);
    }
}

TEST_CASE("halves are read as the floats that they are") {
  DeviceMemory memory(16 << 20);
  Texture t;
  t.levels = {even_image(memory, 8, 1, 0)};
  t.levels[0].format = {1, 16, TexelKind::kFloat};
  // IEEE 754 binary16.
  const std::vector<std::pair<std::uint16_t, float>> halves{{0x3c00, 1.0f},     {0xc000, -2.0f},
                                                            {0x7bff, 65504.0f}, {0x0400, 0x1p-14f},
                                                            {0x0001, 0x1p-24f}, {0x83ff, -1023 * 0x1p-24f},
                                                            {0x7c00, INFINITY}, {0xfc00, -INFINITY}};
  for (std::size_t i = 0; i < halves.size(); ++i)
    std::memcpy(reinterpret_cast<void*>(t.levels[0].data + 2 * i), &halves[i].first, 2);
  Fetch f;
  f.geometry = Geometry::k1D;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    f.at[0] = static_cast<float>(i) + 0.5f;
    Address fault = 0;
    CHECK(std::bit_cast<float>(fetch(t, f, memory, fault)[0]) == halves[i].second);
  }
  const std::uint16_t nan = 0x7e01;
  std::memcpy(reinterpret_cast<void*>(t.levels[0].data), &nan, 2);
  f.at[0] = 0;
  Address fault = 0;
  CHECK(std::isnan(std::bit_cast<float>(fetch(t, f, memory, fault)[0])));
}

TEST_CASE(
    "an integer coordinate outside of a one-dimensional texture reads 0, in others the addressing mode "
    "holds") {
  DeviceMemory memory(16 << 20);
  Texture t;
  t.levels = {even_image(memory, 4, 4, 5)};
  Fetch f;
  f.integer = true;
  Address fault = 0;
  for (const std::int32_t x : {-1, 4, INT32_MIN, INT32_MAX}) {
    f.texel = {x, 0, 0};
    f.geometry = Geometry::k1D;
    CHECK(fetch(t, f, memory, fault) == std::array<std::uint32_t, 4>{});
    f.geometry = Geometry::k2D;
    CHECK(std::bit_cast<float>(fetch(t, f, memory, fault)[0]) == 5);
  }
}

}  // namespace
}  // namespace lockstep::exec::test
