// Records of what was executed, and clocks.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr const char* kKernel = R"(
.visible .entry run(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  setp.lt.u32 %p, %r1, 8;
  @%p bra $LOW;
  st.global.u32 [%rd3], %r1;
$LOW:
  @%p st.global.u32 [%rd3+4], %r1;
  ret;
})";

TEST_CASE("a record has each instruction with its lanes and addresses") {
  Device device(kKernel);
  const Address out = device.zeros<std::uint32_t>(128);
  const auto kernel = device.kernel("run");
  const Arguments arguments(out);
  Launch launch;
  launch.kernel = kernel.get();
  launch.grid = {2, 1, 1};
  launch.block = {40, 1, 1};
  launch.parameters = arguments.bytes();
  Grid grid(launch, device.memory, device.options);
  CtaRecord record;
  for (std::uint64_t cta = 0; cta < 2; ++cta) {
    REQUIRE(grid.run_cta(cta, &record));
    CHECK(record.index == cta);
    REQUIRE(record.warps.size() == 2);
    const WarpRecord& warp = record.warps[0];
    std::vector<std::pair<std::uint32_t, LaneMask>> seen;
    for (const auto& r : warp.records) seen.emplace_back(r.inst(), r.mask);
    const std::vector<std::pair<std::uint32_t, LaneMask>> expected{
        {0, ~0u}, {1, ~0u}, {2, ~0u}, {3, ~0u}, {4, ~0u}, {5, ~0u}, {6, ~0xffu}, {7, 0xff}, {8, ~0u}};
    CHECK(seen == expected);
    Address lanes[kWarpSize] = {};
    std::size_t word = 0;
    for (const auto& r : warp.records) {
      if (r.inst() >= 6 && r.form() != trace::AddressForm::kNone) {
        trace::expand_addresses(r.form(), r.mask, warp.words.data() + word, lanes);
        for (std::uint32_t l = 0; l < kWarpSize; ++l)
          if (r.mask >> l & 1) CHECK(lanes[l] == out + 4 * l + (r.inst() == 7 ? 4 : 0));
      }
      word += trace::address_words(r.form(), r.mask);
    }
    CHECK(word == warp.words.size());
    CHECK(record.warps[1].records.front().mask == 0xff);
    CHECK(record.warps[1].records.size() == 9);
  }
}

TEST_CASE("without a source a kernel that waits by the clock ends soon, and its clock never goes back") {
  Device device(R"(
.visible .entry wait(.param .u64 out, .param .u64 until) {
  .reg .pred %p<3>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [until];
  mov.u64 %rd3, 0;
  mov.u64 %rd4, 0;
$WAIT:
  mov.u64 %rd5, %clock64;
  setp.lt.u64 %p1, %rd5, %rd3;
  @%p1 add.u64 %rd4, %rd4, 1;
  mov.u64 %rd3, %rd5;
  setp.lt.u64 %p2, %rd5, %rd2;
  @%p2 bra $WAIT;
  st.global.u64 [%rd1], %rd4;
  st.global.u64 [%rd1+8], %rd5;
  ret;
})");
  const Address out = device.zeros<std::uint64_t>(2);
  const std::uint64_t until = 1'000'000'000;
  const RunCounts counts = device.run("wait", {1, 1, 1}, {1, 1, 1}, Arguments(out, until));
  const auto seen = device.read<std::uint64_t>(out, 2);
  CHECK(seen[0] == 0);
  CHECK(seen[1] >= until);
  CHECK(counts.warp_instructions < 2000);
}

TEST_CASE("clocks come from the source that is given") {
  Device device(R"(
.visible .entry run(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %clock64;
  mov.u64 %rd3, %clock64;
  mov.u64 %rd4, %globaltimer;
  mov.u32 %r1, %clock;
  mul.wide.u32 %rd5, %r1, 1;
  st.global.v2.u64 [%rd1], {%rd2, %rd3};
  st.global.v2.u64 [%rd1+16], {%rd4, %rd5};
  ret;
})");
  const Address out = device.zeros<std::uint64_t>(4);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  const auto counted = device.read<std::uint64_t>(out, 4);
  CHECK(counted[1] == counted[0] + 1);
  CHECK(counted[3] == counted[0] + 3);
  device.options.clock.cycle = [](void*, std::uint64_t cta, std::uint32_t warp, std::uint64_t read) {
    return (std::uint64_t{1} << 32) + 1000 * cta + 100 * warp + read;
  };
  device.options.clock.nanosecond = [](void*, std::uint64_t, std::uint32_t, std::uint64_t) {
    return std::uint64_t{77};
  };
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  const auto given = device.read<std::uint64_t>(out, 4);
  const std::vector<std::uint64_t> expected{std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1, 77, 3};
  CHECK(given == expected);
}

// Lane 0 waits for warp 1, which waits for the other lanes, which wait at the barrier then.
TEST_CASE("a warp's record waits at a barrier when its last lanes have come, not when the first ones have") {
  Device device(R"(
.visible .entry run() {
  .shared .align 4 .b32 first; .shared .align 4 .b32 second;
  .reg .pred %p<3>; .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p0, %r1, 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra $OTHER;
  @!%p0 bra $GO;
$SPIN:
  ld.volatile.shared.u32 %r2, [second];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra $SPIN;
$GO:
  st.volatile.shared.u32 [first], 1;
  bra $MEET;
$OTHER:
  ld.volatile.shared.u32 %r2, [first];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra $OTHER;
  st.volatile.shared.u32 [second], 1;
$MEET:
  barrier.sync 0;
  ret;
})");
  const auto kernel = device.kernel("run");
  Launch launch;
  launch.kernel = kernel.get();
  launch.grid = {1, 1, 1};
  launch.block = {64, 1, 1};
  Grid grid(launch, device.memory, device.options);
  CtaRecord record;
  REQUIRE(grid.run_cta(0, &record));
  const auto arrivals = [&](unsigned warp) {
    std::vector<LaneMask> masks;
    for (const auto& r : record.warps.at(warp).records)
      if (kernel->instruction(r.inst()).op() == ptx::Opcode::kBarrier) masks.push_back(r.mask);
    return masks;
  };
  CHECK(arrivals(0) == std::vector<LaneMask>{0, ~0u});
  CHECK(arrivals(1) == std::vector<LaneMask>{~0u});
}

}  // namespace
}  // namespace lockstep::exec::test
