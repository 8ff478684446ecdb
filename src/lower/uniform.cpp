#include "lower/uniform.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lower/accumulators.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

namespace {

constexpr std::array kOpcodes = {Opcode::kMov, Opcode::kAdd,  Opcode::kSub, Opcode::kAnd,
                                 Opcode::kOr,  Opcode::kXor,  Opcode::kNot, Opcode::kShl,
                                 Opcode::kShr, Opcode::kLop3, Opcode::kCvt, Opcode::kSetp};

bool has_uniform_form(const Instruction& i) {
  return !i.guard && std::ranges::find(kOpcodes, i.op()) != kOpcodes.end() && !ptx::is_float(i.form.type()) &&
         !ptx::is_float(i.form.last_type());
}

/// f(register) for what a product reads of its own warp's vector registers: accumulators, and a matrix that
/// is not in shared memory. The rest are descriptors and the predicate.
template <class F>
void for_each_vector_operand(const Instruction& product, F&& f) {
  for (const Operand& operand : product.operands)
    for (const Operand& element : operand.elements)
      if (element.kind == OperandKind::kRegister) f(element.reg);
}

bool is_product(const Instruction& i) { return adds_accumulators(i) != nullptr; }

}  // namespace

std::vector<bool> uniform_instructions(const ptx::Function& function) {
  std::vector<bool> found(function.instructions.size());
  if (std::ranges::none_of(function.instructions, is_product)) return found;
  std::vector<bool> vector(function.registers.size()), read(function.registers.size());
  const auto reads = [&](const Instruction& i, auto&& f) {
    for (const ptx::RegisterId id : ptx::register_use(i).reads) f(id);
  };
  // Registers that anything else reads or makes are not uniform; then, until nothing changes, what those are
  // made of.
  for (const Instruction& i : function.instructions) {
    const auto use = ptx::register_use(i);
    for (const ptx::RegisterId id : use.reads) read[id] = true;
    if (is_product(i)) for_each_vector_operand(i, [&](ptx::RegisterId id) { vector[id] = true; });
    if (is_product(i) || has_uniform_form(i)) continue;
    reads(i, [&](ptx::RegisterId id) { vector[id] = true; });
    for (const ptx::RegisterId id : use.writes) vector[id] = true;
  }
  const auto is_uniform = [&](const Instruction& i) {
    const auto use = ptx::register_use(i);
    return has_uniform_form(i) && !use.writes.empty() &&
           std::ranges::all_of(use.writes, [&](ptx::RegisterId id) { return read[id] && !vector[id]; });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& i : function.instructions)
      if (!is_product(i) && !is_uniform(i))
        reads(i, [&](ptx::RegisterId id) {
          changed = changed || !vector[id];
          vector[id] = true;
        });
  }
  for (std::size_t at = 0; at < found.size(); ++at) found[at] = is_uniform(function.instructions[at]);
  return found;
}

std::string uniform_opcode(const std::string& opcode) {
  constexpr std::array<std::string_view, 7> kForms = {"MOV", "IADD3", "LOP3", "SHF", "LEA", "ISETP", "PRMT"};
  const std::string_view base = std::string_view(opcode).substr(0, opcode.find('.'));
  return std::ranges::find(kForms, base) == kForms.end() ? opcode : "U" + opcode;
}

}  // namespace lockstep::lower
