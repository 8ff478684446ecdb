// What a kernel cannot be executed for, once each: the line, the instruction's form and what is expected.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

struct Refusal {
  std::string statement, why;  // why: empty where the statement can be executed
};

/// The error of a kernel with this statement in its line 10, behind the place.
std::string decode_error(const std::string& statement) {
  const Device device(
      ".func callee(.param .b32 x) { ret; }\n.global .b32 word;\n"
      ".visible .entry k(.param .u64 arg) {\n"
      "  .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n"
      "  .reg .b128 %q<3>;\nL:\n" +
      statement + "\nret;\n}\n");
  try {
    static_cast<void>(device.kernel("k"));
  } catch (const InputError& error) {
    CHECK(error.file() == "test.ptx");
    CHECK(error.line() == 10);
    const std::string place = "test.ptx:10: ", what = error.what();
    REQUIRE(what.starts_with(place));
    return what.substr(place.size());
  }
  return "";
}

void check_refusals(const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) {
    INFO(row.statement);
    const std::string form = row.statement.substr(0, row.statement.find_first_of(" ;"));
    CHECK(decode_error(row.statement) == (row.why.empty() ? "" : form + ": " + row.why));
  }
}

}  // namespace

TEST_CASE("decode errors: memory") {
  check_refusals({
      {"st.bulk.weak.shared::cta [%d1], %d2, 0;", "needs a GPU later than sm_90"},
      {"ld.tex.u32 %r1, [%d1];", "state space .tex is not supported"},
      {"ld.global.v8.b64 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, [%d8];",
       "an access of 64 bytes; 32 are allowed"},
      {"ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d8];", ""},
      {"red.global.add.f16 [%d1], %h1;", ""},
      {"red.global.inc.u64 [%d1], %d2;", "this atomic operation is not supported"},
      {"atom.global.min.f32 %f1, [%d1], %f2;", "this atomic operation is not supported"},
      {"atom.shared.add.u8 %r1, [%r2], %r3;", "this atomic operation is not supported"},
      {"multimem.st.shared.b32 [%d1], %r1;", "expected .global or no state space"},
      {"multimem.red.global.min.f32 [%d1], %f1;", "this reduction is not supported"},
      {"multimem.st.global.b128 [%d1], %q1;", "values of 128 bits are not supported"},
      {"alloca.u64 %d1, 16, 24;", "the alignment must be a power of two"},
      {"alloca.u64 %d1, 16, 32;", ""},
      {"mov.s32 %r1, 1.5;", "this literal cannot be a .s32"},
      {"and.b32 %r1, %r2, !%p1;", "a negated predicate is not supported here"},
      {"selp.b32 %r1, %r2, %r3, !%p1;", "a negated predicate is not supported here"},
  });
}

TEST_CASE("decode errors: asynchronous copies and matrices in memory") {
  const std::string tile = "cp.async.bulk.tensor.2d.shared::cta.global.",
                    to = ".mbarrier::complete_tx::bytes [%d1], ";
  check_refusals({
      {"cp.async.ca.shared.global [%d1], [%d2], 12;", "the size must be 4, 8 or 16"},
      {"cp.async.ca.shared.global [%d1], [%d2], 4, %p1;", ""},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.ignore_oob "
       "[%d1], [%d2], %r1, %r2, %r3, [%d3];",
       "needs a GPU later than sm_90"},
      {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [%d2], %r1, %h1;",
       "needs a GPU later than sm_90"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%d1], [%d2], %r1;",
       "this reduction is not supported"},
      {tile + "tile::gather4" + to + "[%d2, {%r1, %r2, %r3, %r4, %r5}], [%d3];",
       "needs a GPU later than sm_90"},
      {tile + "tile" + to + "[%d2, {%r1, %r2, %r3}], [%d3];",
       "another number of coordinates than dimensions"},
      {tile + "im2col" + to + "[%d2, {%r1, %r2}], [%d3], {%h1};", "im2col needs at least three dimensions"},
      {"cp.async.bulk.tensor.4d.shared::cta.global.im2col" + to +
           "[%d2, {%r1, %r2, %r3, %r4}], [%d3], {%h1};",
       "another number of offsets than W, H and D"},
      {"tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%d1], 1;",
       "this field is not supported"},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];", "another number of registers than matrices"},
      {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r2], {%r1, %r2};",
       "another number of registers than matrices"},
      {"stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r2], {%r1};", "only elements of .b16 are supported"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3}, [%d1];",
       "4 registers are given, 8 expected"},
      {"wmma.load.a.sync.aligned.row.m8n8k4.f16 {%r0, %r1, %r2, %r3}, [%d1];", "no such matrix"},
      {"wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%d1];",
       "elements below 8 bits must be neighbours along k"},
      {"mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, "
       "{%f1, %f2, %f3, %f4};",
       "no such shape for these types"},
  });
}

