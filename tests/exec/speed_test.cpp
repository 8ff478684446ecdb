// How fast a compute kernel runs; hidden, for `perf stat -e instructions:u test_exec "[.speed]"`.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

// The inner loop of a matrix multiply from shared memory, as nvcc unrolls it.
std::string matrix_kernel() {
  std::string text = R"(
.visible .entry run(.param .u64 out, .param .u32 rounds) {
  .shared .align 4 .b8 a[4096];
  .shared .align 4 .b8 b[4096];
  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .b32 %f<40>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  shl.b32 %r4, %r2, 2;
  and.b32 %r5, %r4, 1020;
  mov.u32 %r6, a;
  add.u32 %r6, %r6, %r5;
  mov.u32 %r7, b;
  add.u32 %r7, %r7, %r5;
  mov.b32 %f1, %r2;
  st.shared.u32 [%r6], %f1;
  st.shared.u32 [%r7], %f1;
  mov.u32 %f2, 0;
  bar.sync 0;
$LOOP:
)";
  for (int i = 0; i < 8; ++i)
    text += fmt::format(
        "  ld.shared.u32 %f{0}, [%r6+{2}];\n  ld.shared.u32 %f{1}, [%r7+{2}];\n  mad.lo.u32 %f2, %f{0}, "
        "%f{1}, %f2;\n",
        3 + 2 * i, 4 + 2 * i, 4 * i);
  return text + R"(
  add.u32 %r1, %r1, -1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra $LOOP;
  mad.lo.u32 %r8, %r3, 256, %r2;
  mul.wide.u32 %rd2, %r8, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %f2;
  ret;
})";
}

TEST_CASE("speed of a compute kernel", "[.speed][slow]") {
  Device device(matrix_kernel());
  const Address out = device.zeros<float>(256 * 64);
  const auto begin = std::chrono::steady_clock::now();
  const RunCounts counts = device.run("run", {64, 1, 1}, {256, 1, 1}, Arguments(out, 1000u));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{} thread instructions, {:.1f} M/s\n", counts.thread_instructions,
             static_cast<double>(counts.thread_instructions) / seconds / 1e6);
  CHECK(counts.thread_instructions > 0);
}

}  // namespace
}  // namespace lockstep::exec::test
