// What ends a launch, once each: kind, thread, and the words of the message behind the place.
#include <catch2/catch.hpp>

#include "exec/texture_table.hpp"
#include "tests/exec/ramp.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

struct FaultRow {
  std::string statement;
  FaultKind kind;
  std::string detail;
};

constexpr auto kInstruction = FaultKind::kIllegalInstruction, kAddress = FaultKind::kIllegalAddress,
               kMisaligned = FaultKind::kMisalignedAddress;

/// A launch of one warp, of which lane 3 has %p1 true, %r5 = 21 and %d5 = 64; there is the texture %d1 and
/// the surface %d2, of 8 x 8 words.
void check_fault(const FaultRow& row) {
  INFO(row.statement);
  Device device(R"(
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 r) malloc();
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.func (.reg .b32 r) two(.reg .b32 x, .reg .b32 y) { add.u32 r, x, y; ret; }
.visible .entry k(.param .u64 tex, .param .u64 surf) {
  .shared .align 128 .b8 shared[1024]; .local .align 16 .b8 local[16];
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [tex]; ld.param.u64 %d2, [surf];
  mov.u32 %r1, %tid.x; mov.u32 %r5, 21; mov.u64 %d5, 64; setp.eq.u32 %p1, %r1, 3;
  mov.u64 %d6, two; mov.u64 %d7, shared; cvta.shared.u64 %d7, %d7; mov.u64 %d8, local;
  proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
  table: .branchtargets A, B;
)" + row.statement +
                R"(
A: B:
  ret;
})");
  TextureTable objects;
  device.options.textures = &objects;
  device.options.max_instructions = 10'000;
  Texture t;
  t.levels = {Ramp(device.memory, 8, 8, 1).image};
  const std::uint64_t texture = objects.add(t), surface = objects.add_surface(t.levels[0]);
  try {
    device.run("k", {1, 1, 1}, {32, 1, 1}, Arguments(texture, surface));
    FAIL_CHECK("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == row.kind);
    CHECK(fault.site().line == 17);
    CHECK(fault.site().thread == Dim3{3, 0, 0});
    const std::string what = fault.what(), end = row.detail.empty() ? "" : ": " + row.detail;
    CHECK_THAT(what, Catch::EndsWith(end + " [" + fault.site().instruction + "]"));
  }
}

void check_faults(std::initializer_list<FaultRow> rows) {
  for (const FaultRow& row : rows) check_fault(row);
}

}  // namespace

TEST_CASE("run faults: calls and branches to where nothing is") {
  check_faults({
      {"@%p1 call (%r2), %d5, (%r3), proto;", kInstruction, "call of an address that is no function"},
      {"@%p1 call (%r2), %d6, (%r3), proto;", kInstruction,
       "call with another number of arguments than the function has"},
      {"@%p1 brx.idx %r5, table;", kInstruction, "index outside the branch table"},
      {"@%p1 call (%d4), malloc, ();", kInstruction,
       "a runtime function is called with other arguments than it has"},
      {"@%p1 call (%r2), vprintf, (%d5, %d5);", kAddress, "a string of the kernel"},
      {"@%p1 call cudaGraphSetConditional, (%d5, 1);", kAddress, "a graph condition's handle"},
      {"@%p1 trap;", FaultKind::kTrap, ""},
      {"@%p1 brkpt;", FaultKind::kTrap, ""},
  });
}

TEST_CASE("run faults: the stack") {
  check_faults({
      {"@%p1 alloca.u64 %d4, 1000000;", FaultKind::kStackOverflow, "the stack is used up"},
      {"@%p1 stackrestore.u64 %d5;", kInstruction, "not saved before"},
  });
}

TEST_CASE("run faults: barriers that do not exist, and warps that are not whole") {
  check_faults({
      {"@%p1 bar.sync %r5;", kInstruction, "no such barrier"},
      {"@%p1 bar.arrive 0, 48;", kInstruction, "the number of threads is not a multiple of the warp size"},
      {"@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [shared];", kInstruction,
       "all lanes of the warp must take part"},
      {"@%p1 wmma.load.a.sync.aligned.row.m8n8k4.f64 {%d4}, [%d7];", kInstruction,
       "all lanes of the warp must take part"},
      {"@%p1 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d5, %d5, 1, 1, 1, 0, "
       "0;",
       kInstruction, "all lanes of the warp must take part"},
  });
}

