// The forms that nvcc emitted for about 450 public programs and for samples of newer features (CUDA 13.0), as
// far as they work on registers only: each has a kernel.
#include <catch2/catch.hpp>
#include <sstream>

#include "exec/alu_fragment.hpp"
#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

struct Forms {
  const char *opcode, *operands;
  const char* modifiers;  ///< of each form, separated by spaces
};
const Forms kForms[] = {
    {"abs", "r,r", "f16 f32 f64 ftz.f32 s32"},
    {"activemask", "r", "b32"},
    {"add", "r,r,r", "cc.u32 f16x2 f32 f64 rm.f64 rn.f32 rn.f64 rp.f64 rz.f32 s16 s32 s64 u32 u64"},
    {"addc", "r,r,r", "cc.u32 u32"},
    {"and", "r,r,r", "b16 b32 b64 pred"},
    {"bfi", "r,r,r,r,r", "b32 b64"},
    {"bfind", "r,r", "shiftamt.u32 u32"},
    {"bmsk", "r,r,r", "clamp.b32"},
    {"brev", "r,r", "b32"},
    {"clz", "r,r", "b32 b64"},
    {"copysign", "r,r,r", "f32 f64"},
    {"cos", "r,r", "approx.f32"},
    {"cvt", "r,r",
     "f32.f16 f64.f32 rmi.f32.f32 rn.f16.f32 rn.f32.f64 rn.f32.s16 rn.f32.s32 rn.f32.u16 "
     "rn.f32.u32 rn.f32.u64 rn.f64.s32 rn.f64.s64 rn.f64.u32 rna.tf32.f32 rni.f32.f32 "
     "rni.s32.f32 rni.s32.f64 rpi.f32.f32 rpi.f64.f64 rzi.f32.f32 rzi.f64.f64 rzi.s32.f32 "
     "rzi.s32.f64 rzi.u32.f32 rzi.u32.f64 rzi.u64.f32 s32.s16 s32.s8 s64.s32 sat.f32.f32 "
     "u16.u32 u16.u64 u32.u16 u32.u64 u64.u16 u64.u32"},
    {"div", "r,r,r", "approx.f32 approx.ftz.f32 rm.f64 rn.f32 rn.f64 rp.f64 s32 u16 u32 u64"},
    {"dp2a", "r,r,r,r", "lo.s32.s32"},
    {"dp4a", "r,r,r,r", "s32.s32"},
    {"elect", "r|r,r", "sync"},
    {"ex2", "r,r", "approx.f32 approx.ftz.f32"},
    {"fma", "r,r,r,r", "rm.f32 rn.f16 rn.f16x2 rn.f32 rn.f32x2 rn.f64 rn.ftz.f32 rz.f32"},
    {"lg2", "r,r", "approx.f32 approx.ftz.f32"},
    {"mad", "r,r,r,r", "lo.cc.u32 lo.s32 wide.u32"},
    {"madc", "r,r,r,r", "hi.cc.u32 hi.u32 lo.cc.u32"},
    {"match", "r,r,r", "any.sync.b32 any.sync.b64"},
    {"max", "r,r,r", "f32 f64 s32 u16 u32 u64"},
    {"min", "r,r,r", "f32 f64 s32 s64 u16 u32 u64"},
    {"mov", "r,r", "b16 b32 b64 f32 f64 pred s32 u16 u32 u64"},
    {"mul", "r,r,r",
     "f16x2 f32 f64 ftz.f32 hi.s32 hi.u32 lo.s16 lo.s32 lo.s64 lo.u32 rm.f64 rn.f32 rn.f64 "
     "rp.f64 wide.s16 wide.s32 wide.u16 wide.u32"},
    {"neg", "r,r", "f32 f64 s32 s64"},
    {"not", "r,r", "b32 b64 pred"},
    {"or", "r,r,r", "b16 b32 b64 pred"},
    {"popc", "r,r", "b32"},
    {"prmt", "r,r,r,r", "b32"},
    {"rcp", "r,r", "approx.ftz.f32 approx.ftz.f64 rn.f32 rn.f64"},
    {"redux", "r,r,r", "sync.add.u32 sync.min.u32"},
    {"rem", "r,r,r", "s32 u32"},
    {"rsqrt", "r,r", "approx.f32 approx.f64"},
    {"selp", "r,r,r,r", "b16 b32 b64 f32 f64 s32 u16 u32 u64"},
    {"set", "r,r,r", "eq.f16.f16 eq.f16x2.f16x2"},
    {"setp", "r,r,r",
     "eq.b16 eq.b32 eq.b64 eq.f32 eq.f64 eq.ftz.f32 eq.s16 eq.s32 eq.s64 ge.f32 ge.f64 "
     "ge.s32 ge.s64 ge.u32 ge.u64 geu.f32 geu.f64 geu.ftz.f32 gt.f16 gt.f32 gt.f64 gt.s16 "
     "gt.s32 gt.s64 gt.u16 gt.u32 gt.u64 gtu.f32 gtu.f64 le.f32 le.f64 le.s32 le.s64 "
     "le.u16 le.u32 le.u64 leu.f32 leu.f64 lt.f32 lt.f64 lt.ftz.f32 lt.s16 lt.s32 lt.s64 "
     "lt.u16 lt.u32 lt.u64 ltu.f32 ltu.f64 nan.f64 ne.b32 ne.s16 ne.s32 ne.s64 ne.u32 "
     "neu.f32 neu.f64 num.f64"},
    {"shfl", "r|r,r,r,r,r", "sync.bfly.b32 sync.down.b32 sync.idx.b32 sync.up.b32"},
    {"shl", "r,r,r", "b16 b32 b64"},
    {"shr", "r,r,r", "b32 s16 s32 s64 u16 u32 u64"},
    {"sin", "r,r", "approx.f32"},
    {"sqrt", "r,r", "approx.ftz.f32 rn.f32 rn.f64"},
    {"sub", "r,r,r", "cc.u32 f32 f64 ftz.f32 rn.f32 s16 s32 s64"},
    {"subc", "r,r,r", "cc.u32 u32"},
    {"vabsdiff4", "r,r,r,r", "u32.u32.u32.add"},
    {"vote", "r,r,r", "ballot.sync.b32 sync.all.pred sync.any.pred sync.ballot.b32"},
    {"xor", "r,r,r", "b16 b32 b64 pred"},
};

