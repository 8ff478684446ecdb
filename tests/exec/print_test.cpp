// vprintf.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr const char* kPrint = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[23] = {37, 100, 32, 37, 46, 49, 102, 32, 37, 108, 108, 117, 32, 37, 115, 32, 37, 99, 37, 37, 10, 0};
.global .align 1 .b8 word[3] = {104, 105, 0};
.visible .entry run() {
  .local .align 8 .b8 depot[40];
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f64 %d<3>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 33;
  and.b32 %r2, %r1, 31;
  setp.ne.and.u32 %p, %r2, 3, %p;
  @%p bra $END;
  neg.s32 %r3, %r1;
  st.local.u32 [depot], %r3;
  cvt.rn.f64.u32 %d1, %r1;
  st.local.f64 [depot+8], %d1;
  mov.u64 %rd1, 0xffffffffffffffff;
  st.local.u64 [depot+16], %rd1;
  mov.u64 %rd2, word;
  cvta.global.u64 %rd2, %rd2;
  st.local.u64 [depot+24], %rd2;
  mov.u32 %r4, 65;
  st.local.u32 [depot+32], %r4;
  mov.u64 %rd3, format;
  cvta.global.u64 %rd3, %rd3;
  mov.u64 %rd4, depot;
  cvta.local.u64 %rd4, %rd4;
  { .param .b64 p0; .param .b64 p1; .param .b32 r0;
    st.param.b64 [p0], %rd3;
    st.param.b64 [p1], %rd4;
    call.uni (r0), vprintf, (p0, p1);
    ld.param.b32 %r4, [r0]; }
$END:
  ret;
})";

TEST_CASE("vprintf prints in order of CTA and thread") {
  Device device(kPrint);
  std::string text;
  device.options.print = [&](std::string_view part) { text += part; };
  device.run("run", {2, 1, 1}, {64, 1, 1}, Arguments());
  const std::string one =
      "-3 3.0 18446744073709551615 hi A%\n-33 33.0 18446744073709551615 hi A%\n-35 35.0 18446744073709551615 "
      "hi A%\n";
  CHECK(text == one + one);
}

}  // namespace
}  // namespace lockstep::exec::test
