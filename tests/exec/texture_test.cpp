// Textures and surfaces against closed forms: images whose texels are linear in their place.
#include "exec/texture.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/exec/ramp.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

float first(const Texture& texture, const Fetch& f, const DeviceMemory& memory) {
  Address fault = 0;
  const auto texel = fetch(texture, f, memory, fault);
  REQUIRE(fault == 0);
  return std::bit_cast<float>(texel[0]);
}

TEST_CASE("nearest and linear filtering of a ramp") {
  DeviceMemory memory(64 << 20);
  Texture t;
  t.levels = {Ramp(memory, 8, 4, 1).image};
  Fetch f;
  for (float x = -2; x < 10; x += 0.37f)
    for (float y = -1; y < 6; y += 0.41f) {
      f.at = {x, y, 0};
      t.linear_filter = false;
      const float nx = std::clamp(std::floor(x), 0.0f, 7.0f), ny = std::clamp(std::floor(y), 0.0f, 3.0f);
      CHECK(first(t, f, memory) == nx + 100 * ny);
      t.linear_filter = true;
      const double qx = std::clamp(std::floor((static_cast<double>(x) - 0.5) * 256 + 0.5) / 256, 0.0, 7.0);
      const double qy = std::clamp(std::floor((static_cast<double>(y) - 0.5) * 256 + 0.5) / 256, 0.0, 3.0);
      CHECK(first(t, f, memory) == Approx(qx + 100 * qy).epsilon(1e-6));
    }
}

TEST_CASE("an array's texels lie in tiles of 64 bytes by 8 rows, each in a place of its own") {
  for (const auto& [width, height] : {std::pair{16u, 8u}, {100u, 37u}, {33u, 300u}, {64u, 1u}}) {
    Image image;
    image.data = 1 << 20;
    image.width = width;
    image.height = height;
    image.row_pitch = std::uint64_t{width} * 4;
    image.slice_pitch = image.row_pitch * height;
    image.block_linear = true;
    const TexelLayout layout(image);
    CHECK(layout.slice_bytes() >= image.slice_pitch);
    std::set<Address> places;
    for (std::uint64_t slice = 0; slice < 2; ++slice)
      for (std::uint64_t y = 0; y < height; ++y)
        for (std::uint64_t x = 0; x < width; ++x) {
          const Address place = layout.place(x, y, slice);
          CHECK(place % 4 == 0);
          CHECK(place >= image.data + slice * layout.slice_bytes());
          CHECK(place < image.data + (slice + 1) * layout.slice_bytes());
          places.insert(place);
        }
    CHECK(places.size() == std::size_t{2} * width * height);
    // Sectors: 16 bytes of two rows.
    for (std::uint64_t y = 0; y < height && height > 1; ++y)
      CHECK(layout.place(5, y, 0) / 32 == layout.place(4 + y % 4, y / 2 * 2, 0) / 32);
  }
  // A tile is 512 bytes in a row, and its first line 32 bytes of four rows (tegra_swizzle; two sectors of a
  // line for a row of texels, as an RTX 3070 asks for them: github.com/mushihao/cuda, nv_study).
  Image image;
  image.width = 32;
  image.height = 16;
  image.row_pitch = 128;
  image.slice_pitch = 2048;
  image.block_linear = true;
  const TexelLayout layout(image);
  CHECK(layout.place(15, 7, 0) == 508);
  CHECK(layout.place(7, 3, 0) == 124);
  CHECK(layout.place(8, 0, 0) == 256);
  CHECK(layout.place(0, 4, 0) == 128);
  CHECK(layout.place(0, 8, 0) == 512);    // two tiles high
  CHECK(layout.place(16, 0, 0) == 1024);  // the block beside it
}

TEST_CASE("addressing modes of a one-dimensional texture") {
  DeviceMemory memory(64 << 20);
  Texture t;
  t.levels = {Ramp(memory, 4, 1, 1).image};
  t.normalized_coordinates = true;
  t.border = {-5, 0, 0, 0};
  Fetch f;
  f.geometry = Geometry::k1D;
  const auto at = [&](AddressMode mode, int texel) {
    t.address[0] = mode;
    f.at[0] = (static_cast<float>(texel) + 0.5f) / 4;
    return static_cast<int>(first(t, f, memory));
  };
  const int wrapped[] = {1, 2, 3, 0, 1, 2, 3, 0, 1}, mirrored[] = {2, 1, 0, 0, 1, 2, 3, 3, 2};
  for (int i = -3; i < 6; ++i) {
    CHECK(at(AddressMode::kClamp, i) == std::clamp(i, 0, 3));
    CHECK(at(AddressMode::kBorder, i) == (i < 0 || i > 3 ? -5 : i));
    CHECK(at(AddressMode::kWrap, i) == wrapped[i + 3]);
    CHECK(at(AddressMode::kMirror, i) == mirrored[i + 3]);
  }
  t.normalized_coordinates = false;  // then wrap means clamp
  f.at[0] = 5.5f;
  CHECK(first(t, f, memory) == 3);
}

