// Functions: recursion, pointers, stack, malloc, assertions.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

// Every lane asks for another number, so the recursion divides the warp.
constexpr const char* kFibonacci = R"(
.func (.param .b32 result) fibonacci(.param .b32 n) {
  .reg .pred %p; .reg .b32 %r<6>;
  ld.param.b32 %r1, [n];
  setp.lt.u32 %p, %r1, 2;
  @!%p bra $RECURSE;
  st.param.b32 [result], %r1;
  ret;
$RECURSE:
  sub.u32 %r2, %r1, 1;
  {
    .param .b32 p0;
    .param .b32 r0;
    st.param.b32 [p0], %r2;
    call.uni (r0), fibonacci, (p0);
    ld.param.b32 %r3, [r0];
  }
  sub.u32 %r2, %r1, 2;
  {
    .param .b32 p0;
    .param .b32 r0;
    st.param.b32 [p0], %r2;
    call.uni (r0), fibonacci, (p0);
    ld.param.b32 %r4, [r0];
  }
  add.u32 %r5, %r3, %r4;
  st.param.b32 [result], %r5;
  ret;
}
.visible .entry run(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 2;
  {
    .param .b32 p0;
    .param .b32 r0;
    st.param.b32 [p0], %r2;
    call (r0), fibonacci, (p0);
    ld.param.b32 %r3, [r0];
  }
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r3;
  ret;
})";

TEST_CASE("recursion") {
  Device device(kFibonacci);
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("run", {1, 1, 1}, {64, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 64);
  std::uint32_t a = 0, b = 1;
  for (std::uint32_t i = 0; i < 16; ++i) {
    for (std::uint32_t j = 0; j < 4; ++j) CHECK(values[4 * i + j] == a);
    b += a;
    a = b - a;
  }
}

constexpr const char* kPointers = R"(
.func (.reg .b32 r) twice(.reg .b32 x) { add.u32 r, x, x; ret; }
.func (.reg .b32 r) square(.reg .b32 x) { mul.lo.u32 r, x, x; ret; }
.func (.reg .b32 r) zero(.reg .b32 x) { mov.u32 r, 0; ret; }
.global .u64 table[3] = {twice, square, zero};
.visible .entry run(.param .u64 out) {
  .reg .b32 %r<5>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  rem.u32 %r2, %r1, 3;
  mul.wide.u32 %rd2, %r2, 8;
  mov.u64 %rd3, table;
  add.u64 %rd3, %rd3, %rd2;
  ld.global.u64 %rd4, [%rd3];
  proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
  call (%r3), %rd4, (%r1), proto;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r3;
  ret;
})";

TEST_CASE("function pointers that differ between lanes") {
  Device device(kPointers);
  const Address out = device.zeros<std::uint32_t>(70);
  device.run("run", {1, 1, 1}, {70, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 70);
  for (std::uint32_t i = 0; i < 70; ++i) CHECK(values[i] == (i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : 0));
}

TEST_CASE("endless recursion uses up the stack") {
  Device device(R"(
.func forever() { call.uni forever; ret; }
.visible .entry run() { call.uni forever; ret; })");
  try {
    device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments());
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kStackOverflow);
  }
}

// A local array of a function, addressed through a generic pointer.
constexpr const char* kLocalArray = R"(
.func (.param .b32 result) sum(.param .b32 start) {
  .local .align 4 .b8 depot[32];
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<6>;
  ld.param.b32 %r1, [start];
  mov.u64 %rd1, depot;
  cvta.local.u64 %rd2, %rd1;
  mov.u32 %r2, 0;
$FILL:
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  add.u32 %r3, %r1, %r2;
  st.u32 [%rd4], %r3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, 8;
  @%p bra $FILL;
  ld.local.u32 %r4, [depot];
  ld.local.u32 %r5, [depot+28];
  add.u32 %r4, %r4, %r5;
  st.param.b32 [result+0], %r4;
  ret;
}
.visible .entry run(.param .u64 out) {
  .local .align 4 .b8 mine[8];
  .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  st.local.u32 [mine+4], %r1;
  { .param .b32 p0; .param .b32 r0;
    st.param.b32 [p0+0], %r1;
    call.uni (r0), sum, (p0);
    ld.param.b32 %r2, [r0+0]; }
  ld.local.u32 %r3, [mine+4];
  add.u32 %r2, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r2;
  ret;
})";

