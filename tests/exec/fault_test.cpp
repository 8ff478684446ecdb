// Errors of device programs: the right kind, place and address, and nothing outside the arena is touched.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

// Thread `who` of CTA 1 loads 4 bytes from `address`, in each space.
constexpr const char* kAccess = R"(
.visible .entry access(.param .u64 address, .param .u32 who, .param .u32 how) {
  .shared .align 8 .b8 cells[64];
  .local .align 8 .b8 mine[16];
  .reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [address];
  ld.param.u32 %r1, [who];
  ld.param.u32 %r2, [how];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  setp.eq.u32 %p1, %r3, %r1;
  setp.eq.and.u32 %p1, %r4, 1, %p1;
  @!%p1 bra $END;
  setp.eq.u32 %p2, %r2, 1;
  @%p2 bra $SHARED;
  setp.eq.u32 %p2, %r2, 2;
  @%p2 bra $LOCAL;
  setp.eq.u32 %p2, %r2, 3;
  @%p2 bra $GENERIC;
  ld.global.u32 %r5, [%rd1];
  bra $END;
$SHARED:
  st.shared.u32 [%rd1], %r5;
  bra $END;
$LOCAL:
  ld.local.u32 %r5, [%rd1];
  bra $END;
$GENERIC:
  st.v2.u32 [%rd1], {%r5, %r5};
$END:
  ret;
})";

struct Case {
  Address address;
  std::uint32_t how;
  FaultKind kind;
  std::uint32_t line;
};

void expect(Device& device, const Case& c) {
  INFO(std::hex << c.address << " how " << c.how);
  try {
    device.run("access", {2, 1, 1}, {64, 1, 1}, Arguments(c.address, 37u, c.how));
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == c.kind);
    CHECK(fault.site().address == c.address);
    CHECK(fault.site().kernel == "access");
    CHECK(fault.site().line == c.line);
    CHECK(fault.site().thread == Dim3{37, 0, 0});
    CHECK(fault.site().cta == Dim3{1, 0, 0});
    CHECK(std::string(fault.what()).find("test.ptx:" + std::to_string(c.line)) == 0);
  }
}

TEST_CASE("illegal and misaligned addresses are reported with their place") {
  Device device(kAccess);
  const Address good = device.zeros<std::uint32_t>(16);
  int host = 0;
  const auto host_address = reinterpret_cast<Address>(&host);
  constexpr auto kIllegal = FaultKind::kIllegalAddress, kMisaligned = FaultKind::kMisalignedAddress;
  const Case cases[] = {{0, 0, kIllegal, 23},
                        {host_address, 0, kIllegal, 23},
                        {good - 4, 0, kIllegal, 23},
                        {good + (2 << 20), 0, kIllegal, 23},
                        {~Address{3}, 0, kIllegal, 23},
                        {good + 2, 0, kMisaligned, 23},
                        {128, 1, kIllegal, 26},
                        {0xfffffffc, 1, kIllegal, 26},
                        {62, 1, kMisaligned, 26},
                        {16, 2, kIllegal, 29},
                        {0, 3, kIllegal, 32},
                        {good + 4, 3, kMisaligned, 32},
                        {kSharedWindow + 128, 3, kIllegal, 32},
                        {kLocalWindow + 16, 3, kIllegal, 32},
                        {kParamWindow + 0x8000, 3, kIllegal, 32},
                        {host_address & ~Address{7}, 3, kIllegal, 32}};
  for (const Case& c : cases) expect(device, c);
  for (const Case& fine : {Case{good, 0, kIllegal, 0}, Case{124, 1, kIllegal, 0}, Case{12, 2, kIllegal, 0},
                           Case{kSharedWindow + 120, 3, kIllegal, 0}, Case{kLocalWindow + 8, 3, kIllegal, 0}})
    CHECK_NOTHROW(device.run("access", {2, 1, 1}, {64, 1, 1}, Arguments(fine.address, 37u, fine.how)));
  CHECK(device.memory.add_host_range(host_address, sizeof host));
  CHECK_NOTHROW(device.run("access", {2, 1, 1}, {64, 1, 1}, Arguments(host_address, 37u, 0u)));
}

