// Texture instructions of every geometry: which operand is the layer, which are coordinates, level, gradients
// ("PTX ISA 9.0", 9.7.11). Texel (x, y, z) of level 0 has the value x + 100 y + 10000 z.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>

#include "tests/exec/ramp.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

/// A texture of 8 x 8 x 12 texels, with a second level of 4 x 4 x 12 that begins at x = 50.
Texture two_levels(DeviceMemory& memory, bool layers) {
  Texture t;
  t.levels = {Ramp(memory, 8, 8, 12).image, Ramp(memory, 64, 4, 12).image};
  t.levels[1].width = 4;
  t.levels[1].data += std::uint64_t{50} * 4;
  for (Image& image : t.levels) (layers ? image.layers : image.depth) = 12;
  t.normalized_coordinates = true;
  t.max_level = 1;
  return t;
}

/// The four results of a fetch from the texture in %d1; %r1 to %r3 are 1, 2, 3, %f1 to %f5 are 0.1, 0.3, 0.5,
/// 0.7, 0.9, %f0 is 0.
std::array<std::uint32_t, 4> fetched(const std::string& instruction, bool layers,
                                     void (*change)(Texture&) = nullptr) {
  Device device(R"(
.visible .entry run(.param .u64 tex, .param .u64 out) {
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<4>; .reg .b32 %x<4>; .reg .pred %p;
  ld.param.u64 %d1, [tex]; ld.param.u64 %d2, [out];
  mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3;
  mov.f32 %f0, 0.0; mov.f32 %f1, 0.1; mov.f32 %f2, 0.3; mov.f32 %f3, 0.5; mov.f32 %f4, 0.7; mov.f32 %f5, 0.9;
)" + instruction +
                R"(
  st.global.v4.b32 [%d2], {%x0, %x1, %x2, %x3};
  ret;
})");
  TextureTable table;
  device.options.textures = &table;
  Texture t = two_levels(device.memory, layers);
  if (change) change(t);
  const std::uint64_t handle = table.add(t);
  const Address out = device.zeros<std::uint32_t>(4);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(handle, out));
  const auto words = device.read<std::uint32_t>(out, 4);
  return {words[0], words[1], words[2], words[3]};
}

struct FetchRow {
  const char *form, *operands;
  bool layers;
  float expected;
};

void check_fetches(std::initializer_list<FetchRow> rows) {
  for (const FetchRow& row : rows) {
    const std::string text = fmt::format("{} {{%x0, %x1, %x2, %x3}}, [%d1, {};", row.form, row.operands);
    INFO(text);
    CHECK(std::bit_cast<float>(fetched(text, row.layers)[0]) == row.expected);
  }
}

}  // namespace

TEST_CASE("texture forms: coordinates of each geometry, and the layer in front of them") {
  // 0.1, 0.3, 0.5, 0.7, 0.9 of 8 texels are texels 0, 2, 4, 5, 7, of 12 slices 1, 3, 6, 8, 10.
  check_fetches({
      {"tex.1d.v4.f32.f32", "{%f2}]", false, 2},
      {"tex.1d.v4.f32.s32", "{%r3}]", false, 3},
      {"tex.a1d.v4.f32.f32", "{%r2, %f3}]", true, 20004},
      {"tex.2d.v4.f32.f32", "{%f2, %f4}]", false, 502},
      {"tex.2d.v4.f32.s32", "{%r3, %r1}]", false, 103},
      {"tex.a2d.v4.f32.f32", "{%r3, %f2, %f4, %f4}]", true, 30502},
      {"tex.a2d.v4.f32.s32", "{%r1, %r2, %r3, %r3}]", true, 10302},
      {"tex.3d.v4.f32.f32", "{%f2, %f4, %f5, %f5}]", false, 100502},
      {"tex.3d.v4.f32.s32", "{%r1, %r2, %r3, %r3}]", false, 30201},
      // Face +x: right is -z, down is -y. (1, 0.3, 0.5) is at ((1 - 0.5) / 2, (1 - 0.3) / 2) of it.
      {"mov.f32 %f6, 1.0; tex.cube.v4.f32.f32", "{%f6, %f2, %f3, %f0}]", true, 202},
      {"mov.f32 %f6, 1.0; tex.acube.v4.f32.f32", "{%r1, %f6, %f2, %f3}]", true, 60202},
      {"mov.f32 %f6, -1.0; tex.acube.v4.f32.f32", "{%r1, %f0, %f1, %f6}]", true, 110304},
  });
}

TEST_CASE("texture forms: a level is behind the coordinates") {
  // In level 1, of 4 texels, 0.3 and 0.7 are texels 1 and 2.
  check_fetches({
      {"mov.f32 %f6, 1.0; tex.level.1d.v4.f32.f32", "{%f2}], %f6", false, 51},
      {"mov.f32 %f6, 1.0; tex.level.2d.v4.f32.f32", "{%f2, %f4}], %f6", false, 251},
      {"tex.level.2d.v4.f32.f32", "{%f2, %f4}], %f0", false, 502},
      {"mov.f32 %f6, 1.0; tex.level.a2d.v4.f32.f32", "{%r3, %f2, %f4, %f4}], %f6", true, 30251},
      {"mov.f32 %f6, 7.0; tex.level.3d.v4.f32.f32", "{%f2, %f4, %f5, %f5}], %f6", false, 100251},
  });
}

