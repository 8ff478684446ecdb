// Special registers against their definitions (PTX ISA, "Special Registers").
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

/// A kernel whose thread number t of the grid writes `count` 64-bit values to out[t * count].
std::string dump_registers(const std::vector<std::string>& registers, bool wide) {
  std::string text =
      ".visible .entry run(.param .u64 out) {\n"
      "  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
      "  ld.param.u64 %rd1, [out];\n"
      "  mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r1, %r2, "
      "%r3;\n"
      "  mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
      "  mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n";
  text += fmt::format("  mul.wide.u32 %rd2, %r1, {}; add.u64 %rd1, %rd1, %rd2;\n", 8 * registers.size());
  for (std::size_t i = 0; i < registers.size(); ++i) {
    if (wide)
      text += fmt::format("  mov.u64 %rd3, {};\n", registers[i]);
    else
      text += fmt::format("  mov.u32 %r4, {}; cvt.u64.u32 %rd3, %r4;\n", registers[i]);
    text += fmt::format("  st.global.u64 [%rd1+{}], %rd3;\n", 8 * i);
  }
  return text + "  ret;\n}\n";
}

using Values = std::vector<std::uint64_t>;

Values run_registers(Device& device, std::size_t count, Dim3 grid, Dim3 block, std::uint32_t dynamic = 0) {
  const std::size_t all = count * grid.count() * block.count();
  const Address out = device.zeros<std::uint64_t>(all);
  device.run("run", grid, block, Arguments(out), dynamic);
  return device.read<std::uint64_t>(out, all);
}

TEST_CASE("special registers: masks of the lanes equal to, below and above one's own") {
  Device device(dump_registers(
      {"%laneid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"}, false));
  const Values v = run_registers(device, 6, {1, 1, 1}, {64, 1, 1});
  for (std::uint64_t t = 0; t < 64; ++t) {
    const std::uint64_t lane = t % 32;
    std::uint64_t masks[5] = {};
    for (std::uint64_t other = 0; other < 32; ++other) {
      const std::uint64_t bit = std::uint64_t{1} << other;
      if (other == lane) masks[0] |= bit;
      if (other < lane) masks[1] |= bit;
      if (other <= lane) masks[2] |= bit;
      if (other > lane) masks[3] |= bit;
      if (other >= lane) masks[4] |= bit;
    }
    CHECK(v[6 * t] == lane);
    for (std::uint64_t m = 0; m < 5; ++m) CHECK(v[6 * t + 1 + m] == masks[m]);
  }
}

TEST_CASE("special registers: warps of a CTA, and what the launch says of its size") {
  Device device(dump_registers({"%warpid", "%nwarpid", "%smid", "%nsmid", "%dynamic_smem_size", "%envreg2",
                                "%pm3", "%ntid.w", "%ctaid.w"},
                               false));
  device.options.sm_count = 3;
  const Values v = run_registers(device, 9, {5, 1, 1}, {80, 1, 1}, 96);
  for (std::uint64_t t = 0; t < 400; ++t) {
    const std::uint64_t* const of = &v[9 * t];
    CHECK(of[0] == t % 80 / 32);
    CHECK(of[1] == 3);
    CHECK(of[2] == t / 80 % 3);
    CHECK(of[3] == 3);
    CHECK(of[4] == 96);
    CHECK(of[6] == 0);
    CHECK((of[7] == 0 && of[8] == 0));
  }
}

TEST_CASE("special registers: a CTA's place in its cluster and the cluster's in the grid") {
  Device device(dump_registers(
      {"%clusterid.x", "%clusterid.y", "%clusterid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
       "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y",
       "%cluster_nctaid.z", "%cluster_ctarank", "%cluster_nctarank"},
      false));
  device.cluster = {2, 3, 1};
  const Dim3 grid{4, 6, 2};
  const Values v = run_registers(device, 14, grid, {1, 1, 1});
  std::size_t cta = 0;
  for (std::uint64_t z = 0; z < 2; ++z)
    for (std::uint64_t y = 0; y < 6; ++y)
      for (std::uint64_t x = 0; x < 4; ++x, ++cta) {
        const Values expected{x / 2, y / 3, z, 2, 2, 2, x % 2, y % 3, 0, 2, 3, 1, x % 2 + 2 * (y % 3), 6};
        CHECK(Values(v.begin() + static_cast<std::ptrdiff_t>(14 * cta),
                     v.begin() + static_cast<std::ptrdiff_t>(14 * cta + 14)) == expected);
      }
}