const char* const kMatrixForms[] = {
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.col.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16",
    "wmma.mma.sync.aligned.col.col.m16n16k16.f16.f16",
    "wmma.mma.sync.aligned.row.row.m16n16k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.row.row.m32n8k16.f32.f32",
    "wmma.mma.sync.aligned.row.row.m32n8k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.row.row.m8n32k16.f32.f32",
    "wmma.mma.sync.aligned.row.row.m8n32k16.f16.f16",
    "wmma.mma.sync.aligned.row.row.m8n32k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16",
    "wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16",
    "wmma.mma.sync.aligned.row.row.m16n16k16.s32.s8.s8.s32",
    "wmma.mma.sync.aligned.row.row.m32n8k16.s32.s8.s8.s32",
    "wmma.mma.sync.aligned.row.row.m8n32k16.s32.s8.s8.s32",
    "wmma.mma.sync.aligned.col.col.m16n16k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.col.col.m32n8k16.f32.f32",
    "wmma.mma.sync.aligned.col.col.m32n8k16.f16.f16",
    "wmma.mma.sync.aligned.row.row.m32n8k16.f16.f16",
    "wmma.mma.sync.aligned.col.col.m32n8k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.col.col.m8n32k16.f32.f32",
    "wmma.mma.sync.aligned.col.col.m8n32k16.f16.f16",
    "wmma.mma.sync.aligned.col.col.m8n32k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32",
};

/// Operands in PTX's numbers of registers.
std::string matrix_operands(const ptx::Form& form) {
  const bool wmma = form.op == ptx::Opcode::kWmma, brief = form.types.size() == 2;
  const auto registers = [&](exec::MatrixRole role, ptx::Type type) {
    const auto f =
        wmma ? exec::wmma_fragment(role, form.shape, type) : exec::mma_fragment(role, form.shape, type);
    return register_vector(f.value().registers);
  };
  using enum exec::MatrixRole;
  return registers(kAccumulator, form.types[0]) + "," +
         registers(kA, brief ? ptx::Type::kF16 : form.types[1]) + "," +
         registers(kB, brief ? ptx::Type::kF16 : form.types[2]) + "," +
         registers(kAccumulator, form.last_type());
}

}  // namespace

TEST_CASE("Every register-only form that programs use has a kernel", "[exec][forms]") {
  int count = 0;
  for (const Forms& forms : kForms) {
    std::istringstream words(forms.modifiers);
    for (std::string modifiers; words >> modifiers; ++count) {
      const std::string form = std::string(forms.opcode) + "." + modifiers;
      INFO(form);
      std::optional<exec::LaneOp> op;
      CHECK_NOTHROW(op = exec::select_lane_op(instruction(form, forms.operands)));
      CHECK((op && op->fn));
    }
  }
  for (const char* form : kMatrixForms) {
    INFO(form);
    std::optional<exec::LaneOp> op;
    CHECK_NOTHROW(op = exec::select_lane_op(instruction(form, matrix_operands(instruction(form, "").form))));
    CHECK((op && op->fn));
    ++count;
  }
  CHECK(count == 309);
}

TEST_CASE("What works on memory or control is the executor's", "[exec][forms]") {
  for (const char* form :
       {"ld.global.u32", "st.shared.f32", "bra.uni", "bar.sync", "cvta.to.global.u64", "atom.global.add.u32",
        "tex.2d.f32.f32", "call", "ret", "membar.gl", "nanosleep.u32", "red.global.add.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "isspacep.shared", "mapa.u64", "trap"}) {
    INFO(form);
    CHECK_FALSE(exec::select_lane_op(instruction(form, "r,r")));
  }
}

}  // namespace lockstep::test
