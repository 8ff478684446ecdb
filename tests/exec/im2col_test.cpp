// Bulk tensor copies in im2col mode against the definition of a convolution.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "exec/tensor_map.hpp"
#include "tests/exec/support.hpp"
#include "tests/exec/tensor_bytes.hpp"

namespace lockstep::exec::test {
namespace {

constexpr unsigned kPixelTile = 4096;

/// One thread loads pixels at `at` with the filter's offsets `offset`, writes them to `out`, and stores them
/// to the tensor of map `to`, without offsets.
std::string program(unsigned rank) {
  std::string list, offsets, loads;
  for (unsigned d = 0; d < rank; ++d) {
    list += fmt::format("{}%c{}", d ? ", " : "", d);
    loads += fmt::format("  ld.param.u32 %c{0}, [at+{1}];\n", d, 4 * d);
  }
  for (unsigned d = 0; d + 2 < rank; ++d) {
    offsets += fmt::format("{}%h{}", d ? ", " : "", d);
    loads += fmt::format("  ld.param.u16 %h{0}, [at+{1}];\n", d, 20 + 2 * d);
  }
  return fmt::format(R"(
.visible .entry run(.param .align 64 .b8 map[128], .param .u64 to, .param .u64 out, .param .u32 bytes, .param .align 4 .b8 at[28]) {{
  .shared .align 1024 .b8 tile[{0}];
  .shared .align 8 .b64 full;
  .reg .pred %q; .reg .b32 %r<12>, %c<5>; .reg .b16 %h<3>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [bytes];
{1}
  mov.u32 %r3, tile; mov.u32 %r4, full;
  mov.b64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  mbarrier.init.shared::cta.b64 [%r4], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], %r1;
  cp.async.bulk.tensor.{2}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r3], [%rd3, {{{3}}}], [%r4], {{{4}}};
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%r4], 0;
  @!%q bra $WAIT;
  mov.u32 %r5, 0;
$COPY:
  add.u32 %r7, %r5, %r3;
  ld.shared.v4.u32 {{%r8, %r9, %r10, %r11}}, [%r7];
  cvt.u64.u32 %rd4, %r5;
  add.u64 %rd4, %rd4, %rd2;
  st.global.v4.u32 [%rd4], {{%r8, %r9, %r10, %r11}};
  add.u32 %r5, %r5, 16;
  setp.lt.u32 %q, %r5, %r1;
  @%q bra $COPY;
  cp.async.bulk.tensor.{2}d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {{{3}}}], [%r3];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}})",
                     kPixelTile, loads, rank, list, offsets);
}

/// Where the pixels begin.
struct PixelsAt {
  std::int32_t c[5];
  std::uint16_t offset[3];
};

MapBytes packed_valid(const TensorMap& map) {
  REQUIRE(map.valid());
  return packed(map);
}

/// A convolution of images of up to three dimensions W, H and D (those it has not have one pixel).
struct Convolution {
  unsigned images = 0, channels = 0, size[3] = {1, 1, 1}, filter[3] = {1, 1, 1}, stride[3] = {1, 1, 1},
           dilation[3] = {1, 1, 1}, pad[3] = {};

  /// How far the last tap of a filter is from its first.
  [[nodiscard]] int reach(unsigned d) const { return static_cast<int>((filter[d] - 1) * dilation[d]); }
  [[nodiscard]] unsigned outputs(unsigned d) const {
    return static_cast<unsigned>(static_cast<int>(size[d] + 2 * pad[d]) - reach(d) - 1) / stride[d] + 1;
  }
  /// First pixel of the filter at an output.
  [[nodiscard]] int begin(unsigned d, unsigned output) const {
    return static_cast<int>(output * stride[d]) - static_cast<int>(pad[d]);
  }
  /// Where the output of this number lies: W, H, D, image.
  [[nodiscard]] std::array<unsigned, 4> output(unsigned number) const {
    std::array<unsigned, 4> at{};
    for (unsigned d = 0; d < 3; ++d) {
      at[d] = number % outputs(d);
      number /= outputs(d);
    }
    at[3] = number;
    return at;
  }
  /// Index of the pixel's channel 0, or -1 outside of the images.
  [[nodiscard]] std::int64_t pixel(const std::array<int, 3>& at, unsigned image) const {
    std::int64_t index = image;
    for (unsigned d = 3; d-- > 0;) {
      if (at[d] < 0 || at[d] >= static_cast<int>(size[d])) return -1;
      index = index * size[d] + at[d];
    }
    return image < images ? index * channels : -1;
  }
};

Convolution random_convolution(std::mt19937& random, unsigned dimensions) {
  const auto pick = [&](unsigned from, unsigned to) {
    return from + static_cast<unsigned>(random() % (to - from + 1));
  };
  Convolution c;
  c.images = pick(1, 3);
  c.channels = 4 * pick(1, 4);
  for (unsigned d = 0; d < dimensions; ++d) {
    c.filter[d] = pick(1, 3);
    c.dilation[d] = pick(1, 2);
    c.stride[d] = pick(1, 3);
    c.pad[d] = pick(0, 2);
    c.size[d] = static_cast<unsigned>(c.reach(d)) + pick(1, 7);
  }
  return c;
}