TEST_CASE("three dimensions, layers and cubes") {
  DeviceMemory memory(64 << 20);
  Texture t;
  t.linear_filter = true;
  t.levels = {Ramp(memory, 4, 4, 12).image};
  t.levels[0].depth = 12;
  Fetch f;
  f.geometry = Geometry::k3D;
  f.at = {1.75f, 2.25f, 7.5f};
  CHECK(first(t, f, memory) == 1.25f + 175 + 70000);
  t.levels[0].depth = 1;
  t.levels[0].layers = 12;
  f.geometry = Geometry::k2D;
  f.layered = true;
  f.layer = 3;
  CHECK(first(t, f, memory) == 1.25f + 175 + 30000);
  f.layer = 77;
  CHECK(first(t, f, memory) == 1.25f + 175 + 110000);
  t.linear_filter = false;
  f.geometry = Geometry::kCube;
  f.layer = 1;
  // Centres of the faces +x -x +y -y +z -z, a little towards the first texel of the third row and column.
  const float directions[6][3] = {{1, -.1f, -.1f}, {-1, -.1f, .1f}, {.1f, 1, .1f},
                                  {.1f, -1, -.1f}, {.1f, -.1f, 1},  {-.1f, -.1f, -1}};
  for (int face = 0; face < 6; ++face) {
    f.at = {directions[face][0], directions[face][1], directions[face][2]};
    CHECK(first(t, f, memory) == static_cast<float>(2 + 200 + 10000 * (6 + face)));
  }
}

TEST_CASE("values of narrow formats") {
  DeviceMemory memory(64 << 20);
  Image image;
  image.format = {4, 8, TexelKind::kUnsigned};
  image.width = 1;
  image.data = *memory.allocate(16);
  const std::uint8_t bytes[4] = {0, 255, 128, 51};
  std::memcpy(reinterpret_cast<void*>(image.data), bytes, 4);
  Texture t;
  t.levels = {image};
  Fetch f;
  f.geometry = Geometry::k1D;
  Address fault = 0;
  CHECK(fetch(t, f, memory, fault) == std::array<std::uint32_t, 4>{0, 255, 128, 51});
  t.normalized_values = true;
  auto texel = fetch(t, f, memory, fault);
  CHECK(std::bit_cast<float>(texel[1]) == 1);
  CHECK(std::bit_cast<float>(texel[3]) == 0.2f);
  t.levels[0].format.kind = TexelKind::kSigned;
  texel = fetch(t, f, memory, fault);
  CHECK(std::bit_cast<float>(texel[2]) == -1);
  CHECK(std::bit_cast<float>(texel[3]) == 51.0f / 127);
  t.levels[0].format = {2, 16, TexelKind::kFloat};
  const std::uint16_t halves[2] = {0x3e00, 0xc000};
  std::memcpy(reinterpret_cast<void*>(image.data), halves, 4);
  texel = fetch(t, f, memory, fault);
  CHECK(std::bit_cast<float>(texel[0]) == 1.5f);
  CHECK(std::bit_cast<float>(texel[1]) == -2.0f);
  CHECK(std::bit_cast<float>(texel[3]) == 1.0f);
}

constexpr const char* kTexels = R"(
.visible .entry run(.param .u64 tex, .param .u64 surf, .param .u64 out) {
  .reg .pred %p; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [tex];
  ld.param.u64 %rd2, [surf];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 7;
  shr.u32 %r3, %r1, 3;
  cvt.rn.f32.u32 %f1, %r2;
  cvt.rn.f32.u32 %f2, %r3;
  add.f32 %f1, %f1, 0f3F000000;
  add.f32 %f2, %f2, 0f3F000000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  tex.2d.v4.f32.s32 {%f7, %f4, %f5, %f6}, [%rd1, {%r2, %r3}];
  tld4.r.2d.v4.f32.f32 {%f8, %f9, %f10, %f11}, [%rd1, {%f1, %f2}];
  txq.width.b32 %r4, [%rd1];
  suq.height.b32 %r5, [%rd2];
  shl.b32 %r6, %r2, 2;
  suld.b.2d.b32.zero %r7, [%rd2, {%r6, %r3}];
  add.u32 %r8, %r7, 5;
  sust.b.2d.b32.zero [%rd2, {%r6, %r3}], %r8;
  mov.u32 %r9, 400;
  suld.b.2d.b32.zero %r10, [%rd2, {%r9, %r3}];
  mul.wide.u32 %rd4, %r1, 32;
  add.u64 %rd4, %rd3, %rd4;
  st.global.v4.f32 [%rd4], {%f3, %f7, %f8, %f10};
  st.global.v4.u32 [%rd4+16], {%r4, %r5, %r7, %r10};
  ret;
})";

