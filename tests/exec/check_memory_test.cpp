// --check memory: each faulty kernel is found at its line and thread, and its repaired twin gives no report.
#include <catch2/catch.hpp>

#include "tests/exec/checked_device.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

// out[x] = x for each thread of the grid, below `count`.
constexpr const char* kFill = R"(
.visible .entry fill(.param .u64 out, .param .u32 count) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r5, [count];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  setp.ge.u32 %p, %r4, %r5;
  @%p bra $END;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;  // STORE
$END:
  ret;
})";

TEST_CASE("check memory: a store behind the end of an allocation, within its page") {
  CheckedDevice device(kFill, "memory");
  const Address out = device.raw(100 * 4);
  device.run("fill", {2, 1, 1}, {64, 1, 1}, Arguments(out, 100u));
  CHECK(device.findings().empty());
  device.run("fill", {2, 1, 1}, {64, 1, 1}, Arguments(out, 128u));
  REQUIRE(device.findings().size() == 1);
  const Finding& f = device.findings().front();
  CHECK(f.kind == FindingKind::kOutOfBounds);
  CHECK(f.access == "write");
  CHECK(f.space == "global");
  CHECK(f.bytes == 4);
  CHECK(f.address == out + 400);
  CHECK(f.kernel == "fill");
  CHECK(f.site.line == device.line_of("// STORE"));
  CHECK(f.site.cta == Dim3{1, 0, 0});
  CHECK(f.site.thread == Dim3{36, 0, 0});
  CHECK(f.count == 28);
  CHECK(f.detail.find("0 bytes behind the end of the nearest allocation of 400 bytes") == 0);
  CHECK(device.checker.findings().errors() == 28);
  CHECK(device.read<std::uint32_t>(out, 128)[127] == 127);  // what the program does is what it did unchecked
}

TEST_CASE("check memory: every kind of allocation is known to its last byte") {
  CheckedDevice device(std::string(".visible .global .align 4 .b8 cells[40];\n") + kFill, "memory");
  std::vector<std::uint32_t> host(10);
  const auto registered = reinterpret_cast<Address>(host.data());
  REQUIRE(device.memory.add_host_range(registered, 40));
  const auto reserved = device.memory.reserve(DeviceMemory::kPageBytes, DeviceMemory::kPageBytes);
  REQUIRE((reserved && device.memory.claim(DeviceMemory::kPageBytes)));
  device.memory.map(*reserved, DeviceMemory::kPageBytes);
  device.memory.open(*reserved, DeviceMemory::kPageBytes, true);
  const Address places[] = {*device.memory.allocate(40),
                            *device.memory.allocate(40, MemoryKind::kManaged),
                            *device.memory.allocate(40, MemoryKind::kHost),
                            registered,
                            device.image->address(device.program.find_variable("cells").value()),
                            *reserved + DeviceMemory::kPageBytes - 40};
  for (const Address at : places) {
    INFO(std::hex << at);
    device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(at, 10u));
    CHECK(device.checker.findings().errors() == 0);
  }
  for (std::uint64_t i = 0; i < 3; ++i) device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(places[i], 11u));
  device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(places[4], 11u));
  CHECK(device.checker.findings().errors() == 4);
  CHECK_THROWS_AS(device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(registered, 11u)), DeviceFault);
  CHECK(device.checker.findings().errors() == 5);  // found before it faults
}

TEST_CASE("check memory: an allocation that has been freed") {
  CheckedDevice device(kFill, "memory");
  const Address gone = device.raw(64), kept = device.raw(64);
  device.memory.release(gone);
  device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(gone, 2u));
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].kind == FindingKind::kUseAfterFree);
  CHECK(device.findings()[0].site.thread == Dim3{0, 0, 0});
  CHECK(device.findings()[0].detail.find("0 bytes into a freed allocation of 64 bytes") == 0);
  CHECK(device.raw(64) == gone);  // its place is taken again
  device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(gone, 2u));
  device.run("fill", {1, 1, 1}, {32, 1, 1}, Arguments(kept, 2u));
  CHECK(device.checker.findings().errors() == 2);
}

// Each thread accesses place tid * step + offset of a space.
constexpr const char* kPlaces = R"(
.visible .entry shared_places(.param .u32 step, .param .u32 offset) {
  .shared .align 8 .b8 cells[64];
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [step];
  ld.param.u32 %r2, [offset];
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r3, %r1, %r2;
  mov.u32 %r5, cells;
  add.u32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r3;  // SHARED
  ret;
}
.visible .entry local_places(.param .u32 step, .param .u32 offset) {
  .local .align 8 .b8 cells[16];
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u32 %r1, [step];
  ld.param.u32 %r2, [offset];
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r3, %r3, %r1, %r2;
  mov.u64 %rd1, cells;
  cvta.local.u64 %rd1, %rd1;
  cvt.u64.u32 %rd2, %r3;
  add.u64 %rd3, %rd1, %rd2;
  ld.u32 %r3, [%rd3];  // LOCAL
  ret;
}
.visible .entry pairs(.param .u64 in) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.v2.u32 {%r2, %r3}, [%rd1];  // PAIRS
  ret;
})";