TEST_CASE("decode errors: textures and surfaces") {
  const std::string four = "{%f1, %f2, %f3, %f4}";
  check_refusals({
      {"tex.2dms.v4.f32.s32 " + four + ", [%d1, {%r1, %r2, %r3, %r4}];", "this geometry is not supported"},
      {"tex.2d.v4.f32.f32 " + four + ", [%d1, %d2, {%f1, %f2}];",
       "expected [object, {coordinates}]; separate samplers are not supported"},
      {"tex.2d.v4.f32.f32 " + four + ", [arg, {%f1, %f2}];",
       "expected a texture or surface object in a register"},
      {"tex.2d.v4.f32.f32 " + four + ", [%d1, {%f1}];", "a coordinate is missing"},
      {"tex.2d.v2.f16x2.f32 {%r1, %r2}, [%d1, {%f1, %f2}];", "results of .f16x2 are not supported"},
      {"tex.1d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%d1, {%f1}];", "results of .f16 are not supported"},
      {"tex.2d.v4.f32.f32 " + four + ", [%d1, {%f1, %f2}], {%r1, %r2};",
       "offsets and depth comparison are not supported"},
      {"tex.grad.2d.v4.f32.f32 " + four + ", [%d1, {%f1, %f2}], {%f5}, {%f7, %f8};", "a gradient is missing"},
      {"suld.b.2dms.b32.trap %r1, [%d1, {%r1, %r2}];", "this geometry is not supported"},
      {"sust.p.2d.b32.trap [%d1, {%r1, %r2}], %r1;", "only unformatted (.b) surface accesses are supported"},
      {"suld.b.1d.b128.trap %q1, [%d1, {%r1}];", "only elements of up to 64 bits are supported"},
      {"sured.b.min.1d.f32.trap [%d1, {%r1}], %f1;", "this reduction is not supported"},
      {"sured.b.add.1d.u32.trap [%d1, {%r1}], %r1;", ""},
      {"txq.num_samples.b32 %r1, [%d1];", "this query is not supported"},
      {"suq.num_mipmap_levels.b32 %r1, [%d1];", "this query is not supported"},
      {"suq.width.b32 %r1, [arg];", "expected a texture or surface object in a register"},
  });
}

TEST_CASE("decode errors: calls and later control") {
  check_refusals({
      {"call callee;", "0 values are given, 1 expected"},
      {"call callee, (1, 2);", "2 values are given, 1 expected"},
      {"call callee, (1);", ""},
      {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%d1], [%d2];",
       "this instruction is not supported"},
      {"barrier.arrive 1, 64;", ""},
  });
}

TEST_CASE("decode errors: arithmetic that PTX does not have") {
  check_refusals({
      {"add.sat.u32 %r1, %r2, %r3;", "not an instruction for this type"},
      {"mul.f16x2.wide %r1, %r2, %r3;", "'.wide' does not belong here"},
      {"mul.u32 %r1, %r2, %r3;", "no such integer form"},
      {"mul.wide.u64 %d1, %d2, %d3;", "not an instruction for this type"},
      {"div.f32 %f1, %f2, %f3;", "expected a rounding mode"},
      {"fma.f32 %f1, %f2, %f3, %f4;", "expected a rounding mode"},
      {"rcp.approx.f64 %d1, %d2;", "no such approximate form"},
      {"sin.f32 %f1, %f2;", "no such approximate form"},
      {"shl.s32 %r1, %r2, 3;", "not an instruction for this type"},
      {"shf.l.b32 %r1, %r2, %r3, 3;", "no such form"},
      {"lop3.b32 %r1, %r2, %r3, %r4, 256;", "the table must be 0 to 255"},
      {"setp.lt.b32 %p1, %r2, %r3;", "no such comparison for this type"},
      {"setp.num.s32 %p1, %r2, %r3;", "no such comparison for this type"},
      {"setp.and.eq.s32 %p1, %r2, %r3, %p2;", "expected a comparison"},
      {"set.eq.u64.s32 %d1, %r2, %r3;", "no such result type"},
      {"selp.b128 %q1, %q1, %q2, %p1;", "no such type"},
      {"slct.u32.u32 %r1, %r2, %r3, %r4;", "selects by .s32 or .f32"},
      {"testp.finite.f16 %p1, %h1;", "no such property or type"},
      {"cvt.s32.f32 %r1, %f1;", "expected a rounding"},
      {"cvt.rn.s32.f32 %r1, %f1;", "expected .rni, .rzi, .rmi or .rpi"},
      {"cvt.rzi.f32.s32 %f1, %r1;", "integral rounding needs a floating-point source"},
      {"cvt.rn.rz.f32.f64 %f1, %d1;", "expected one rounding"},
      {"cvt.pack.sat.u32.s32 %r1, %r2, %r3;", "no such cvt.pack"},
      {"cvt.rn.e2m1x2.f32 %h1, %f1, %f2;", "no such result type"},
      {"prmt.b32.f4e.ecl %r1, %r2, %r3, %r4;", "expected one of .f4e .b4e .rc8 .ecl .ecr .rc16"},
      {"vadd.u32.u32.f32 %r1, %r2, %r3;", "expected .u32 or .s32"},
      {"vset.u32.u32 %r1, %r2, %r3;", "a comparison is missing or does not belong here"},
      {"vshl.u32.u32.u32 %r1, %r2, %r3;", ".clamp or .wrap is missing or does not belong here"},
      {"vadd2.u32.u32.u32.min %r1, %r2, %r3, %r4;", "no such second operation"},
      {"vmad.u32.u32.u32.shr7.shr15 %r1, %r2, %r3, %r4;", "no such vmad"},
      {"vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4;", "no such negation"},
  });
}

TEST_CASE("decode errors: warp instructions that PTX does not have") {
  check_refusals({
      {"shfl.sync.b32 %r1, %r2, %r3, %r4, -1;", "expected .up, .down, .bfly or .idx and .b32"},
      {"shfl.sync.idx.b64 %d1, %d2, 1, 31, -1;", "expected .up, .down, .bfly or .idx and .b32"},
      {"vote.sync.ballot.pred %p1, %p2, -1;", "expected .all, .any, .uni and .pred, or .ballot and .b32"},
      {"match.sync.b32 %r1, %r2, -1;", "no such match"},
      {"match.any.sync.b16 %r1, %h2, -1;", "no such match"},
      {"redux.sync.add.b32 %r1, %r2, -1;", "no such redux"},
      {"redux.sync.and.s32 %r1, %r2, -1;", "no such redux"},
      {"redux.sync.min.max.f32 %f1, %f2, -1;", "no such redux"},
  });
}

}  // namespace lockstep::exec::test
