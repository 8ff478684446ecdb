// Surfaces at their edges, and the addresses that records of textures and surfaces carry.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "exec/fault.hpp"
#include "exec/texture_table.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr std::uint32_t kWidth = 8, kHeight = 4;

/// Texel (x, y) of slice z is 1000 z + 10 y + x.
Image numbered_image(Device& device, std::uint32_t slices) {
  std::vector<std::uint32_t> values(kWidth * kHeight * slices);
  for (std::uint32_t i = 0; i < values.size(); ++i)
    values[i] = i / (kWidth * kHeight) * 1000 + i / kWidth % kHeight * 10 + i % kWidth;
  Image image;
  image.format = {1, 32, TexelKind::kUnsigned};
  image.width = kWidth;
  image.height = kHeight;
  image.row_pitch = kWidth * 4;
  image.slice_pitch = image.row_pitch * kHeight;
  image.data = device.array(values);
  return image;
}

/// One thread: a load at (a, b, c), with x in bytes.
std::string load_kernel(const std::string& geometry, const std::string& outside, const std::string& place) {
  return fmt::format(R"(
.visible .entry run(.param .u64 surf, .param .u64 out, .param .u32 a, .param .u32 b, .param .u32 c) {{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [surf]; ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; ld.param.u32 %r3, [c];
  suld.b.{}.b32.{} %r4, [%rd1, {}];  // LOAD
  st.global.u32 [%rd2], %r4;
  ret;
}})",
                     geometry, outside, place);
}

struct Loader {
  Loader(const std::string& geometry, const std::string& outside, const std::string& place,
         std::uint32_t slices = 1)
      : device(load_kernel(geometry, outside, place)), image(numbered_image(device, slices)) {
    device.options.textures = &table;
    out = device.zeros<std::uint32_t>(1);
  }
  std::uint32_t at(int a, int b, int c = 0) {
    if (surface == 0) surface = table.add_surface(image);
    device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(surface, out, a, b, c));
    return device.read<std::uint32_t>(out, 1)[0];
  }
  FaultKind fault(int a, int b, int c = 0) {
    try {
      (void)at(a, b, c);
    } catch (const DeviceFault& f) {
      return f.kind();
    }
    FAIL("no fault");
    return FaultKind::kIllegalInstruction;
  }
  Device device;
  TextureTable table;
  Image image;
  std::uint64_t surface = 0;
  Address out = 0;
};

TEST_CASE("surfaces: outside, .clamp takes the nearest element, .zero gives 0, .trap stops the kernel") {
  for (const std::string outside : {"clamp", "zero", "trap"}) {
    Loader load("2d", outside, "{%r1, %r2}");
    for (const int x : {-40, -4, 0, 12, 28, 32, 100})
      for (const int y : {-7, -1, 0, 3, 4, 50}) {
        const auto nearest = static_cast<std::uint32_t>(10 * std::clamp(y, 0, 3) + std::clamp(x / 4, 0, 7));
        const bool inside = x >= 0 && x < 32 && y >= 0 && y < 4;
        INFO(outside << " " << x << " " << y);
        if (inside || outside == "clamp") {
          CHECK(load.at(x, y) == nearest);
        } else if (outside == "zero") {
          CHECK(load.at(x, y) == 0);
        } else {
          CHECK(load.fault(x, y) == FaultKind::kIllegalAddress);
        }
      }
  }
}

TEST_CASE("surfaces: x is in bytes and must be a multiple of the element's") {
  Loader load("2d", "trap", "{%r1, %r2}");
  for (const int x : {1, 2, 3, 13}) CHECK(load.fault(x, 0) == FaultKind::kMisalignedAddress);
  CHECK(load.fault(29, 0) == FaultKind::kIllegalAddress);  // the element would end behind the row
}

TEST_CASE("surfaces: volumes and layers have their slices where textures have them") {
  {
    Loader volume("3d", "trap", "{%r1, %r2, %r3, %r3}", 3);
    volume.image.depth = 3;
    CHECK(volume.at(8, 1, 2) == 2012);
    CHECK(volume.fault(8, 1, 3) == FaultKind::kIllegalAddress);
  }
  Loader layers("a2d", "trap", "{%r3, %r1, %r2, %r2}", 5);
  layers.image.layers = 5;
  CHECK(layers.at(8, 1, 4) == 4012);
  CHECK(layers.fault(8, 1, 5) == FaultKind::kIllegalAddress);
}

