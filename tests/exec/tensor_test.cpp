// Bulk tensor copies against plain loops over coordinates; fields of tensor maps.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "exec/tensor_map.hpp"
#include "tests/exec/support.hpp"
#include "tests/exec/tensor_bytes.hpp"

namespace lockstep::exec::test {
namespace {

constexpr unsigned kTensorTile = 16384;

/// One thread loads a tile, everyone waits for the mbarrier, the tile goes to `out`; then one thread stores
/// or reduces it to the tensor of map `to` at the same coordinates.
std::string program(unsigned rank, const std::string& store) {
  std::string list, loads;
  for (unsigned d = 0; d < rank; ++d) {
    list += fmt::format("{}%c{}", d ? ", " : "", d);
    loads += fmt::format("  ld.param.u32 %c{0}, [at+{1}];\n", d, 4 * d);
  }
  return fmt::format(R"(
.visible .entry run(.param .align 64 .b8 map[128], .param .u64 to, .param .u64 out, .param .u32 bytes, .param .align 4 .b8 at[20]) {{
  .shared .align 1024 .b8 tile[{0}];
  .shared .align 8 .b64 full;
  .reg .pred %p, %q; .reg .b32 %r<12>, %c<5>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [bytes];
{1}
  mov.u32 %r2, %tid.x; mov.u32 %r3, tile; mov.u32 %r4, full;
  mov.b64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  setp.ne.u32 %p, %r2, 0;
  @%p bra $WAIT0;
  mbarrier.init.shared::cta.b64 [%r4], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], %r1;
  cp.async.bulk.tensor.{2}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd3, {{{3}}}], [%r4];
$WAIT0:
  bar.sync 0;
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%r4], 0;
  @!%q bra $WAIT;
  mov.u32 %r5, %r2;
$COPY:
  shl.b32 %r6, %r5, 4;
  add.u32 %r7, %r6, %r3;
  ld.shared.v4.u32 {{%r8, %r9, %r10, %r11}}, [%r7];
  cvt.u64.u32 %rd4, %r6;
  add.u64 %rd4, %rd4, %rd2;
  st.global.v4.u32 [%rd4], {{%r8, %r9, %r10, %r11}};
  add.u32 %r5, %r5, 64;
  setp.lt.u32 %q, %r5, {4};
  @%q bra $COPY;
  bar.sync 0;
  @%p bra $END;
  setp.eq.u64 %q, %rd1, 0;
  @%q bra $END;
  {5} [%rd1, {{{3}}}], [%r3];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
$END:
  ret;
}})",
                     kTensorTile, loads, rank, list, kTensorTile / 16,
                     store.empty()
                         ? fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group", rank)
                         : store);
}

/// Calls f(coordinates, number of the row, x) for each element of a tile, and whether it lies in the tensor.
template <class F>
void each_element(const TensorMap& m, const At& at, F f) {
  std::uint32_t row = 0;
  std::array<std::int64_t, 5> c{};
  for (std::uint32_t e = 0; e < m.count(4); ++e)
    for (std::uint32_t d = 0; d < m.count(3); ++d)
      for (std::uint32_t g = 0; g < m.count(2); ++g)
        for (std::uint32_t b = 0; b < m.count(1); ++b, ++row)
          for (std::uint32_t x = 0; x < m.box[0]; ++x) {
            c = {at.c[0] + std::int64_t{x}, at.c[1] + std::int64_t{b} * m.step[1],
                 at.c[2] + std::int64_t{g} * m.step[2], at.c[3] + std::int64_t{d} * m.step[3],
                 at.c[4] + std::int64_t{e} * m.step[4]};
            bool inside = true;
            std::uint64_t offset = 0;
            for (unsigned i = 0; i < 5; ++i) {
              inside &= c[i] >= 0 && c[i] < static_cast<std::int64_t>(m.dim[i]);
              offset += static_cast<std::uint64_t>(c[i]) * m.stride[i];
            }
            f(row, x, inside, offset);
          }
}

/// Where byte `b` of a row lies: units of 16 bytes exchanged within the span, as the guide's tables show it.
std::uint32_t place(std::uint32_t row, std::uint32_t b, std::uint32_t pitch, unsigned span) {
  const std::uint32_t linear = row * pitch + b;
  if (span == 0) return linear;
  const std::uint32_t line = linear / 128, unit = linear % 128 / 16,
                      turn = span == 128  ? line % 8
                             : span == 64 ? line % 4
                                          : line % 2;
  return line * 128 + (unit ^ turn) * 16 + linear % 16;
}

