// Whole kernels with results in closed form.
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr const char* kVectorAdd = R"(
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p bra $DONE;
  cvta.to.global.u64 %rd4, %rd1;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  add.s64 %rd6, %rd2, %rd5;
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  add.s64 %rd6, %rd3, %rd5;
  st.global.f32 [%rd6], %f3;
$DONE:
  ret;
})";

TEST_CASE("vector add") {
  Device device(kVectorAdd);
  const std::uint32_t n = 1000;
  std::vector<float> a(n), b(n);
  for (std::uint32_t i = 0; i < n; ++i) a[i] = static_cast<float>(i), b[i] = static_cast<float>(2 * i);
  const Address da = device.array(a), db = device.array(b), dc = device.zeros<float>(n + 24);
  const RunCounts counts = device.run("add", {4, 1, 1}, {256, 1, 1}, Arguments(da, db, dc, n));
  const auto c = device.read<float>(dc, n + 24);
  for (std::uint32_t i = 0; i < n; ++i) REQUIRE(c[i] == static_cast<float>(3 * i));
  for (std::uint32_t i = n; i < n + 24; ++i) REQUIRE(c[i] == 0);
  // 9 instructions of all threads, the branch of those it takes, 9 of the others, `ret` of all.
  CHECK(counts.thread_instructions == 1024 * 9 + 24 + 1000 * 9 + 1024);
}

constexpr const char* kReduce = R"(
.visible .entry reduce(.param .u64 in, .param .u64 out) {
  .shared .align 4 .b8 part[1024];
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r2, 8;
  add.s32 %r4, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];
  mov.u32 %r6, part;
  shl.b32 %r7, %r1, 2;
  add.s32 %r6, %r6, %r7;
  st.shared.u32 [%r6], %r5;
  bar.sync 0;
  mov.u32 %r8, 128;
$LOOP:
  setp.ge.u32 %p1, %r1, %r8;
  @%p1 bra $SKIP;
  shl.b32 %r9, %r8, 2;
  add.s32 %r9, %r6, %r9;
  ld.shared.u32 %r10, [%r9];
  ld.shared.u32 %r11, [%r6];
  add.s32 %r10, %r10, %r11;
  st.shared.u32 [%r6], %r10;
$SKIP:
  bar.sync 0;
  shr.u32 %r8, %r8, 1;
  setp.ne.u32 %p2, %r8, 0;
  @%p2 bra $LOOP;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $END;
  ld.shared.u32 %r5, [part];
  red.global.add.u32 [%rd2], %r5;
$END:
  ret;
})";

TEST_CASE("reduction in shared memory, then by atomics") {
  Device device(kReduce);
  std::vector<std::uint32_t> in(256 * 7);
  std::iota(in.begin(), in.end(), 1);
  const Address din = device.array(in), out = device.zeros<std::uint32_t>(1);
  device.run("reduce", {7, 1, 1}, {256, 1, 1}, Arguments(din, out));
  CHECK(device.read<std::uint32_t>(out, 1)[0] == in.size() * (in.size() + 1) / 2);
}

constexpr const char* kHistogram = R"(
.extern .shared .align 4 .b8 counts[];
.visible .entry histogram(.param .u64 data, .param .u64 bins, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<10>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [bins];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, counts;
  shl.b32 %r4, %r2, 2;
  add.u32 %r4, %r3, %r4;
  mov.u32 %r5, 0;
  setp.ge.u32 %p, %r2, 16;
  @!%p st.shared.u32 [%r4], %r5;
  bar.sync 0;
  mov.u32 %r6, %ctaid.x;
  mov.u32 %r7, %ntid.x;
  mad.lo.u32 %r6, %r6, %r7, %r2;
  mov.u32 %r8, %nctaid.x;
  mul.lo.u32 %r7, %r7, %r8;
$LOOP:
  setp.ge.u32 %p, %r6, %r1;
  @%p bra $OUT;
  mul.wide.u32 %rd3, %r6, 1;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u8 %r9, [%rd4];
  shl.b32 %r9, %r9, 2;
  add.u32 %r9, %r3, %r9;
  atom.shared.add.u32 %r9, [%r9], 1;
  add.u32 %r6, %r6, %r7;
  bra $LOOP;
$OUT:
  bar.sync 0;
  setp.ge.u32 %p, %r2, 16;
  @%p bra $END;
  ld.shared.u32 %r9, [%r4];
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  red.global.add.u32 [%rd4], %r9;
$END:
  ret;
})";

TEST_CASE("histogram with atomics in dynamic shared memory") {
  Device device(kHistogram);
  const std::uint32_t n = 4000;
  std::vector<std::uint8_t> data(n);
  std::vector<std::uint32_t> expected(16);
  for (std::uint32_t i = 0; i < n; ++i) ++expected[data[i] = static_cast<std::uint8_t>(i * i % 16)];
  const Address in = device.array(data), bins = device.zeros<std::uint32_t>(16);
  device.run("histogram", {3, 1, 1}, {96, 1, 1}, Arguments(in, bins, n), 64);
  CHECK(device.read<std::uint32_t>(bins, 16) == expected);
}