TEST_CASE("special registers: without clusters each CTA is one, which is not an explicit cluster") {
  const std::string kernel = R"(
.visible .entry run(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.pred %p, %is_explicit_cluster;
  selp.u32 %r1, 1, 0, %p;
  mov.u32 %r2, %cluster_nctarank;
  mov.u32 %r3, %nclusterid.x;
  st.global.v2.u32 [%rd1], {%r1, %r2};
  st.global.u32 [%rd1+8], %r3;
  ret;
})";
  for (const std::uint32_t size : {1u, 2u}) {
    Device device(kernel);
    device.cluster = {size, 1, 1};
    const Address out = device.zeros<std::uint32_t>(3);
    device.run("run", {4, 1, 1}, {1, 1, 1}, Arguments(out));
    CHECK(device.read<std::uint32_t>(out, 3) == std::vector<std::uint32_t>{size - 1, size, 4 / size});
  }
}

TEST_CASE("special registers: halves of the clocks are those of the whole, from the source that is given") {
  Device device(dump_registers({"%clock64", "%globaltimer"}, true) + R"(
.visible .entry halves(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %clock; mov.u32 %r2, %clock_hi; mov.u32 %r3, %globaltimer_lo; mov.u32 %r4, %globaltimer_hi;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
  ret;
})");
  struct Reads {
    std::vector<std::uint64_t> cycles;  // number of the read by the warp
  } reads;
  device.options.clock.context = &reads;
  device.options.clock.cycle = [](void* context, std::uint64_t cta, std::uint32_t warp, std::uint64_t read) {
    static_cast<Reads*>(context)->cycles.push_back(read);
    return (std::uint64_t{7} << 32) + 1000 * cta + 100 * warp + read;
  };
  device.options.clock.nanosecond = [](void*, std::uint64_t cta, std::uint32_t, std::uint64_t read) {
    return (std::uint64_t{9} << 32) + 50 * cta + read;
  };
  const Values v = run_registers(device, 2, {2, 1, 1}, {64, 1, 1});
  for (std::uint64_t t = 0; t < 128; ++t) {
    CHECK(v[2 * t] == (std::uint64_t{7} << 32) + 1000 * (t / 64) + 100 * (t % 64 / 32));
    CHECK(v[2 * t + 1] == (std::uint64_t{9} << 32) + 50 * (t / 64) + 1);  // its second read of a clock
  }
  const Address out = device.zeros<std::uint32_t>(4);
  device.run("halves", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  CHECK(device.read<std::uint32_t>(out, 4) == std::vector<std::uint32_t>{0, 7, 2, 9});
}

TEST_CASE(
    "special registers: without a source, a wait by the clock ends after few rounds however long it is") {
  // A billion cycles; counted by instructions that would be 200 million rounds.
  Device device(R"(
.visible .entry run(.param .u64 out) {
  .reg .pred %p; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %clock64;
  mov.u64 %rd5, 0;
$WAIT:
  mov.u64 %rd3, %clock64;
  sub.u64 %rd4, %rd3, %rd2;
  add.u64 %rd5, %rd5, 1;
  setp.lt.u64 %p, %rd4, 1000000000;
  @%p bra $WAIT;
  st.global.u64 [%rd1], %rd5;
  st.global.u64 [%rd1+8], %rd4;
  ret;
})");
  const Address out = device.zeros<std::uint64_t>(2);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  const Values v = device.read<std::uint64_t>(out, 2);
  CHECK(v[0] > 64);  // the first reads go on with the instructions
  CHECK(v[0] < 1000);
  CHECK(v[1] >= 1'000'000'000);
}

}  // namespace
}  // namespace lockstep::exec::test
