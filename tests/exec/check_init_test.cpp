// --check init: reads of memory that nothing has written.
#include <catch2/catch.hpp>

#include "tests/exec/checked_device.hpp"

namespace lockstep::exec::test {
namespace {

// Thread x adds x to in[x]; copies in[x] to shared memory and reads it there; reads shared memory, which it
// has written before where `writes`; adds to in[0].
constexpr const char* kReads = R"(
.visible .entry add(.param .u64 in) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];  // READ
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry stage(.param .u64 in) {
  .shared .align 16 .b8 cells[512];
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, cells;
  add.u32 %r3, %r3, %r2;
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.wait_all;
  ld.shared.u32 %r2, [%r3];  // STAGED
  ret;
}
.visible .entry shared_reads(.param .u32 writes) {
  .shared .align 16 .b8 cells[512];
  .reg .pred %p; .reg .b32 %r<6>;
  ld.param.u32 %r1, [writes];
  mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, cells;
  add.u32 %r4, %r4, %r3;
  setp.lt.u32 %p, %r2, %r1;
  @%p st.shared.u32 [%r4], %r2;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];  // SHARED
  ret;
}
.visible .entry count(.param .u64 in) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  red.global.add.u32 [%rd1], 1;  // COUNT
  ret;
})";

TEST_CASE("check init: global memory counts as written byte by byte") {
  CheckedDevice device(kReads, "init");
  const Address in = device.raw(64 * 4);
  device.memory.wrote(in, 64);  // a memset whose size lacks a factor of 4
  device.run("add", {1, 1, 1}, {64, 1, 1}, Arguments(in));
  REQUIRE(device.findings().size() == 1);
  const Finding& f = device.findings().front();
  CHECK(f.kind == FindingKind::kUninitialised);
  CHECK(f.access == "read");
  CHECK(f.address == in + 64);
  CHECK(f.site.line == device.line_of("// READ"));
  CHECK(f.site.thread == Dim3{16, 0, 0});
  CHECK(f.count == 48);
  device.run("add", {1, 1, 1}, {64, 1, 1}, Arguments(in));  // it has written all of it
  CHECK(device.checker.findings().errors() == 48);

  const Address partly = device.raw(4);
  device.memory.wrote(partly, 3);
  device.run("add", {1, 1, 1}, {1, 1, 1}, Arguments(partly));
  CHECK(device.checker.findings().errors() == 49);
}

TEST_CASE("check init: copies are as written as where they come from; freed memory is forgotten") {
  CheckedDevice device(kReads, "init");
  const Address from = device.raw(256), to = device.raw(256);
  device.memory.wrote(from, 100);
  device.memory.copied(to, from, 256);
  device.run("add", {1, 1, 1}, {25, 1, 1}, Arguments(to));
  CHECK(device.findings().empty());
  device.run("add", {1, 1, 1}, {26, 1, 1}, Arguments(to));
  CHECK(device.checker.findings().errors() == 1);
  device.memory.copied(to, reinterpret_cast<Address>(&device), 256);  // from the host
  device.run("add", {1, 1, 1}, {64, 1, 1}, Arguments(to));
  CHECK(device.checker.findings().errors() == 1);
  device.memory.release(to);
  CHECK(device.raw(256) == to);
  device.run("add", {1, 1, 1}, {1, 1, 1}, Arguments(to));
  CHECK(device.checker.findings().errors() == 2);
  const Address managed = *device.memory.allocate(256, MemoryKind::kManaged);  // the host writes unseen
  device.run("add", {1, 1, 1}, {64, 1, 1}, Arguments(managed));
  CHECK(device.checker.findings().errors() == 2);
}

TEST_CASE("check init: an asynchronous copy of unwritten bytes is reported where they are read") {
  CheckedDevice device(kReads, "init");
  const Address in = device.raw(64 * 4);
  device.memory.wrote(in, 60 * 4);
  device.run("stage", {1, 1, 1}, {60, 1, 1}, Arguments(in));
  CHECK(device.findings().empty());
  device.run("stage", {1, 1, 1}, {64, 1, 1}, Arguments(in));
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].space == "shared");
  CHECK(device.findings()[0].site.line == device.line_of("// STAGED"));
  CHECK(device.findings()[0].site.thread == Dim3{60, 0, 0});
  CHECK(device.findings()[0].count == 4);
}

TEST_CASE("check init: shared memory is unwritten when a CTA begins, atomics read") {
  CheckedDevice device(kReads, "init");
  device.run("shared_reads", {3, 1, 1}, {64, 1, 1}, Arguments(64u));
  CHECK(device.findings().empty());
  device.run("shared_reads", {3, 1, 1}, {64, 1, 1}, Arguments(63u));
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].site.line == device.line_of("// SHARED"));
  CHECK(device.findings()[0].site.thread == Dim3{63, 0, 0});
  CHECK(device.findings()[0].count == 3);
  device.run("count", {1, 1, 1}, {32, 1, 1}, Arguments(device.zeros<int>(1)));
  CHECK(device.findings().size() == 1);
  device.run("count", {1, 1, 1}, {32, 1, 1}, Arguments(device.raw(4)));
  REQUIRE(device.findings().size() == 2);
  CHECK(device.findings()[1].access == "atomic");
  CHECK(device.findings()[1].count == 1);  // then it is written
}

}  // namespace
}  // namespace lockstep::exec::test