/// What the refusal of a kernel says that calls a function.
std::string refusal_of_call(const std::string& call) {
  Device device(
      ".func (.reg .b32 r) one(.reg .b32 x) { mov.b32 r, x; ret; }\n"
      ".func (.reg .b128 r) wide(.reg .b128 x) { mov.b128 r, x; ret; }\n"
      ".visible .entry run() { .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .b128 %q<3>; .param .b32 p; " +
      call + " ret; }");
  try {
    device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments());
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("operands that a call cannot take are refused") {
  CHECK(refusal_of_call("call (%r1), one, (%r2);") == "none");
  CHECK(refusal_of_call("call (_), one, (5);") == "none");
  CHECK(refusal_of_call("call (p), one, (p);") == "none");
  CHECK_THAT(refusal_of_call("call (1000000), one, (%r2);"),
             Catch::Contains("a result is expected to go to"));
  CHECK_THAT(refusal_of_call("call (one), one, (%r2);"), Catch::Contains("a result is expected to go to"));
  CHECK_THAT(refusal_of_call("call (%tid.x), one, (%r2);"), Catch::Contains("a result is expected to go to"));
  CHECK_THAT(refusal_of_call("call (p+4096), one, (%r2);"), Catch::Contains("without an offset"));
  CHECK_THAT(refusal_of_call("call (%r1), one, (p+4096);"), Catch::Contains("without an offset"));
  CHECK_THAT(refusal_of_call("call (%r1), one, (_);"), Catch::Contains("not a value"));
  CHECK_THAT(refusal_of_call("call (%r1), one, (%q1);"), Catch::Contains("more than 64 bits"));
  CHECK_THAT(refusal_of_call("call (%q0), wide, (%q1);"), Catch::Contains("more than 64 bits"));
}

TEST_CASE("local memory of frames") {
  Device device(kLocalArray);
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("run", {1, 1, 1}, {64, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(values[i] == 2 * i + 7 + i);
}

constexpr const char* kHeap = R"(
.extern .func (.param .b64 r) malloc(.param .b64 bytes);
.extern .func free(.param .b64 at);
.visible .entry run(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u64 %rd2, 64;
  { .param .b64 p0; .param .b64 r0;
    st.param.b64 [p0], %rd2;
    call.uni (r0), malloc, (p0);
    ld.param.b64 %rd3, [r0]; }
  st.u32 [%rd3+60], %r1;
  mul.wide.u32 %rd4, %r1, 8;
  add.u64 %rd4, %rd1, %rd4;
  st.global.u64 [%rd4], %rd3;
  ld.u32 %r2, [%rd3+60];
  setp.ne.u32 %p, %r2, %r1;
  @%p trap;
  { .param .b64 p0;
    st.param.b64 [p0], %rd3;
    call.uni free, (p0); }
  ret;
})";

TEST_CASE("malloc and free in a kernel") {
  Device device(kHeap);
  const Address out = device.zeros<std::uint64_t>(32);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  const auto pointers = device.read<std::uint64_t>(out, 32);
  for (std::uint32_t i = 1; i < 32; ++i) CHECK(pointers[i] >= pointers[i - 1] + 64);
  CHECK(device.memory.allocations().size() == 1);
}

TEST_CASE("a failed assertion says what and where") {
  Device device(R"(
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);
.global .align 1 .b8 message[4] = {120, 62, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.visible .entry run() {
  .reg .b64 %rd<4>; .reg .b32 %r<2>;
  mov.u64 %rd1, message;
  mov.u64 %rd2, file;
  mov.u32 %r1, 12;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], %r1;
    st.param.b64 [p3], %rd1; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
  ret;
})");
  try {
    device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments());
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kAssert);
    CHECK(std::string(fault.what()).find("a.cu:12: x>0: `x>0`") != std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::exec::test
