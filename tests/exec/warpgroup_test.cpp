// wgmma from shared memory and registers, in every swizzling mode, against the plain triple loop on small
// integers. Where elements lie is written here as tiles with exchanged columns of 16 bytes, not as the
// executor has it.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

std::uint32_t bits_of(const std::string& type, int value) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  if (type == "f16")
    return value == 0
               ? 0
               : (single >> 16 & 0x8000) | (((single >> 23) & 255) - 112) << 10 | (single >> 13 & 1023);
  if (type == "e4m3" || type == "e5m2") {  // zero and powers of two
    const unsigned e = value == 0 ? 0 : static_cast<unsigned>(std::ilogb(value));
    const std::uint32_t magnitude = value == 0 ? 0 : type == "e4m3" ? (7 + e) << 3 : (15 + e) << 2;
    return magnitude | (value < 0 ? 0x80 : 0);
  }
  return static_cast<std::uint32_t>(value) & (type == "s32" ? 0xffffffff : 0xff);
}

unsigned size_of(const std::string& type) {
  return type == "tf32" || type == "f32" || type == "s32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

using Matrix = std::vector<std::vector<int>>;

/// A matrix of rows (of M or N) by k in shared memory, and its descriptor.
struct Stored {
  std::vector<std::uint8_t> bytes;
  std::uint64_t descriptor;
};

/// swizzle: bytes of the span, 0 for none. across: neighbours are elements of one k.
Stored store(const Matrix& m, const std::string& type, unsigned swizzle, bool across, unsigned start) {
  const unsigned size = size_of(type), unit = 16 / size;
  const auto rows = static_cast<unsigned>(m.size()), depth = static_cast<unsigned>(m[0].size());
  const unsigned lines = across ? depth : rows, length = across ? rows : depth;  // a line has neighbours
  Stored out{std::vector<std::uint8_t>(65536 - start), 0};
  const unsigned span = swizzle == 0 ? 16 : swizzle, tiles = (length * size + span - 1) / span;
  const unsigned eights = (lines + 7) / 8;
  // Tiles of eight lines; those along a line are apart by `next`, those of the next eight lines by 8 * span.
  const unsigned next = eights * 8 * span, below = 8 * span;
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned x = 0; x < length; ++x) {
      const unsigned column = x % (span / size) / unit;
      const unsigned turn = swizzle == 128  ? line % 8
                            : swizzle == 64 ? line / 2 % 4
                            : swizzle == 32 ? line / 4 % 2
                                            : 0;
      const unsigned at = x / (span / size) * next + line / 8 * below + line % 8 * span +
                          (column ^ turn) * 16 + x % unit * size;
      const std::uint32_t bits = bits_of(type, across ? m[x][line] : m[line][x]);
      std::memcpy(out.bytes.data() + at, &bits, size);
    }
  const unsigned mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  // "Leading" is the step along a line, "stride" the one to the next eight; the other way round without a
  // swizzle where the matrix is transposed.
  const bool exchanged = across && swizzle == 0;
  const std::uint64_t leading = exchanged ? below : next, stride = exchanged ? next : below;
  out.descriptor = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | std::uint64_t{mode} << 62;
  CHECK(tiles * next + start <= 65536);
  return out;
}

struct WarpgroupCase {
  std::string a = "f16", b = "f16", d = "f32";
  unsigned n = 64, k = 16;
  unsigned swizzle_a = 0, swizzle_b = 0;
  bool across_a = false, across_b = false, a_registers = false, accumulates = true, sparse = false;
  int sign_a = 1, sign_b = 1;
};

Matrix matrix(unsigned rows, unsigned columns, const std::string& type, std::mt19937& random) {
  constexpr int kPowers[] = {1, -2, 4, -1, 2, 0};
  Matrix m(rows, std::vector<int>(columns));
  for (auto& row : m)
    for (int& x : row)
      x = type[0] == 'e' ? kPowers[random() % 6]
          : type == "u8" ? static_cast<int>(random() % 9)
                         : static_cast<int>(random() % 9) - 4;
  return m;
}