constexpr const char* kMatrix = R"(
.visible .entry matmul(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .shared .align 4 .f32 sa[256];
  .shared .align 4 .f32 sb[256];
  .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %tid.y;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  shl.b32 %r6, %r5, 4;
  add.u32 %r6, %r6, %r3;      // row
  shl.b32 %r7, %r4, 4;
  add.u32 %r7, %r7, %r2;      // column
  mov.f32 %f1, 0f00000000;
  shl.b32 %r8, %r3, 4;
  add.u32 %r8, %r8, %r2;
  shl.b32 %r8, %r8, 2;        // place in a tile
  mov.u32 %r9, 0;             // tile
$TILE:
  mad.lo.u32 %r10, %r6, %r1, %r9;
  add.u32 %r10, %r10, %r2;
  mul.wide.u32 %rd4, %r10, 4;
  add.u64 %rd5, %rd1, %rd4;
  ld.global.f32 %f2, [%rd5];
  mov.u32 %r11, sa;
  add.u32 %r11, %r11, %r8;
  st.shared.f32 [%r11], %f2;
  add.u32 %r12, %r9, %r3;
  mad.lo.u32 %r12, %r12, %r1, %r7;
  mul.wide.u32 %rd4, %r12, 4;
  add.u64 %rd5, %rd2, %rd4;
  ld.global.f32 %f2, [%rd5];
  mov.u32 %r11, sb;
  add.u32 %r11, %r11, %r8;
  st.shared.f32 [%r11], %f2;
  bar.sync 0;
  mov.u32 %r13, 0;
$INNER:
  shl.b32 %r14, %r3, 6;
  shl.b32 %r15, %r13, 2;
  add.u32 %r14, %r14, %r15;
  mov.u32 %r16, sa;
  add.u32 %r14, %r14, %r16;
  ld.shared.f32 %f2, [%r14];
  shl.b32 %r15, %r13, 6;
  shl.b32 %r17, %r2, 2;
  add.u32 %r15, %r15, %r17;
  mov.u32 %r16, sb;
  add.u32 %r15, %r15, %r16;
  ld.shared.f32 %f3, [%r15];
  fma.rn.f32 %f1, %f2, %f3, %f1;
  add.u32 %r13, %r13, 1;
  setp.lt.u32 %p, %r13, 16;
  @%p bra $INNER;
  bar.sync 0;
  add.u32 %r9, %r9, 16;
  setp.lt.u32 %p, %r9, %r1;
  @%p bra $TILE;
  mad.lo.u32 %r10, %r6, %r1, %r7;
  mul.wide.u32 %rd4, %r10, 4;
  add.u64 %rd5, %rd3, %rd4;
  st.global.f32 [%rd5], %f1;
  ret;
})";

TEST_CASE("tiled matrix multiply") {
  Device device(kMatrix);
  const std::uint32_t n = 48;
  std::vector<float> a(n * n), b(n * n);
  for (std::uint32_t i = 0; i < n * n; ++i)
    a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
  const Address da = device.array(a), db = device.array(b), dc = device.zeros<float>(n * n);
  device.run("matmul", {3, 3, 1}, {16, 16, 1}, Arguments(da, db, dc, n));
  const auto c = device.read<float>(dc, n * n);
  for (std::uint32_t y = 0; y < n; ++y)
    for (std::uint32_t x = 0; x < n; ++x) {
      int expected = 0;
      for (std::uint32_t k = 0; k < n; ++k) expected += static_cast<int>((y * n + k) % 7 * ((k * n + x) % 5));
      REQUIRE(c[y * n + x] == static_cast<float>(expected));
    }
}

TEST_CASE("a launch with bad geometry or parameters is refused") {
  Device device(kVectorAdd);
  const Arguments good(Address{0}, Address{0}, Address{0}, std::uint32_t{0});
  CHECK_THROWS_AS(device.run("add", {0, 1, 1}, {1, 1, 1}, good), UserError);
  CHECK_THROWS_AS(device.run("add", {1, 65536, 1}, {1, 1, 1}, good), UserError);
  CHECK_THROWS_AS(device.run("add", {1, 1, 1}, {1025, 1, 1}, good), UserError);
  CHECK_THROWS_AS(device.run("add", {1, 1, 1}, {1, 1, 65}, good), UserError);
  CHECK_THROWS_AS(device.run("add", {1, 1, 1}, {1, 1, 1}, Arguments(1)), UserError);
  CHECK_THROWS_AS(device.run("add", {1, 1, 1}, {1, 1, 1}, good, 300 * 1024), UserError);
  CHECK_NOTHROW(device.run("add", {1, 1, 1}, {1, 1, 1}, good));
}

}  // namespace
}  // namespace lockstep::exec::test
