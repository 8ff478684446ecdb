// Constants: which of them an instruction names itself, and what brings the others.
#include <algorithm>

#include "lower/builder.hpp"

namespace lockstep::lower {

using ptx::OperandKind;

/// Goes through the function once for nothing else; what it emits is dropped.
void Builder::note_constants(const exec::FunctionCode& f, const Schedule& order, const Predicated& shape) {
  const Mark start = mark();
  Temporaries temporaries(*registers_, passes_.temporaries);
  temporaries_ = &temporaries;
  called_.clear();
  noting_ = true;
  runs(f, order, shape);
  noting_ = false;
  brought_->start_again();
  back_to(start);
}

bool Builder::is_literal(const ptx::Operand& operand) const {
  return operand.kind == OperandKind::kImmediate ||
         (operand.kind == OperandKind::kRegister && literals_[operand.reg]);
}

bool Builder::loads_parameters() const { return passes_.setup && arch_ >= kLoadsParameters; }

/// Whether the register of PTX that they stand for has 64 bits.
bool Builder::is_wide(const Constant& constant) const {
  return ptx::bits(function_->registers[static_cast<ptx::RegisterId>(constant.value)].type) == 64;
}

/// An arithmetic instruction can name one constant, of the constant bank where it reads one; moves bring what
/// else it reads into registers. From sm_90 on loads do so for what is in the constant bank: addresses go to
/// registers, the others to uniform ones, of which it can name one as it can a constant.
void Builder::bring_constants(const Operands& read) {
  using Kind = Constant::Kind;
  if (!passes_.integers) return;
  std::set<Constant> needed;
  for (const ptx::Operand* operand : read) {
    if (operand->kind == OperandKind::kImmediate && operand->bits != 0)
      needed.insert({Kind::kImmediate, operand->bits});
    if (operand->kind == OperandKind::kRegister && registers_->constant(operand->reg))
      needed.insert({literals_[operand->reg] ? Kind::kLiteral : Kind::kBank, operand->reg});
  }
  std::erase_if(needed, [&](const Constant& c) { return brought_->has(c); });
  if (loads_parameters()) {
    for (const Constant& c : needed)
      if (c.kind == Kind::kBank) bring(c);
    std::erase_if(needed, [this](const Constant& c) { return c.kind == Kind::kBank && is_wide(c); });
  }
  for (; needed.size() > 1; needed.erase(needed.begin())) bring(*needed.begin());
}

void Builder::bring(const Constant& constant) {
  if (noting_) return brought_->note(run_, constant);
  if (!brought_->bring(constant)) return;
  const auto temporary = [&] { return temporaries_->place(temporaries_->busy(number_), 0, false); };
  if (constant.kind == Constant::Kind::kWindow) return emit("ULDC.64", {}, {});
  if (constant.kind != Constant::Kind::kBank || !loads_parameters()) return emit("MOV", {temporary()}, {});
  if (!is_wide(constant)) return emit("ULDC", {}, {});
  emit("LDC.64", {temporary()}, {});
}

/// One value of the constant bank, into registers that PTX has for it.
void Builder::load_constant(const std::vector<std::uint8_t>& to) {
  if (to.empty()) return;
  if (loads_parameters()) return emit(to.size() > 1 ? "LDC.64" : "LDC", {to.front()}, {});
  for (const std::uint8_t at : to) emit("MOV", {at}, {});
}

/// What an access to global memory needs beside its address.
void Builder::window() {
  if (passes_.setup && arch_ >= kHasWindow) bring({Constant::Kind::kWindow, 0});
}

}  // namespace lockstep::lower