std::string kernel_of(const WarpgroupCase& c, unsigned results) {
  std::string d = "{", a = "%rd5", tail;
  for (unsigned i = 0; i < results; ++i) d += fmt::format("{}%x{}", i ? ", " : "", i);
  if (c.a_registers) a = "{%a0, %a1, %a2, %a3}";
  const bool wide = c.a == "f16" || c.a == "bf16";
  if (size_of(c.a) != 1 || c.a[0] == 'e') tail += fmt::format(", {}, {}", c.sign_a, c.sign_b);
  if (wide && !c.a_registers) tail += fmt::format(", {}", c.across_a ? 1 : 0);
  if (wide) tail += fmt::format(", {}", c.across_b ? 1 : 0);
  std::string text = R"(
.visible .entry run(.param .u64 image, .param .u64 da, .param .u64 db, .param .u64 regs, .param .u64 out, .param .u32 scale) {
  .shared .align 1024 .b8 tile[65536];
  .reg .pred %p, %go; .reg .b32 %r<8>, %a<4>, %meta, %x<128>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [image];
  ld.param.u64 %rd5, [da];
  ld.param.u64 %rd6, [db];
  ld.param.u64 %rd7, [regs];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r5, [scale];
  setp.ne.u32 %go, %r5, 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %r1;
$COPY:
  shl.b32 %r3, %r2, 4;
  cvt.u64.u32 %rd3, %r3;
  add.u64 %rd3, %rd3, %rd1;
  ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%rd3];
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  st.shared.v4.u32 [%r4], {%a0, %a1, %a2, %a3};
  add.u32 %r2, %r2, 128;
  setp.lt.u32 %p, %r2, 4096;
  @%p bra $COPY;
  mul.wide.u32 %rd3, %r1, 32;
  add.u64 %rd3, %rd3, %rd7;
  ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%rd3];
  ld.global.u32 %meta, [%rd3+16];
  fence.proxy.async;
  bar.sync 0;
)";
  for (unsigned i = 0; i < results; ++i)  // the sum begins with the integer 3 everywhere
    text += fmt::format("  mov.b32 %x{}, {};\n", i,
                        c.d == "f16" ? bits_of("f16", 3) << 16 | bits_of("f16", 3) : bits_of(c.d, 3));
  text += "  wgmma.fence.sync.aligned;\n";
  text +=
      fmt::format("  wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{}.{} {}}}, {}, %rd6, {}%go{};\n",
                  c.sparse ? ".sp" : "", c.n, c.k, c.d, c.a, c.b, d, a, c.sparse ? "%meta, 0, " : "", tail);
  text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  // The product of the four warps is complete when any of them has waited: the matrices may be overwritten.
  text += R"(
  mov.u32 %r2, %r1;
$CLEAR:
  shl.b32 %r3, %r2, 4;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  st.shared.v4.u32 [%r4], {0, 0, 0, 0};
  add.u32 %r2, %r2, 128;
  setp.lt.u32 %p, %r2, 4096;
  @%p bra $CLEAR;
)";
  text += fmt::format("  mul.wide.u32 %rd4, %r1, {};\n  add.u64 %rd2, %rd2, %rd4;\n", 4 * results);
  for (unsigned i = 0; i < results; ++i) text += fmt::format("  st.global.u32 [%rd2+{}], %x{};\n", 4 * i, i);
  return text + "  ret;\n}\n";
}

/// Element i of a thread's result, as the ISA's figure of .m64nNk16's D has it.
std::pair<unsigned, unsigned> result_place(unsigned thread, unsigned i) {
  return {thread / 32 * 16 + thread % 32 / 4 + (i % 4 >= 2 ? 8 : 0), i / 4 * 8 + thread % 4 * 2 + i % 2};
}

void check(const WarpgroupCase& c, std::mt19937& random) {
  INFO(c.a << ' ' << c.b << ' ' << c.d << " n" << c.n << " k" << c.k << " swizzles " << c.swizzle_a << ' '
           << c.swizzle_b << " across " << c.across_a << c.across_b << " registers " << c.a_registers
           << " sparse " << c.sparse);
  Matrix a = matrix(64, c.k, c.a, random), b = matrix(c.n, c.k, c.b, random), stored = a;
  std::vector<std::uint32_t> regs(128 * 8);
  if (c.sparse) {  // of each four the first and the last are stored, in odd rows the middle two
    stored = Matrix(64, std::vector<int>(c.k / 2));
    for (unsigned m = 0; m < 64; ++m)
      for (unsigned k = 0; k < c.k; ++k) {
        const bool there = (m % 2 == 0) == (k % 4 == 0 || k % 4 == 3);
        if (there) stored[m][k / 4 * 2 + (k % 4 >= 2)] = a[m][k];
        if (!there) a[m][k] = 0;
      }
    for (unsigned t = 0; t < 128; ++t) {  // f16: rows g and g + 8 are both even or both odd; 8 bits: one row
      const unsigned row = t % 32 / 4;
      regs[8 * t + 4] = (row % 2 == 0 ? 0b1100 : 0b1001) * 0x11111111u;
    }
  }
  const unsigned size = size_of(c.a), each = 4 / size;
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < 4 * each; ++i) {  // the ISA: rows g and g + 8 in turn, then the next columns
      const unsigned reg = i / each, row = t / 32 * 16 + t % 32 / 4 + reg % 2 * 8;
      const unsigned column = reg / 2 * 4 * each + t % 4 * each + i % each;
      regs[8 * t + reg] |= bits_of(c.a, stored[row][column]) << (8 * size * (i % each));
    }
  const Stored sa = store(stored, c.a, c.swizzle_a, c.across_a, 0),
               sb = store(b, c.b, c.swizzle_b, c.across_b, 16384);
  std::vector<std::uint8_t> image(65536);
  std::copy_n(sa.bytes.begin(), 16384, image.begin());
  std::copy(sb.bytes.begin(), sb.bytes.end(), image.begin() + 16384);
  const unsigned results = c.n / 2 / (c.d == "f16" ? 2 : 1);
  Device device(kernel_of(c, results));
  const Address in = device.array(image), extra = device.array(regs),
                out = device.zeros<std::uint32_t>(128 * results);
  device.run("run", {1, 1, 1}, {128, 1, 1},
             Arguments(in, sa.descriptor, sb.descriptor, extra, out, std::uint32_t{c.accumulates}));
  const auto got = device.read<std::uint32_t>(out, 128 * results);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < c.n / 2; ++i) {
      const auto [row, column] = result_place(t, i);
      int want = c.accumulates ? 3 : 0;
      for (unsigned k = 0; k < c.k; ++k) want += c.sign_a * c.sign_b * a[row][k] * b[column][k];
      const std::uint32_t word = got[t * results + i / (c.d == "f16" ? 2 : 1)];
      REQUIRE((c.d == "f16" ? word >> (16 * (i % 2)) & 0xffff : word) == bits_of(c.d, want));
    }
}