TensorMap random_map(std::mt19937& random, unsigned rank, ptx::Type type) {
  const auto pick = [&](unsigned from, unsigned to) {
    return from + static_cast<unsigned>(random() % (to - from + 1));
  };
  TensorMap m;
  m.type = type;
  m.rank = rank;
  const unsigned size = ptx::bytes(type);
  m.stride[0] = size;
  m.swizzle_bits = pick(0, 3);
  const unsigned span = m.swizzle_bits == 0 ? 128 : 16u << m.swizzle_bits;
  m.box[0] = (m.swizzle_bits == 0 ? 16 * pick(1, span / 16) : span) / size;
  m.dim[0] = pick(1, 2 * m.box[0]);
  std::uint64_t stride = (m.dim[0] * size + 15) / 16 * 16 + 16 * pick(0, 1);
  for (unsigned d = 1; d < rank; ++d) {
    m.stride[d] = stride;
    m.dim[d] = pick(1, 6);
    m.step[d] = pick(1, 2);
    m.box[d] = pick(1, d == 1 ? 6 : 3);
    stride *= m.dim[d];
  }
  return m;
}

TEST_CASE("bulk tensor copies: one to five dimensions, outside the tensor, strides, swizzles") {
  std::mt19937 random(7);
  for (unsigned rank = 1; rank <= 5; ++rank) {
    Device device(program(rank, ""));
    for (int round = 0; round < 25; ++round) {
      constexpr ptx::Type kTypes[] = {ptx::Type::kU8, ptx::Type::kF16, ptx::Type::kS32, ptx::Type::kF64};
      TensorMap m = random_map(random, rank, kTypes[random() % 4]);
      const std::uint64_t bytes = rank == 1 ? m.dim[0] * m.stride[0] : m.dim[rank - 1] * m.stride[rank - 1];
      std::vector<std::uint8_t> tensor(bytes), target(bytes, 0xee);
      for (auto& b : tensor) b = static_cast<std::uint8_t>(random());
      m.address = device.array(tensor);
      TensorMap to = m;
      to.address = device.array(target);
      REQUIRE(m.valid());
      const MapBytes from_bytes = packed(m), to_bytes = packed(to);
      const Address to_map = device.array(std::vector<MapBytes>{to_bytes}),
                    out = device.array(std::vector<std::uint8_t>(kTensorTile, 0xdd));
      At at{};
      for (unsigned d = 0; d < rank; ++d) at.c[d] = static_cast<std::int32_t>(random() % (m.dim[d] + 4)) - 3;
      const std::uint32_t moved = m.rows() * m.row_bytes();
      device.run("run", {1, 1, 1}, {64, 1, 1}, Arguments(from_bytes, to_map, out, moved, at));
      const auto got = device.read<std::uint8_t>(out, kTensorTile);
      const unsigned size = m.element_bytes(), span = m.swizzle_bits == 0 ? 0 : 16u << m.swizzle_bits;
      each_element(m, at, [&](std::uint32_t row, std::uint32_t x, bool inside, std::uint64_t offset) {
        for (unsigned b = 0; b < size; ++b) {
          const std::uint8_t want = inside ? tensor[offset + b] : 0;
          REQUIRE(got[place(row, x * size + b, m.row_bytes(), span)] == want);
          if (inside) target[offset + b] = want;
        }
      });
      REQUIRE(device.read<std::uint8_t>(to.address, bytes) == target);
      device.memory.release(m.address);
      device.memory.release(to.address);
      device.memory.release(to_map);
      device.memory.release(out);
    }
  }
}

TEST_CASE("bulk tensor reductions add to what is there, inside the tensor") {
  Device device(program(2, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"));
  TensorMap m;
  m.type = ptx::Type::kS32;
  m.rank = 2;
  m.dim = {10, 5, 1, 1, 1};
  m.stride = {4, 48, 0, 0, 0};
  m.box = {8, 4, 1, 1, 1};
  std::vector<std::int32_t> from(60), to(60);
  std::iota(from.begin(), from.end(), 5);
  std::iota(to.begin(), to.end(), -900);
  m.address = device.array(from);
  const MapBytes load = packed(m);
  m.address = device.array(to);
  const Address store = device.array(std::vector<MapBytes>{packed(m)}),
                out = device.zeros<std::uint8_t>(kTensorTile);
  const At at{{4, 3, 0, 0, 0}};
  device.run("run", {1, 1, 1}, {64, 1, 1}, Arguments(load, store, out, 128u, at));
  each_element(m, at, [&](std::uint32_t, std::uint32_t, bool inside, std::uint64_t offset) {
    if (inside) to[offset / 4] += from[offset / 4];
  });
  CHECK(device.read<std::int32_t>(m.address, 60) == to);
  MapBytes broken = load;
  broken.bytes[0] = std::byte{1};
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {64, 1, 1}, Arguments(broken, store, out, 128u, at)),
                  DeviceFault);
}

