// --check race: accesses whose order nothing decides, and none where something does.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/exec/checked_device.hpp"

namespace lockstep::exec::test {
namespace {

/// A kernel with 1 KiB of shared memory, of which %r3 is the thread's own word, and %rd1 the parameter `out`.
std::string shared_kernel(const std::string& body) {
  return R"(
.visible .entry run(.param .u64 out) {
  .shared .align 16 .b8 cells[1024];
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, cells;
  shl.b32 %r3, %r1, 2;
  add.u32 %r3, %r2, %r3;
  mov.u32 %r10, %ctaid.x;
)" + body +
         "\n  ret;\n}";
}

/// What checking a launch of the kernel with this body finds.
struct Run {
  explicit Run(const std::string& body, Dim3 grid = {1, 1, 1}, Dim3 block = {64, 1, 1})
      : text(shared_kernel(body)) {
    CheckedDevice device(text, "race");
    device.run("run", grid, block, Arguments(device.zeros<std::uint32_t>(256)));
    findings = device.checker.findings();
  }
  [[nodiscard]] const Finding& first() const { return findings.all().at(0); }
  [[nodiscard]] std::uint64_t errors() const { return findings.errors(); }
  [[nodiscard]] std::uint64_t warnings() const { return findings.warnings(); }
  [[nodiscard]] bool clean() const { return errors() == 0 && warnings() == 0; }
  [[nodiscard]] std::uint32_t line_of(std::string_view mark) const { return test::line_of(text, mark); }

  std::string text;
  Findings findings;
};

// Each thread writes its word, thread 0 reads the last one of the second warp.
std::string across_warps(const std::string& between) {
  return "  st.shared.u32 [%r3], %r1;  // WRITE\n" + between + R"(
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 ld.shared.u32 %r4, [%r2+252];  // READ
)";
}

TEST_CASE("check race: shared memory between the warps of a CTA") {
  const Run racy(across_warps(""));
  // Warp 0 lets warp 1 write before it reads. Either order is found.
  REQUIRE(racy.findings.all().size() == 1);
  const Finding& f = racy.first();
  CHECK(f.kind == FindingKind::kRace);
  CHECK_FALSE(f.warning);
  CHECK(f.access == "read after write");
  CHECK(f.space == "shared");
  CHECK(f.address == 252);
  CHECK(f.site.line == racy.line_of("// READ"));
  CHECK(f.site.thread == Dim3{0, 0, 0});
  REQUIRE(f.earlier);
  CHECK(f.earlier->line == racy.line_of("// WRITE"));
  CHECK(f.earlier->thread == Dim3{63, 0, 0});
  CHECK(Run(across_warps("  bar.sync 0;")).clean());
  CHECK(Run(across_warps("  barrier.sync.aligned 3, 64;")).clean());
  CHECK(Run(across_warps("  bar.red.popc.u32 %r5, 0, %p0;")).clean());
  CHECK_FALSE(Run(across_warps("  bar.warp.sync -1;")).clean());
}

TEST_CASE("check race: lanes of a warp are ordered by what synchronises them, else it is a warning") {
  // Thread 0 reads the word of thread 31.
  const auto within = [](const std::string& between) {
    return "  st.shared.u32 [%r3], %r1;\n" + between + R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $END;
  ld.shared.u32 %r4, [%r2+124];  // READ
$END:)";
  };
  const Run in_step(within(""), {1, 1, 1}, {32, 1, 1});
  CHECK(in_step.errors() == 0);
  REQUIRE(in_step.warnings() == 1);
  CHECK(in_step.first().access == "read after write");
  CHECK(in_step.first().site.line == in_step.line_of("// READ"));
  CHECK(in_step.first().earlier->thread == Dim3{31, 0, 0});
  for (const char* sync : {"  bar.warp.sync -1;", "  bar.sync 0;", "  shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;",
                           "  vote.sync.any.pred %p2, %p1, -1;"})
    CHECK(Run(within(sync), {1, 1, 1}, {32, 1, 1}).clean());
  // One half writes while the other one reads: not even running in step orders them.
  const Run parted(R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra $WRITE;
  ld.shared.u32 %r4, [%r2];
  bra $END;
$WRITE:
  st.shared.u32 [%r2], %r10;
$END:)",
                   {1, 1, 1}, {32, 1, 1});
  CHECK(parted.errors() > 0);
  CHECK(parted.warnings() == 0);
}

