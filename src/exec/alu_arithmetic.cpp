// Floating-point arithmetic with IEEE rounding ("PTX ISA 9.0", 9.7.3 to 9.7.5): add sub mul fma mad div rcp
// sqrt, in f32, f32x2, f64, f16, f16x2, bf16 and bf16x2.
#include "exec/alu_arithmetic.hpp"

#include "exec/alu_families.hpp"

namespace lockstep::exec::alu {
namespace {

template <template <class, Post> class Op, Opcode kOp>
inline constexpr Row kBinaryPacks[] = {
    {kOp, Type::kF16, 0, alu::kernel<&Op<F16, Post::kNone>::apply>},
    {kOp, Type::kF16, kFtz, rare_kernel<&Op<F16Ftz, Post::kNone>::apply>},
    {kOp, Type::kF16, kSat, rare_kernel<&Op<F16, Post::kSat>::apply>},
    {kOp, Type::kF16, kFtz | kSat, rare_kernel<&Op<F16Ftz, Post::kSat>::apply>},
    {kOp, Type::kF16x2, 0, alu::kernel<pack2<F16, u32, Op>>},
    {kOp, Type::kF16x2, kFtz, rare_kernel<pack2<F16Ftz, u32, Op>>},
    {kOp, Type::kF16x2, kSat, rare_kernel<pack2<F16, u32, Op, Post::kSat>>},
    {kOp, Type::kF16x2, kFtz | kSat, rare_kernel<pack2<F16Ftz, u32, Op, Post::kSat>>},
    {kOp, Type::kBf16, 0, alu::kernel<&Op<Bf16, Post::kNone>::apply>},
    {kOp, Type::kBf16x2, 0, alu::kernel<pack2<Bf16, u32, Op>>},
};
constexpr Row kFmaPacks[] = {
    {Opcode::kFma, Type::kF16, 0, alu::kernel<&Fma<F16, Post::kNone>::apply>},
    {Opcode::kFma, Type::kF16, kFtz, rare_kernel<&Fma<F16Ftz, Post::kNone>::apply>},
    {Opcode::kFma, Type::kF16, kSat, rare_kernel<&Fma<F16, Post::kSat>::apply>},
    {Opcode::kFma, Type::kF16, kFtz | kSat, rare_kernel<&Fma<F16Ftz, Post::kSat>::apply>},
    {Opcode::kFma, Type::kF16, kRelu, rare_kernel<&Fma<F16, Post::kRelu>::apply>},
    {Opcode::kFma, Type::kF16, kFtz | kRelu, rare_kernel<&Fma<F16Ftz, Post::kRelu>::apply>},
    {Opcode::kFma, Type::kF16x2, 0, alu::kernel<pack3<F16, u32, Fma>>},
    {Opcode::kFma, Type::kF16x2, kFtz, rare_kernel<pack3<F16Ftz, u32, Fma>>},
    {Opcode::kFma, Type::kF16x2, kSat, rare_kernel<pack3<F16, u32, Fma, Post::kSat>>},
    {Opcode::kFma, Type::kF16x2, kFtz | kSat, rare_kernel<pack3<F16Ftz, u32, Fma, Post::kSat>>},
    {Opcode::kFma, Type::kF16x2, kRelu, rare_kernel<pack3<F16, u32, Fma, Post::kRelu>>},
    {Opcode::kFma, Type::kF16x2, kFtz | kRelu, rare_kernel<pack3<F16Ftz, u32, Fma, Post::kRelu>>},
    {Opcode::kFma, Type::kBf16, 0, alu::kernel<&Fma<Bf16, Post::kNone>::apply>},
    {Opcode::kFma, Type::kBf16, kRelu, rare_kernel<&Fma<Bf16, Post::kRelu>::apply>},
    {Opcode::kFma, Type::kBf16x2, 0, alu::kernel<pack3<Bf16, u32, Fma>>},
    {Opcode::kFma, Type::kBf16x2, kRelu, rare_kernel<pack3<Bf16, u32, Fma, Post::kRelu>>},
};

// 16-bit formats round to nearest only.
constexpr std::span<const Row> kHalfTables[] = {kBinaryPacks<Add, Opcode::kAdd>,
                                                kBinaryPacks<Sub, Opcode::kSub>,
                                                kBinaryPacks<Mul, Opcode::kMul>, kFmaPacks};

enum Rounding : unsigned { kRn = 1, kRz = 2, kRm = 4, kRp = 8 };
constexpr unsigned kRounding = kRn | kRz | kRm | kRp;
constexpr ModBit kMods[] = {{Mod::kRn, kRn},   {Mod::kRz, kRz},   {Mod::kRm, kRm},    {Mod::kRp, kRp},
                            {Mod::kFtz, kFtz}, {Mod::kSat, kSat}, {Mod::kRelu, kRelu}};

}  // namespace

LaneOp select_arithmetic(const Form& form) {
  const unsigned all = form.only(kMods);
  const unsigned rounding = all & kRounding, flags = all & ~kRounding;
  if (form.types() != 1) form.fail("mixed types are not supported");
  if (std::popcount(rounding) > 1) form.fail("expected one rounding mode");
  const Opcode op = form.opcode();
  const bool must_round =
      op == Opcode::kFma || op == Opcode::kDiv || op == Opcode::kRcp || op == Opcode::kSqrt;
  if (must_round && rounding == 0) form.fail("expected a rounding mode");
  if (rounding == kRz) return select_directed(form, Direction::kZero, flags);
  if (rounding == kRm) return select_directed(form, Direction::kDown, flags);
  if (rounding == kRp) return select_directed(form, Direction::kUp, flags);
  if (const Kernel* kernel = find(kRoundedTables, op, form.type(), flags)) return form.use(*kernel);
  if (const Kernel* kernel = find(kHalfTables, op, form.type(), flags)) return form.use(*kernel);
  form.fail("no such floating-point form");
}

}  // namespace lockstep::exec::alu