// PTX ISA, %total_smem_size: multiples of the allocation unit, 128 bytes from sm_80 on and 256 before. Up to
// there memory is the CTA's own, as old reductions count on that read 32 words behind their last.
TEST_CASE("a CTA has shared memory in whole units") {
  Device device(R"(
.visible .entry size(.param .u64 out) {
  .shared .align 8 .b8 cells[60];
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %total_smem_size;
  st.global.u32 [%rd1], %r1;
  mov.u32 %r2, cells;
  add.u32 %r2, %r2, %r1;
  st.shared.u32 [%r2+-4], %r1;
  ret;
})");
  const auto size = [&](std::uint32_t unit, std::uint32_t dynamic) {
    device.options.shared_unit = unit;
    const Address out = device.zeros<std::uint32_t>(1);
    device.run("size", {1, 1, 1}, {1, 1, 1}, Arguments(out), dynamic);
    return device.read<std::uint32_t>(out, 1)[0];
  };
  CHECK(size(128, 0) == 128);
  CHECK(size(256, 0) == 256);
  CHECK(size(128, 128) == 256);
}

TEST_CASE("an endless kernel is stopped by a limit or an interrupt") {
  Device device(".visible .entry forever() {\n$L: bra $L;\n}");
  device.options.max_instructions = 5'000'000;
  try {
    device.run("forever", {1, 1, 1}, {32, 1, 1}, Arguments());
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kInstructionLimit);
  }
  std::atomic<bool> interrupt = true;
  device.options.interrupt = &interrupt;
  CHECK_THROWS_WITH(device.run("forever", {1, 1, 1}, {32, 1, 1}, Arguments()), "interrupted");
}

TEST_CASE("an interrupted CTA goes on where it was") {
  Device device(R"(
.visible .entry count(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 0;
$L:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 3000000;
  @%p bra $L;
  st.global.u32 [%rd1], %r1;
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(1);
  std::atomic<bool> interrupt = true;
  device.options.interrupt = &interrupt;
  const auto kernel = device.kernel("count");
  const Arguments arguments(out);
  Launch launch;
  launch.kernel = kernel.get();
  launch.parameters = arguments.bytes();
  Grid grid(launch, device.memory, device.options);
  int rounds = 0;
  while (!grid.run_cta(0, nullptr)) ++rounds;
  CHECK(rounds > 2);
  CHECK(device.read<std::uint32_t>(out, 1)[0] == 3000000);
}

TEST_CASE("forms that are not supported are reported before a launch, with file and line") {
  Device device(R"(
.visible .entry good() { ret; }
.visible .entry bad() {
  .reg .b32 %r<3>;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  ret;
})");
  CHECK_NOTHROW(device.kernel("good"));
  try {
    static_cast<void>(device.kernel("bad"));
    FAIL("no error");
  } catch (const InputError& error) {
    CHECK(error.file() == "test.ptx");
    CHECK(error.line() == 8);
    CHECK(std::string(error.what()).find("tcgen05") != std::string::npos);
  }
}

TEST_CASE("faults and errors before the launch name the line of the source where the PTX says it") {
  const std::string lines = ".file 1 \"/home/me/vector_add.cu\"\n.file 2 \"/home/me/load.cuh\"\n";
  Device device(lines + R"(
.visible .entry reads() {
  .reg .b64 %d; .reg .b32 %r;
  .loc 1 12 5
  mov.u64 %d, 0;
  .loc 2 3 9, inlined_at 1 13 7
  ld.global.u32 %r, [%d];
  ret;
}
.visible .entry unsupported() {
  .loc 1 40 2
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  ret;
})");
  try {
    device.run("reads", {1, 1, 1}, {1, 1, 1}, Arguments());
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.site().line == 12);
    CHECK(fault.site().source == "load.cuh:3, inlined at vector_add.cu:13");
    CHECK(std::string(fault.what())
              .starts_with(
                  "test.ptx:12 (load.cuh:3, inlined at vector_add.cu:13): illegal address in kernel reads,"));
  }
  CHECK_THROWS_WITH(device.kernel("unsupported"),
                    Catch::StartsWith("test.ptx:17: vector_add.cu:40: tcgen05."));
}

TEST_CASE("trap ends the launch") {
  Device device(".visible .entry stop() {\n  trap;\n  ret;\n}");
  try {
    device.run("stop", {1, 1, 1}, {32, 1, 1}, Arguments());
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kTrap);
    CHECK(fault.site().line == 5);
  }
}

}  // namespace
}  // namespace lockstep::exec::test