TEST_CASE("tensor maps keep the limits of cuTensorMapEncodeTiled and give back what was packed") {
  TensorMap m;
  m.type = ptx::Type::kF32;
  m.rank = 3;
  m.address = 0x1000;
  m.dim = {std::uint64_t{1} << 32, 7, 9, 1, 1};
  m.stride = {4, 1 << 20, (std::uint64_t{1} << 40) - 16, 0, 0};
  m.box = {32, 256, 3, 1, 1};
  m.step = {1, 8, 2, 1, 1};
  m.swizzle_bits = 3;
  REQUIRE(m.valid());
  const MapBytes bytes = packed(m);
  const auto back = TensorMap::unpack(bytes.bytes);
  REQUIRE(back);
  CHECK((back->dim == m.dim && back->stride == m.stride && back->box == m.box && back->step == m.step));
  CHECK(back->rows() == 32 * 2);
  const auto broken = [&](auto change) {
    TensorMap other = m;
    change(other);
    return !other.valid();
  };
  CHECK(broken([](TensorMap& t) { t.address = 8; }));
  CHECK(broken([](TensorMap& t) { t.dim[1] = 0; }));
  CHECK(broken([](TensorMap& t) { t.dim[0] += 1; }));
  CHECK(broken([](TensorMap& t) { t.stride[1] = 24; }));
  CHECK(broken([](TensorMap& t) { t.stride[2] += 16; }));
  CHECK(broken([](TensorMap& t) { t.box[2] = 257; }));
  CHECK(broken([](TensorMap& t) { t.box[0] = 3; }));
  CHECK(broken([](TensorMap& t) { t.box[0] = 36; }));  // more than the swizzle's span
  CHECK(broken([](TensorMap& t) { t.step[1] = 9; }));
  CHECK(broken([](TensorMap& t) { t.rank = 6; }));
  std::array<std::byte, kTensorMapBytes> nothing{};
  CHECK_FALSE(TensorMap::unpack(nothing.data()));
}

// CUTLASS's make_tma_copy_desc clears bit 21 of the second 64-bit word of what cuTensorMapEncodeTiled has
// made.
TEST_CASE("a tensor map is the same without bit 21 of its second word") {
  TensorMap m;
  m.type = ptx::Type::kF16;
  m.rank = 2;
  m.address = ~std::uint64_t{0} >> 16 & ~std::uint64_t{15};
  m.dim = {~std::uint32_t{0}, ~std::uint32_t{0}, 1, 1, 1};
  m.stride = {2, (std::uint64_t{1} << 40) - 16, 0, 0, 0};
  m.box = {64, 255, 1, 1, 1};
  m.swizzle_bits = 3;
  MapBytes bytes = packed(m);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.bytes + 8, sizeof word);
  word &= ~(std::uint64_t{1} << 21);
  std::memcpy(bytes.bytes + 8, &word, sizeof word);
  const auto back = TensorMap::unpack(bytes.bytes);
  REQUIRE(back);
  CHECK(back->address == m.address);
  CHECK((back->dim == m.dim && back->stride == m.stride && back->box == m.box && back->step == m.step));
  CHECK((back->type == m.type && back->swizzle_bits == m.swizzle_bits));
}

TEST_CASE("tensormap.replace changes fields of a map in shared memory, which is then copied out") {
  Device device(R"(
.visible .entry run(.param .u64 from, .param .u64 to, .param .u64 tensor) {
  .shared .align 128 .b8 map[128];
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
  ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u64 %rd3, [tensor];
  mov.u32 %r1, %tid.x; mov.u32 %r2, map;
  shl.b32 %r3, %r1, 2; add.u32 %r4, %r3, %r2;
  cvt.u64.u32 %rd4, %r3; add.u64 %rd4, %rd4, %rd1;
  ld.global.u32 %r5, [%rd4]; st.shared.u32 [%r4], %r5;
  bar.warp.sync 0xffffffff;
  setp.ne.u32 %p, %r1, 0;
  @%p bra $DONE;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %rd3;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 1, 5;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, 77;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r2], 0, 160;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r2], 1, 2;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 10;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r2], 2;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r2], 0;
$DONE:
  bar.warp.sync 0xffffffff;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r2], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
  ret;
})");
  TensorMap m;
  m.type = ptx::Type::kU16;
  m.rank = 3;
  m.dim = {64, 4, 4, 1, 1};
  m.stride = {2, 128, 512, 0, 0};
  m.box = {32, 2, 2, 1, 1};
  m.address = 0x2000;
  const Address from = device.array(std::vector<MapBytes>{packed(m)}), to = device.zeros<std::byte>(128);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(from, to, Address{0x4560}));
  const auto bytes = device.read<std::byte>(to, 128);
  const auto got = TensorMap::unpack(bytes.data());
  REQUIRE(got);
  CHECK(got->address == 0x4560);
  CHECK(got->rank == 2);
  CHECK(got->box == decltype(m.box){32, 5, 1, 1, 1});
  CHECK(got->dim == decltype(m.dim){77, 4, 1, 1, 1});
  CHECK(got->stride[1] == 160);
  CHECK(got->step[1] == 2);
  CHECK(got->type == ptx::Type::kBf16);
  CHECK(got->swizzle_bits == 2);
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(to + 16, to, Address{0})), DeviceFault);
}

}  // namespace
}  // namespace lockstep::exec::test
