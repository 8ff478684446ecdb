// wgmma: products of a warpgroup.
#include <fmt/format.h>

#include "exec/decode.hpp"

namespace lockstep::exec {

using ptx::Mod;
using ptx::OperandKind;
using ptx::Type;

namespace {

/// Operands behind the matrices: what each product of these types has.
bool has_signs(Type type) { return type != Type::kB1 && type != Type::kS8 && type != Type::kU8; }
bool has_transposes(Type type) { return type == Type::kF16 || type == Type::kBf16; }

WarpgroupProduct product_of(const ptx::Form& form) {
  WarpgroupProduct p;
  p.shape = form.shape;
  if (form.types.size() != 3) return p;
  p.d = form.types[0];
  p.a = form.types[1];
  p.b = form.types[2];
  p.saturate = form.has(Mod::kSatfinite);
  p.sparse = form.has(Mod::kSp);
  return p;
}

}  // namespace

/// wgmma.fence has no effect: a warp's part of a product is complete when its instruction is.
void Decoder::decode_warpgroup_order(const Inst& inst, Operation& op) {
  op.handler = inst.has(Mod::kCommitGroup) ? Handler::kWarpgroupCommit
               : inst.has(Mod::kWaitGroup) ? Handler::kWarpgroupWait
                                           : Handler::kNothing;
  if (op.handler == Handler::kWarpgroupWait) op.detail = static_cast<std::uint32_t>(inst.operands.at(0).bits);
}

void Decoder::decode_warpgroup(const Inst& inst, Operation& op) {
  if (!inst.has(Mod::kMmaAsync)) return decode_warpgroup_order(inst, op);
  WarpgroupForm form;
  form.product = product_of(inst.form);
  WarpgroupProduct& p = form.product;
  if (!is_warpgroup_product(p)) fail("no such product");
  std::size_t next = 0;
  const auto take = [&]() -> const Op& {
    if (next >= inst.operands.size()) fail("an operand is missing");
    return inst.operands[next++];
  };
  const auto number = [&](std::int64_t low, std::int64_t high) {
    const Op& operand = take();
    const auto value = static_cast<std::int64_t>(operand.bits);
    if (operand.kind != OperandKind::kImmediate || value < low || value > high)
      fail(fmt::format("operand {}: expected a constant from {} to {}", next, low, high));
    return value;
  };
  std::vector<OperandRef> operands;
  flatten(take(), p.d, op, operands);
  form.results = static_cast<std::uint8_t>(operands.size());
  const unsigned expected = p.shape.n / 8u * (p.d == Type::kF16 ? 2 : 4);
  if (operands.size() != expected)
    fail(fmt::format("{} registers are given, {} expected", operands.size(), expected));
  const Op& a = take();
  form.a_in_registers = a.kind == OperandKind::kVector;
  flatten(a, Type::kB64, op, operands);
  if (form.a_in_registers && operands.size() != expected + 4)
    fail("expected 4 registers of the first matrix");
  form.b = operand_of(take(), Type::kB64, op);
  if (p.sparse) {
    form.metadata = operand_of(take(), Type::kB32, op);
    const auto most = static_cast<std::int64_t>(alu::sparse_selectors({p.a, p.shape.k, 0})) - 1;
    p.selector = static_cast<std::uint8_t>(number(0, most));
  }
  if (next < inst.operands.size()) {
    const Op& scale = take();
    form.accumulates = operand_of(scale, Type::kPred, op);
    form.accumulates_negated = scale.negated;
  }
  if (has_signs(p.a)) {
    p.negate_a = number(-1, 1) < 0;
    p.negate_b = number(-1, 1) < 0;
  }
  if (has_transposes(p.a)) {
    if (!form.a_in_registers) form.a_across = number(0, 1) != 0;
    form.b_across = number(0, 1) != 0;
  }
  if (next != inst.operands.size()) fail("too many operands");
  op.handler = Handler::kWarpgroup;
  op.operands = static_cast<std::uint32_t>(out_.operands.size());
  out_.operands.insert(out_.operands.end(), operands.begin(), operands.end());
  op.detail = static_cast<std::uint32_t>(out_.warpgroups.size());
  out_.warpgroups.push_back(form);
}

}  // namespace lockstep::exec
