// --check memory and init on copies, matrix moves and mbarriers: the place and the side that is wrong.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/exec/checked_device.hpp"

namespace lockstep::exec::test {
namespace {

// Each thread copies 16 bytes from in + 16 tid, or `size` of them.
constexpr const char* kAsync = R"(
.visible .entry run(.param .u64 in, .param .u32 size) {
  .shared .align 16 .b8 tile[512];
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in]; ld.param.u32 %r4, [size];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 4;
  add.u32 %r2, %r2, %r3;
  cp.async.cg.shared.global [%r2], [%rd1], 16, %r4;  // COPY
  cp.async.wait_all;
  ret;
})";

TEST_CASE("check copies: cp.async reads only the bytes that its size operand says") {
  CheckedDevice device(kAsync, "memory");
  const Address in = device.raw(100);
  device.run("run", {1, 1, 1}, {6, 1, 1}, Arguments(in, 16u));
  device.run("run", {1, 1, 1}, {7, 1, 1}, Arguments(in, 4u));  // 96 + 4
  CHECK(device.findings().empty());
  device.run("run", {1, 1, 1}, {7, 1, 1}, Arguments(in, 16u));
  REQUIRE(device.findings().size() == 1);
  const Finding& f = device.findings().front();
  CHECK(f.kind == FindingKind::kOutOfBounds);
  CHECK(f.access == "read");
  CHECK(f.space == "global");
  CHECK(f.address == in + 96);
  CHECK(f.site.line == device.line_of("// COPY"));
  CHECK(f.site.thread == Dim3{6, 0, 0});
}

TEST_CASE("check copies: cp.async writes all of its bytes, also those that it fills with zeros") {
  CheckedDevice device(kAsync, "memory");
  const Address in = device.raw(16 * 64);
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {33, 1, 1}, Arguments(in, 0u)), DeviceFault);
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].access == "write");
  CHECK(device.findings()[0].space == "shared");
  CHECK(device.findings()[0].address == 512);
  CHECK(device.findings()[0].site.thread == Dim3{32, 0, 0});
}

// One thread copies `bytes` from global to shared memory and the same back to `out`.
constexpr const char* kBulk = R"(
.visible .entry run(.param .u64 in, .param .u64 out, .param .u32 bytes) {
  .shared .align 16 .b8 tile[256];
  .shared .align 8 .b64 full;
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r3, [bytes];
  mov.u32 %r1, full; mov.u32 %r2, tile;
  mbarrier.init.shared.b64 [%r1], 1;
  mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r1], %r3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], %r3, [%r1];  // IN
$WAIT:
  mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0;
  @!%p bra $WAIT;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], %r3;  // OUT
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
})";

TEST_CASE("check copies: a bulk copy may go to the last byte of either side, and one block more is found") {
  CheckedDevice device(kBulk, "memory");
  const Address exact = device.raw(128), large = device.raw(1024);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(exact, large, 128u));
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(large, exact, 128u));
  CHECK(device.findings().empty());
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(exact, large, 160u));
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].access == "read");
  CHECK(device.findings()[0].address == exact + 128);
  CHECK(device.findings()[0].count == 2);  // blocks of 16 bytes
  CHECK(device.findings()[0].site.line == device.line_of("// IN"));
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(large, exact, 144u));
  REQUIRE(device.findings().size() == 2);
  CHECK(device.findings()[1].access == "write");
  CHECK(device.findings()[1].address == exact + 128);
  CHECK(device.findings()[1].site.line == device.line_of("// OUT"));
}

TEST_CASE("check init: a bulk copy hands on what is unwritten, which is reported where it is read") {
  const std::string read = R"(
.visible .entry look(.param .u64 in) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];  // LOOK
  ret;
})";
  CheckedDevice device(kBulk + read, "init");
  const Address in = device.raw(128), out = device.raw(128);
  device.memory.wrote(in, 80);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(in, out, 128u));
  CHECK(device.findings().empty());
  device.run("look", {1, 1, 1}, {20, 1, 1}, Arguments(out));
  CHECK(device.findings().empty());
  device.run("look", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].kind == FindingKind::kUninitialised);
  CHECK(device.findings()[0].address == out + 80);
  CHECK(device.findings()[0].count == 12);
  CHECK(device.findings()[0].site.line == device.line_of("// LOOK"));
}

// ldmatrix of one matrix: lanes 0 to 7 give its rows, the others' addresses do not count.
TEST_CASE("check copies: ldmatrix reads the rows of as many lanes as its matrices have") {
  for (const unsigned matrices : {1u, 2u, 4u}) {
    const std::string registers = matrices == 1   ? "{%r4}"
                                  : matrices == 2 ? "{%r4, %r5}"
                                                  : "{%r4, %r5, %r6, %r7}";
    CheckedDevice device(fmt::format(R"(
.visible .entry run(.param .u32 first) {{
  .shared .align 16 .b8 tile[512];
  .reg .b32 %r<12>;
  ld.param.u32 %r8, [first];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 4;
  add.u32 %r2, %r2, %r8;
  mov.u32 %r3, tile;
  add.u32 %r3, %r3, %r2;
  ldmatrix.sync.aligned.m8n8.x{}.shared.b16 {}, [%r3];  // ROWS
  ret;
}})",
                                     matrices, registers),
                         "memory");
    const std::uint32_t last = 512 - 128 * matrices;  // from here on the rows just fit
    device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(last));
    CHECK(device.findings().empty());
    CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(last + 32)), DeviceFault);
    REQUIRE(device.findings().size() == 1);
    CHECK(device.findings()[0].count == 2);
    CHECK(device.findings()[0].bytes == 16);
    CHECK(device.findings()[0].address == 512);
    CHECK(device.findings()[0].site.thread == Dim3{8 * matrices - 2, 0, 0});
    CHECK(device.findings()[0].site.line == device.line_of("// ROWS"));
  }
}

TEST_CASE("check copies: an mbarrier is 8 bytes of shared memory, and is written by its init") {
  CheckedDevice device(R"(
.visible .entry run(.param .u32 at, .param .u32 init) {
  .shared .align 8 .b8 place[64];
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u32 %r1, [at]; ld.param.u32 %r2, [init];
  mov.u32 %r3, place;
  add.u32 %r1, %r1, %r3;
  setp.eq.u32 %p, %r2, 0;
  @%p bra $ARRIVE;
  mbarrier.init.shared.b64 [%r1], 2;  // INIT
$ARRIVE:
  mbarrier.arrive.shared.b64 %rd1, [%r1];  // ARRIVE
  ret;
})",
                       "memory,init");
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(56u, 1u));
  CHECK(device.findings().empty());
  try {
    device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(48u, 0u));  // what it is then is undefined
  } catch (const DeviceFault&) {
  }
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].kind == FindingKind::kUninitialised);
  CHECK(device.findings()[0].address == 48);
  CHECK(device.findings()[0].site.line == device.line_of("// ARRIVE"));
}

}  // namespace
}  // namespace lockstep::exec::test