TEST_CASE("surfaces: what is no surface, and memory that is not mapped, are faults") {
  Loader load("2d", "zero", "{%r1, %r2}");
  load.surface = 12345;
  CHECK(load.fault(0, 0) == FaultKind::kIllegalInstruction);
  load.image.data = 0x1000;
  load.surface = 0;
  CHECK(load.fault(0, 0) == FaultKind::kIllegalAddress);
  load.device.options.textures = nullptr;
  CHECK(load.fault(0, 0) == FaultKind::kIllegalInstruction);
}

/// Addresses of the record behind that of the parameter, and its mask.
std::pair<std::set<Address>, LaneMask> recorded(Device& device, const Arguments& arguments) {
  const auto records = device.record("run", {1, 1, 1}, {32, 1, 1}, arguments);
  const WarpRecord& warp = records.at(0).warps.at(0);
  std::size_t word = 0, memory = 0;
  for (const trace::Record& record : warp.records) {
    const unsigned count = trace::address_words(record.form(), record.mask);
    if (count > 0 && memory++ == 1) {
      Address lanes[32] = {};
      const std::uint64_t* const words = warp.words.data() + word;
      std::set<Address> all;
      unsigned n = 0;
      const auto delta = [&](unsigned i) {
        const auto packed = static_cast<std::uint32_t>(words[1 + i / 2] >> i % 2 * 32);
        return static_cast<std::int64_t>(static_cast<std::int32_t>(packed));
      };
      for (unsigned l = 0; l < 32; ++l) {
        if ((record.mask >> l & 1) == 0) continue;
        switch (record.form()) {
          case trace::AddressForm::kAffine:
            lanes[l] = words[0] + words[1] * n;
            break;
          case trace::AddressForm::kDelta:
            lanes[l] = n == 0 ? words[0] : words[0] + static_cast<std::uint64_t>(delta(n - 1));
            break;
          default:
            lanes[l] = words[n];
        }
        ++n;
        all.insert(lanes[l]);
      }
      return {all, record.mask};
    }
    word += count;
  }
  FAIL("no such record");
  return {};
}

// Lane l fetches at (l / 4 % 8, 1): the four lanes of a quad read the same, with a filter two texels.
TEST_CASE("records of textures: a filtered fetch carries each quad's sectors once") {
  Device device(R"(
.visible .entry run(.param .u64 tex) {
  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [tex];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 2;
  cvt.rn.f32.u32 %f1, %r2;
  mul.f32 %f1, %f1, 8.0;
  mov.f32 %f2, 1.5;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  ret;
})");
  TextureTable table;
  device.options.textures = &table;
  Texture t;
  Image image;
  image.width = 64;
  image.height = 4;
  image.row_pitch = 256;
  image.slice_pitch = 1024;
  image.data = device.zeros<float>(256);
  t.levels = {image};
  // Nearest: texel 8 q of row 1, for quad q; its own address.
  {
    const auto [where, mask] = recorded(device, Arguments(table.add(t)));
    CHECK(mask == 0xffffffff);
    std::set<Address> expected;
    for (unsigned q = 0; q < 8; ++q) expected.insert(image.data + 256 + 32 * q);
    CHECK(where == expected);
  }
  // With a filter: texels 8 q - 1 and 8 q, in two sectors of 32 bytes but for the first quad.
  {
    t.linear_filter = true;
    const auto [where, mask] = recorded(device, Arguments(table.add(t)));
    std::set<Address> expected;
    for (unsigned q = 0; q < 8; ++q) {
      expected.insert(image.data + 256 + 32 * q);
      if (q > 0) expected.insert(image.data + 256 + 32 * (q - 1));
    }
    CHECK(where == expected);
  }
  // In the border nothing is read: the image's first byte stands for it.
  {
    t.linear_filter = false;
    t.address = {AddressMode::kBorder, AddressMode::kBorder, AddressMode::kBorder};
    t.levels[0].height = 1;
    const auto [where, mask] = recorded(device, Arguments(table.add(t)));
    CHECK(where == std::set<Address>{image.data});
  }
}

TEST_CASE("records of surfaces: only lanes that are inside have an address") {
  Device device(R"(
.visible .entry run(.param .u64 surf) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [surf];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, 2;
  sust.b.2d.b32.zero [%rd1, {%r2, %r3}], %r1;
  ret;
})");
  TextureTable table;
  device.options.textures = &table;
  const Image image = numbered_image(device, 1);
  const auto [where, mask] = recorded(device, Arguments(table.add_surface(image)));
  CHECK(mask == 0xff);
  CHECK(where.size() == 8);
  CHECK(*where.begin() == image.data + 64);
  CHECK(*where.rbegin() == image.data + 64 + 28);
  const auto row = device.read<std::uint32_t>(image.data + 64, 8);
  CHECK(row == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

}  // namespace
}  // namespace lockstep::exec::test