TensorMap map_of(const Convolution& c, unsigned dimensions, unsigned channels, unsigned pixels) {
  TensorMap m;
  m.type = ptx::Type::kF32;
  m.rank = dimensions + 2;
  m.box[0] = channels;
  m.pixels = pixels;
  m.dim[0] = c.channels;
  m.stride[0] = 4;
  std::uint64_t stride = 4 * c.channels;
  for (unsigned d = 0; d < dimensions; ++d) {
    m.dim[d + 1] = c.size[d];
    m.stride[d + 1] = stride;
    m.step[d + 1] = c.stride[d];
    stride *= c.size[d];
    m.lower[d + 1] = -static_cast<int>(c.pad[d]);
    m.upper[d + 1] = static_cast<int>(c.pad[d]) - c.reach(d);
  }
  m.dim[dimensions + 1] = c.images;
  m.stride[dimensions + 1] = stride;
  return m;
}

}  // namespace

TEST_CASE("im2col copies bring what the filters' taps read, output by output") {
  std::mt19937 random(11);
  for (unsigned dimensions = 1; dimensions <= 3; ++dimensions) {
    Device device(program(dimensions + 2));
    for (int round = 0; round < 40; ++round) {
      const Convolution c = random_convolution(random, dimensions);
      const unsigned channels = 4, pixels = 1 + static_cast<unsigned>(random() % 60),
                     outputs = c.images * c.outputs(0) * c.outputs(1) * c.outputs(2),
                     start = static_cast<unsigned>(random() % outputs),
                     channel = 4 * static_cast<unsigned>(random() % (c.channels / 4));
      std::vector<float> images(c.images * c.channels * c.size[0] * c.size[1] * c.size[2]);
      for (auto& v : images) v = static_cast<float>(random() % 10000);
      std::vector<float> stored(images.size(), -1);
      TensorMap map = map_of(c, dimensions, channels, pixels);
      map.address = device.array(images);
      const MapBytes load = packed_valid(map);
      const Address from = map.address;
      map.address = device.array(stored);
      const Address to = map.address, to_map = device.array(std::vector<MapBytes>{packed_valid(map)}),
                    out = device.zeros<std::uint8_t>(kPixelTile);
      PixelsAt at{};
      unsigned tap[3] = {};
      at.c[0] = static_cast<int>(channel);
      for (unsigned d = 0; d < dimensions; ++d) {
        tap[d] = static_cast<unsigned>(random() % c.filter[d]);
        at.c[d + 1] = c.begin(d, c.output(start)[d]);
        at.offset[d] = static_cast<std::uint16_t>(tap[d] * c.dilation[d]);
      }
      at.c[dimensions + 1] = static_cast<int>(c.output(start)[3]);
      device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(load, to_map, out, pixels * channels * 4, at));
      const auto got = device.read<float>(out, pixels * channels);
      for (unsigned p = 0; p < pixels; ++p) {
        const auto output = c.output(start + p);
        std::array<int, 3> first{}, read{};
        for (unsigned d = 0; d < 3; ++d) {
          first[d] = c.begin(d, output[d]);
          read[d] = first[d] + static_cast<int>(tap[d] * c.dilation[d]);
        }
        const auto source = c.pixel(read, output[3]), target = c.pixel(first, output[3]);
        for (unsigned i = 0; i < channels; ++i) {
          const float value = source < 0 ? 0 : images[static_cast<std::size_t>(source) + channel + i];
          REQUIRE(got[p * channels + i] == value);
          if (target >= 0) stored[static_cast<std::size_t>(target) + channel + i] = value;
        }
      }
      REQUIRE(device.read<float>(to, stored.size()) == stored);
      for (const Address a : {from, to, to_map, out}) device.memory.release(a);
    }
  }
}

TEST_CASE("maps of im2col have limits of their own and are not for copies of tiles") {
  Convolution c;
  c.images = 1;
  c.channels = 8;
  c.size[0] = c.size[1] = 6;
  TensorMap map = map_of(c, 2, 4, 8);
  Device device(program(4));
  map.address = device.zeros<float>(8 * 36);
  const auto valid = [&](auto change) {
    TensorMap other = map;
    change(other);
    return other.valid();
  };
  CHECK(valid([](TensorMap&) {}));
  CHECK(valid([](TensorMap& m) { m.pixels = 1024; }));
  CHECK_FALSE(valid([](TensorMap& m) { m.pixels = 1025; }));
  CHECK(valid([](TensorMap& m) { m.lower[1] = -128, m.upper[1] = 127; }));
  CHECK_FALSE(valid([](TensorMap& m) { m.lower[1] = -129; }));
  CHECK_FALSE(valid([](TensorMap& m) { m.upper[2] = 128; }));
  CHECK(valid([](TensorMap& m) { m.upper[2] = -5; }));
  CHECK_FALSE(valid([](TensorMap& m) { m.upper[2] = -6; }));  // no position is left
  CHECK_FALSE(valid([](TensorMap& m) { m.rank = 2; }));
  const auto back = TensorMap::unpack(packed_valid(map).bytes);
  REQUIRE(back);
  CHECK((back->pixels == map.pixels && back->lower == map.lower && back->upper == map.upper));
  TensorMap tiles = map;
  tiles.pixels = 0;
  tiles.lower = tiles.upper = {};
  const Address to = device.array(std::vector<MapBytes>{packed_valid(map)}),
                out = device.zeros<std::uint8_t>(kPixelTile);
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {1, 1, 1},
                             Arguments(packed_valid(tiles), to, out, 8u * 4 * 4, PixelsAt{})),
                  DeviceFault);
}

}  // namespace lockstep::exec::test