TEST_CASE("wgmma reads matrices in every swizzling mode and direction") {
  std::mt19937 random(1);
  for (const unsigned swizzle_a : {0u, 32u, 64u, 128u})
    for (const unsigned swizzle_b : {0u, 32u, 64u, 128u})
      for (const int across : {0, 1, 2, 3}) {
        WarpgroupCase c;
        c.swizzle_a = swizzle_a;
        c.swizzle_b = swizzle_b;
        c.across_a = (across & 1) != 0;
        c.across_b = (across & 2) != 0;
        check(c, random);
      }
}

TEST_CASE("wgmma of every type, from registers, with signs, without the sum before") {
  std::mt19937 random(2);
  const struct {
    const char *a, *b, *d;
    unsigned k;
  } types[] = {{"f16", "f16", "f32", 16},  {"f16", "f16", "f16", 16},   {"bf16", "bf16", "f32", 16},
               {"tf32", "tf32", "f32", 8}, {"e4m3", "e5m2", "f32", 32}, {"e5m2", "e5m2", "f16", 32},
               {"s8", "s8", "s32", 32},    {"u8", "s8", "s32", 32}};
  for (const auto& t : types)
    for (const bool registers : {false, true}) {
      WarpgroupCase c;
      c.a = t.a;
      c.b = t.b;
      c.d = t.d;
      c.k = t.k;
      c.n = registers ? 8 : 256;
      c.a_registers = registers;
      c.swizzle_b = 32;
      check(c, random);
      c.accumulates = false;
      c.n = 24;
      const bool integer = c.d == "s32";
      c.sign_a = integer ? 1 : -1;
      c.sign_b = registers && !integer ? -1 : 1;
      check(c, random);
    }
}

TEST_CASE("wgmma of a sparse matrix") {
  std::mt19937 random(3);
  for (const bool registers : {false, true})
    for (const char* type : {"f16", "s8"}) {
      WarpgroupCase c;
      c.a = c.b = type;
      c.d = c.a == "s8" ? "s32" : "f32";
      c.k = c.a == "s8" ? 64 : 32;
      c.sparse = true;
      c.a_registers = registers;
      c.swizzle_a = 32;
      c.swizzle_b = 64;
      check(c, random);
    }
}

TEST_CASE("wgmma of bits counts common ones") {
  // A and B all ones in the first 100 bits of 256: every element is 100.
  Device device(R"(
.visible .entry run(.param .u64 da, .param .u64 db, .param .u64 out) {
  .shared .align 1024 .b8 tile[4096];
  .reg .pred %p; .reg .b32 %r<12>, %x<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [da]; ld.param.u64 %rd2, [db]; ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 3;           // unit of 128 bits: rows of 16 bytes, units along k 1024 bytes apart
  mov.u32 %r3, 0xffffffff; mov.u32 %r4, 15; mov.u32 %r5, 0;
  mov.u32 %r6, tile; shl.b32 %r7, %r1, 4; add.u32 %r6, %r6, %r7;
  setp.lt.u32 %p, %r1, 64;
  @%p st.shared.v4.u32 [%r6], {%r3, %r3, %r3, %r4};
  @!%p st.shared.v4.u32 [%r6], {%r5, %r5, %r5, %r5};
  bar.sync 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%x0, %x1, %x2, %x3}, %rd1, %rd2, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd4, %r1, 16;
  add.u64 %rd3, %rd3, %rd4;
  st.global.v4.u32 [%rd3], {%x0, %x1, %x2, %x3};
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(512);
  const std::uint64_t descriptor = std::uint64_t{1024 >> 4} << 16 | std::uint64_t{128 >> 4} << 32;
  device.run("run", {1, 1, 1}, {128, 1, 1}, Arguments(descriptor, descriptor, out));
  CHECK(device.read<std::uint32_t>(out, 512) == std::vector<std::uint32_t>(512, 100));
  const std::uint64_t outside = 0x3fff | descriptor;
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {128, 1, 1}, Arguments(outside, descriptor, out)),
                  DeviceFault);
}

}  // namespace
}  // namespace lockstep::exec::test