TEST_CASE("check memory: shared memory ends where the CTA's does, not its unit of allocation") {
  CheckedDevice device(kPlaces, "memory");
  device.run("shared_places", {1, 1, 1}, {16, 1, 1}, Arguments(4u, 0u));
  CHECK(device.findings().empty());
  device.run("shared_places", {1, 1, 1}, {17, 1, 1}, Arguments(4u, 0u));
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].space == "shared");
  CHECK(device.findings()[0].address == 64);
  CHECK(device.findings()[0].site.line == device.line_of("// SHARED"));
  CHECK(device.findings()[0].site.thread == Dim3{16, 0, 0});
  CHECK(device.findings()[0].detail == "the CTA has 64 bytes of shared memory");
}

TEST_CASE("check memory: local memory out of the thread's frame") {
  CheckedDevice device(kPlaces, "memory");
  device.run("local_places", {1, 1, 1}, {4, 1, 1}, Arguments(4u, 0u));
  CHECK(device.findings().empty());
  CHECK_THROWS_AS(device.run("local_places", {1, 1, 1}, {5, 1, 1}, Arguments(4u, 0u)), DeviceFault);
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].space == "local");
  CHECK(device.findings()[0].access == "read");
  CHECK(device.findings()[0].site.line == device.line_of("// LOCAL"));
  CHECK(device.findings()[0].site.thread == Dim3{4, 0, 0});
}

TEST_CASE("check memory: misaligned accesses, and vectors that reach over the end") {
  CheckedDevice device(kPlaces, "memory");
  const Address in = device.raw(60);
  device.run("pairs", {1, 1, 1}, {7, 1, 1}, Arguments(in));
  CHECK(device.findings().empty());
  device.run("pairs", {1, 1, 1}, {8, 1, 1}, Arguments(in));
  CHECK_THROWS_AS(device.run("pairs", {1, 1, 1}, {1, 1, 1}, Arguments(in + 4)), DeviceFault);
  REQUIRE(device.findings().size() == 2);
  CHECK(device.findings()[0].kind == FindingKind::kOutOfBounds);
  CHECK(device.findings()[0].bytes == 8);
  CHECK(device.findings()[0].address == in + 56);
  CHECK(device.findings()[0].detail.find("reaches beyond the end of the allocation of 60 bytes") == 0);
  CHECK(device.findings()[1].kind == FindingKind::kMisaligned);
  CHECK(device.findings()[1].address == in + 4);
}

TEST_CASE("check: findings are the same for any number of threads, and survive the way through a file") {
  std::string texts[2];
  for (const unsigned threads : {1u, 4u}) {
    CheckedDevice device(kFill, "all");
    device.options.threads = threads;
    const Address out = device.raw(1000 * 4);
    device.run("fill", {40, 1, 1}, {64, 1, 1}, Arguments(out, 2000u));
    texts[threads / 4] = device.checker.findings().to_json(device.checker.checks());
    Findings copy;
    copy.read(texts[threads / 4]);
    CHECK(copy.to_json(device.checker.checks()) == texts[threads / 4]);
    CHECK(copy.errors() == 1000);
    const std::string text = copy.to_text();
    CHECK(text.find("write out of bounds of 4 bytes") != std::string::npos);
    CHECK(text.find("lockstep: check: 1000 errors at 1 place") != std::string::npos);
  }
  CHECK(texts[0] == texts[1]);
  CHECK_THROWS_AS(Findings().read("{}"), UserError);
  CHECK_THROWS_AS(Findings().read("no JSON"), UserError);
}

TEST_CASE("check: the list of checks") {
  CHECK(to_text(parse_checks("all")) == "memory,init,race");
  CHECK(to_text(parse_checks("leak,memory")) == "memory,leak");
  CHECK_THROWS_WITH(parse_checks("memory,rase"), Catch::Contains("`rase`"));
  CHECK_THROWS_AS(parse_checks(""), UserError);
}

TEST_CASE("check leak: what the program has not freed") {
  CheckedDevice device(kFill, "leak");
  const Address kept = device.raw(24), freed = device.raw(24), own = device.raw(24);
  device.memory.release(freed);
  device.checker.find_leaks([&](const Allocation& a) { return a.begin == own; });
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0].kind == FindingKind::kLeak);
  CHECK(device.findings()[0].address == kept);
  CHECK(device.findings()[0].bytes == 24);
}

}  // namespace
}  // namespace lockstep::exec::test