TEST_CASE("check race: writes of the same value are not a race") {
  CHECK(Run("  st.shared.u32 [%r2], 7;").clean());
  CHECK(Run("  st.global.u32 [%rd1], 7;", {4, 1, 1}).clean());
  const Run lanes("  st.shared.u32 [%r2], %r1;", {1, 1, 1}, {32, 1, 1});  // 32 values in one instruction
  CHECK(lanes.errors() == 31);
  CHECK(lanes.first().access == "write after write");
  CHECK(Run("  st.global.u32 [%rd1], %r10;", {4, 1, 1}, {1, 1, 1}).errors() == 3);
}

TEST_CASE("check race: bytes of one word are places of their own") {
  const auto bytes = [](const char* shift) {
    return fmt::format(R"(
  shr.u32 %r4, %r1, {};
  add.u32 %r4, %r2, %r4;
  st.shared.u8 [%r4], %r1;)",
                       shift);
  };
  CHECK(Run(bytes("0")).clean());
  CHECK(Run(bytes("1")).errors() > 0);
}

TEST_CASE("check race: atomics do not race with one another, but with plain accesses of shared memory") {
  CHECK(Run("  red.shared.add.u32 [%r2], 1;").clean());
  CHECK(Run("  red.global.add.u32 [%rd1], 1;", {4, 1, 1}).clean());
  const auto mixed = [](const std::string& between) {
    return "  red.shared.add.u32 [%r2], 1;\n" + between + "\n  ld.shared.u32 %r4, [%r2];";
  };
  CHECK(Run(mixed("")).errors() > 0);
  CHECK(Run(mixed("  bar.sync 0;")).clean());
  // A look before the atomic, as searches of graphs have it, is left alone in global memory.
  CHECK(Run("  ld.global.u32 %r4, [%rd1];\n  red.global.max.u32 [%rd1], %r10;", {4, 1, 1}).clean());
  CHECK(Run("  st.global.u32 [%rd1], %r10;\n  red.global.max.u32 [%rd1], %r10;", {4, 1, 1}).errors() > 0);
}

TEST_CASE("check race: named barriers order the warps that use them") {
  // Warp 0 produces, warp 1 consumes through barrier 1, warp 2 through barrier `other`.
  const auto pipeline = [](int other) {
    return fmt::format(R"(
  shr.u32 %r4, %r1, 5;
  setp.eq.u32 %p1, %r4, 0;
  setp.eq.u32 %p2, %r4, 1;
  @%p2 bra $CONSUME;
  @!%p1 bra $OTHER;
  st.shared.u32 [%r3], %r1;
  bar.arrive 1, 96;
  bar.sync 2, 64;
  st.shared.u32 [%r3], %r10;
  bra $END;
$CONSUME:
  bar.sync 1, 96;
  ld.shared.u32 %r5, [%r3+-128];
  bar.arrive 2, 64;
  bra $END;
$OTHER:
  bar.{} 1, 96;
  ld.shared.u32 %r5, [%r3+-256];
$END:)",
                       other == 1 ? "sync" : "arrive");
  };
  // Warp 2 never says that it has read.
  const Run late(pipeline(1), {1, 1, 1}, {96, 1, 1});
  CHECK(late.errors() == 32);
  const std::string pair = R"(
  setp.lt.u32 %p1, %r1, 32;
  @!%p1 bra $CONSUME;
  st.shared.u32 [%r3], %r1;
  bar.arrive 1, 64;
  bar.sync 2, 64;
  st.shared.u32 [%r3], %r10;
  bra $END;
$CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r5, [%r3+-128];
  bar.{} 2, 64;
$END:)";
  CHECK(Run(fmt::format(fmt::runtime(pair), "arrive")).clean());
}

TEST_CASE("check race: an mbarrier orders arrivals before waits") {
  const auto body = [](const std::string& wait) {
    return R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [%r2+512], 32;
  bar.sync 0;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra $PRODUCE;
)" + wait + R"(
  ld.shared.u32 %r5, [%r3+-128];
  bra $END;
$PRODUCE:
  st.shared.u32 [%r3], %r1;
  mbarrier.arrive.shared.b64 %rd2, [%r2+512];
$END:)";
  };
  CHECK(Run(body(R"(
$WAIT:
  mbarrier.test_wait.parity.shared.b64 %p2, [%r2+512], 0;
  @!%p2 bra $WAIT;)"))
            .clean());
  CHECK(Run(body("")).errors() == 32);
}

// Each CTA writes its word; the last one to count itself reads them all (CUDA's threadFenceReduction).
std::string last_cta_reads(const std::string& fence) {
  return R"(
  mul.wide.u32 %rd2, %r10, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r10;
)" + fence +
         R"(
  atom.global.add.u32 %r4, [%rd1+512], 1;
  setp.ne.u32 %p1, %r4, 7;
  @%p1 bra $END;
)" + fence +
         R"(
  ld.global.u32 %r5, [%rd1];
  ld.global.u32 %r6, [%rd1+16];
$END:)";
}

TEST_CASE("check race: global memory between CTAs") {
  const Run racy("  ld.global.u32 %r4, [%rd1];\n  add.u32 %r4, %r4, 1;\n  st.global.u32 [%rd1], %r4;",
                 {3, 1, 1}, {1, 1, 1});
  CHECK(racy.errors() > 0);
  CHECK(racy.first().space == "global");
  CHECK(racy.first().earlier->cta == Dim3{0, 0, 0});
  CHECK(Run(last_cta_reads("  membar.gl;"), {8, 1, 1}, {1, 1, 1}).clean());
  CHECK(Run(last_cta_reads("  fence.acq_rel.gpu;"), {8, 1, 1}, {1, 1, 1}).clean());
  CHECK(Run(last_cta_reads(""), {8, 1, 1}, {1, 1, 1}).errors() == 2);
  CHECK(Run(last_cta_reads("  membar.cta;"), {8, 1, 1}, {1, 1, 1}).errors() == 2);
}

TEST_CASE("check race: acquire and release order CTAs that wait for one another") {
  // CTA 0 waits for what CTA 1 writes.
  const auto flag = [](const std::string& store, const std::string& load) {
    return fmt::format(R"(
  setp.eq.u32 %p1, %r10, 0;
  @%p1 bra $WAIT;
  st.global.u32 [%rd1], 5;
  {} [%rd1+64], 1;
  bra $END;
$WAIT:
  {} %r4, [%rd1+64];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $WAIT;
  ld.global.u32 %r5, [%rd1];
$END:)",
                       store, load);
  };
  const auto clean = [&](const char* store, const char* load) {
    return Run(flag(store, load), {2, 1, 1}, {1, 1, 1}).clean();
  };
  CHECK(clean("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"));
  CHECK(clean("membar.gl;\n  st.volatile.global.u32", "ld.acquire.gpu.global.u32"));
  CHECK_FALSE(clean("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32"));
}

TEST_CASE("check race: kernels one after the other do not race, nor does memory that is allocated anew") {
  CheckedDevice device(shared_kernel("  st.global.u32 [%rd1], %r1;"), "race");
  const Address out = device.zeros<std::uint32_t>(4);
  for (int i = 0; i < 2; ++i) device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  CHECK(device.findings().empty());
}

}  // namespace
}  // namespace lockstep::exec::test