TEST_CASE("texture forms: gradients of as many coordinates as there are choose the level") {
  // 0.3 of 8 texels are more than two: level 1. 0.1 are less than one: level 0.
  check_fetches({
      {"tex.grad.1d.v4.f32.f32", "{%f2}], {%f1}, {%f0}", false, 2},
      {"tex.grad.1d.v4.f32.f32", "{%f2}], {%f0}, {%f2}", false, 51},
      {"tex.grad.2d.v4.f32.f32", "{%f2, %f4}], {%f1, %f0}, {%f0, %f1}", false, 502},
      {"tex.grad.2d.v4.f32.f32", "{%f2, %f4}], {%f0, %f2}, {%f0, %f0}", false, 251},
      {"tex.grad.a2d.v4.f32.f32", "{%r3, %f2, %f4, %f4}], {%f0, %f0}, {%f2, %f0}", true, 30251},
      {"tex.grad.3d.v4.f32.f32", "{%f2, %f4, %f5, %f5}], {%f0, %f0, %f2, %f2}, {%f0, %f0, %f0, %f0}", false,
       100251},
  });
}

TEST_CASE("texture forms: tld4 gathers one channel of four texels around the place") {
  const auto four_channels = [](Texture& t) {
    // Two floats of the ramp make a texel: (2 x, 2 x + 1) of a row of 8.
    t.levels.resize(1);
    t.levels[0].width = 4;
    t.levels[0].format.channels = 2;
    t.max_level = 0;
  };
  using Values = std::array<float, 4>;
  const auto gathered = [&](const std::string& channel) {
    const auto words =
        fetched(fmt::format("tld4.{}.2d.v4.f32.f32 {{%x0, %x1, %x2, %x3}}, [%d1, {{%f3, %f3}}];", channel),
                false, four_channels);
    Values values{};
    for (std::size_t i = 0; i < 4; ++i) values[i] = std::bit_cast<float>(words[i]);
    return values;
  };
  // The middle of 4 x 8 texels: columns 1 and 2, rows 3 and 4; lower left first, then counter-clockwise.
  CHECK(gathered("r") == Values{402, 404, 304, 302});
  CHECK(gathered("g") == Values{403, 405, 305, 303});
  CHECK(gathered("b") == Values{0, 0, 0, 0});  // what texels lack
  CHECK(gathered("a") == Values{1, 1, 1, 1});
}

TEST_CASE("texture forms: queries of sizes, levels and coordinates") {
  const auto query = [](const std::string& word, bool layers) {
    return fetched(fmt::format("txq.{}.b32 %x0, [%d1];", word), layers)[0];
  };
  CHECK(query("width", false) == 8);
  CHECK(query("height", false) == 8);
  CHECK(query("depth", false) == 12);
  CHECK(query("array_size", true) == 12);
  CHECK(query("num_mipmap_levels", false) == 2);
  CHECK(query("normalized_coords", false) == 1);
  CHECK(query("addr_mode_2", false) == 3);  // clamp_to_edge
  CHECK(fetched("txq.level.width.b32 %x0, [%d1], %r1; txq.level.height.b32 %x1, [%d1], %r1;", false) ==
        std::array<std::uint32_t, 4>{4, 4, 0, 0});
  CHECK_THROWS_AS(fetched("txq.level.width.b32 %x0, [%d1], %r2;", false), DeviceFault);
  CHECK(fetched("istypep.samplerref %p, %d1; selp.u32 %x0, 1, 0, %p;", false)[0] == 0);
}

TEST_CASE("texture forms: results go to the registers that are named, of integers as they are") {
  const auto integers = [](Texture& t) {
    t.levels.resize(1);
    t.levels[0].format = {1, 16, TexelKind::kSigned};
    t.levels[0].width = 16;
    t.max_level = 0;
    const std::int16_t texel = -3;
    std::memcpy(reinterpret_cast<void*>(t.levels[0].data + 2), &texel, sizeof texel);
  };
  using Words = std::array<std::uint32_t, 4>;
  CHECK(fetched("tex.1d.v4.s32.s32 {%x0, %x1, %x2, %x3}, [%d1, {%r1}];", false, integers) ==
        Words{0xfffffffd, 0, 0, 1});
  CHECK(fetched("mov.b64 {%x0, %x1}, 0; mov.b64 {%x2, %x3}, 0;"
                "tex.1d.v4.u32.s32 {_, %x2, _, %x0}, [%d1, {%r1}];",
                false, integers) == Words{1, 0, 0, 0});
}

}  // namespace lockstep::exec::test