TEST_CASE("texture and surface instructions") {
  Device device(kTexels);
  TextureTable table;
  device.options.textures = &table;
  Texture t;
  t.levels = {Ramp(device.memory, 8, 4, 1).image};
  const std::uint64_t texture = table.add(t);
  Image image = t.levels[0];
  image.format = {1, 32, TexelKind::kUnsigned};
  image.data = device.array(std::vector<std::uint32_t>(8 * 4, 7));
  image.row_pitch = 32;
  const std::uint64_t surface = table.add_surface(image);
  const Address out = device.zeros<std::uint32_t>(8 * 32);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(texture, surface, out));
  const auto values = device.read<std::uint32_t>(out, 8 * 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t x = i % 8, y = i / 8;
    const auto value = [&](std::uint32_t column, std::uint32_t row) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::min(column, 7u) + 100 * std::min(row, 3u)));
    };
    CHECK(values[8 * i] == value(x, y));
    CHECK(values[8 * i + 1] == value(x, y));
    CHECK(values[8 * i + 2] == value(x, y + 1));
    CHECK(values[8 * i + 3] == value(x + 1, y));
    CHECK(values[8 * i + 4] == 8);
    CHECK(values[8 * i + 5] == 4);
    CHECK(values[8 * i + 6] == 7);
    CHECK(values[8 * i + 7] == 0);
  }
  CHECK(device.read<std::uint32_t>(image.data, 32) == std::vector<std::uint32_t>(32, 12));
  CHECK(table.remove(texture));
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(texture, surface, out)), DeviceFault);
}

TEST_CASE("txq, suq and istypep say what objects are") {
  // Values: PTX ISA 5.3.2 (channels as OpenCL numbers them) and the order of names in 9.7.11.3.
  Device device(R"(
.visible .entry run(.param .u64 tex, .param .u64 surf, .param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [tex]; ld.param.u64 %rd2, [surf]; ld.param.u64 %rd3, [out];
  mov.u32 %r9, 1;
  txq.channel_data_type.b32 %r0, [%rd1];
  txq.channel_order.b32 %r1, [%rd1];
  txq.filter_mode.b32 %r2, [%rd1];
  txq.addr_mode_0.b32 %r3, [%rd1];
  txq.addr_mode_1.b32 %r4, [%rd1];
  txq.level.width.b32 %r5, [%rd1], %r9;
  suq.channel_data_type.b32 %r6, [%rd2];
  suq.channel_order.b32 %r7, [%rd2];
  istypep.texref %p0, %rd1;
  istypep.surfref %p1, %rd1;
  istypep.surfref %p2, %rd2;
  selp.u32 %r10, 1, 0, %p0;
  selp.u32 %r11, 1, 0, %p1;
  selp.u32 %r12, 1, 0, %p2;
  suq.memory_layout.b32 %r13, [%rd2];
  st.global.v4.u32 [%rd3], {%r0, %r1, %r2, %r3};
  st.global.v4.u32 [%rd3+16], {%r4, %r5, %r6, %r7};
  st.global.v4.u32 [%rd3+32], {%r10, %r11, %r12, %r13};
  ret;
})");
  TextureTable table;
  device.options.textures = &table;
  Texture t;
  t.levels = {Ramp(device.memory, 8, 4, 1).image};
  t.levels.push_back(t.levels[0]);
  t.levels[1].width = 4;
  t.levels[0].format = {2, 16, TexelKind::kSigned};
  t.linear_filter = true;
  t.address = {AddressMode::kMirror, AddressMode::kBorder, AddressMode::kClamp};
  Image image = t.levels[0];
  image.format = {4, 32, TexelKind::kFloat};
  const std::uint64_t texture = table.add(t), surface = table.add_surface(image);
  const Address out = device.zeros<std::uint32_t>(12);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(texture, surface, out));
  CHECK(device.read<std::uint32_t>(out, 12) ==
        std::vector<std::uint32_t>{0x10d8, 0x10b2, 1, 1, 4, 4, 0x10de, 0x10b5, 1, 0, 1, 0});
}

}  // namespace
}  // namespace lockstep::exec::test