TEST_CASE("run faults: asynchronous copies") {
  const std::string bulk = "@%p1 cp.async.bulk.global.shared::cta.bulk_group ";
  const std::string tile = "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group ";
  const std::string multiples = "addresses and size must be multiples of 16";
  check_faults({
      {bulk + "[%d5], [shared], %r5;", kMisaligned, multiples},
      {bulk + "[%d5], [shared+8], 16;", kMisaligned, multiples},
      {bulk + "[%d5], [shared], 16;", kAddress, ""},
      {"@%p1 cp.async.ca.shared.global [shared], [%d5], 8;", kAddress, ""},
      {"@%p1 cp.async.ca.shared.global [shared+4], [%d5], 8;", kMisaligned, ""},
      {tile + "[%d7, {%r1}], [shared];", kInstruction, "there is no tensor map here"},
      {tile + "[%d5, {%r1}], [shared];", kAddress, "the tensor map"},
      {"@%p1 add.u64 %d5, %d5, 32; " + tile + "[%d5, {%r1}], [shared];", kMisaligned, "the tensor map"},
      {"@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [shared+960], 1;", kAddress, "the tensor map"},
      {"@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [shared], 1;", kInstruction,
       "no tensor map, or a value that is not supported"},
  });
}

TEST_CASE("run faults: textures and surfaces") {
  const std::string fetch = "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, ";
  check_faults({
      {"@%p1 " + fetch + "[%d5, {%r1}];", kInstruction, "no such texture object"},
      {"@%p1 " + fetch + "[%d2, {%r1}];", kInstruction, "no such texture object"},
      {"@%p1 suld.b.1d.b32.trap %r2, [%d1, {%r1}];", kInstruction, "no such surface object"},
      {"@%p1 suld.b.2d.b32.trap %r2, [%d2, {32, 0}];", kAddress, "outside the surface"},
      {"@%p1 suld.b.2d.b32.trap %r2, [%d2, {0, -1}];", kAddress, "outside the surface"},
      {"@%p1 suld.b.2d.b32.clamp %r2, [%d2, {2, 0}];", kMisaligned, "x in bytes"},
      {"@%p1 txq.width.b32 %r2, [%d2];", kInstruction, "no such texture or surface object"},
      {"@%p1 suq.width.b32 %r2, [%d1];", kInstruction, "no such texture or surface object"},
      {"@%p1 txq.level.width.b32 %r2, [%d1], 1;", kInstruction, "no such level"},
  });
}

TEST_CASE("run faults: accesses of every kind to where no memory is") {
  check_faults({
      {"@%p1 ld.global.u32 %r2, [%d5];", kAddress, ""},
      {"@%p1 ld.global.v4.u32 {%r2, %r3, %r4, %r6}, [%d5+8];", kMisaligned, ""},
      {"@%p1 st.shared.u16 [shared+1023], 0;", kMisaligned, ""},
      {"@%p1 st.shared.u16 [shared+1024], 0;", kAddress, ""},
      {"@%p1 st.local.u32 [%d8+16], 0;", kAddress, ""},
      {"@%p1 atom.global.add.u32 %r2, [%d5], 1;", kAddress, ""},
      {"@%p1 red.global.add.u64 [%d5+4], 1;", kMisaligned, ""},
      {"@%p1 mbarrier.init.shared.b64 [shared+1020], 1;", kMisaligned, ""},
      {"@%p1 mbarrier.init.shared.b64 [shared+1024], 1;", kAddress, ""},
  });
}

TEST_CASE("run faults: a launch that never ends, by its instructions or because nothing can go on") {
  Device device(R"(
.visible .entry endless() { L: bra L; }
.visible .entry stuck() {
  .reg .pred %p; .reg .b32 %r;
  mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;
  @%p bar.sync 1, 96;
  bar.sync 2;
  ret;
})");
  const auto message = [&](const char* kernel) -> std::string {
    try {
      device.run(kernel, {1, 1, 1}, {64, 1, 1}, Arguments());
    } catch (const DeviceFault& fault) {
      return fault.what();
    }
    return "no fault";
  };
  CHECK_THAT(message("stuck"),
             Catch::Contains("deadlock in kernel stuck") && Catch::Contains(": every thread waits [bar"));
  device.options.max_instructions = 1000;
  CHECK_THAT(message("endless"), Catch::Contains("instruction limit reached in kernel endless") &&
                                     Catch::Contains(": the launch may still be running [bra]"));
}

}  // namespace lockstep::exec::test
