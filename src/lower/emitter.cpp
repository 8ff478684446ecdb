#include "lower/emitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lower/uniform.hpp"

namespace lockstep::lower {

using ptx::OperandKind;

Emitter::Mark Emitter::mark() const {
  return {code_.instructions_.size(), code_.runs_.size(), code_.loops_.size(), code_.executions_.size(),
          code_.subroutines_.size(),  code_.registers_,   code_.jumped_over_,  pc_};
}

void Emitter::back_to(const Mark& mark) {
  code_.instructions_.resize(mark.instructions);
  code_.runs_.resize(mark.runs);
  code_.loops_.resize(mark.loops);
  code_.executions_.resize(mark.executions);
  code_.subroutines_.resize(mark.subroutines);
  code_.registers_ = mark.registers;
  code_.jumped_over_ = mark.jumped_over;
  pc_ = mark.pc;
}

std::vector<std::uint8_t> Emitter::places(const ptx::Operand& operand) const {
  std::vector<std::uint8_t> found;
  const auto add = [&](ptx::RegisterId id) {
    if (const std::uint8_t p = (*registers_)[id]; p != kNoRegister) found.push_back(p);
  };
  if (operand.kind == OperandKind::kRegister) add(operand.reg);
  if (operand.kind == OperandKind::kAddress && operand.base == ptx::AddressBase::kRegister) add(operand.reg);
  for (const ptx::Operand& element : operand.elements)
    for (const std::uint8_t p : places(element)) found.push_back(p);
  return found;
}

std::uint8_t Emitter::place(const ptx::Operand& operand) const {
  const auto all = places(operand);
  return all.empty() ? kNoRegister : all.front();
}

void Emitter::emit(const std::string& opcode, const std::vector<std::uint8_t>& destinations,
                   const std::vector<std::uint8_t>& sources, unsigned width, Carries carries,
                   std::int64_t immediate) {
  constexpr std::size_t kMaxSources = 5;  // as a trace has
  std::string text = std::to_string(destinations.size());
  for (const std::uint8_t d : destinations) text += fmt::format(" R{}", d);
  const std::size_t count = std::min(sources.size(), kMaxSources);
  text += fmt::format(" {} {}", on_uniform_ ? uniform_opcode(opcode) : opcode, count);
  for (std::size_t s = 0; s < count; ++s) text += fmt::format(" R{}", sources[s]);
  text += fmt::format(" {}", width);
  code_.instructions_.push_back({pc_, std::move(text), immediate, carries, operation_});
  code_.instructions_.back().place = place_;
  pc_ += kInstructionBytes;
}

bool Emitter::is_literal(const ptx::Operand& operand) const {
  return operand.kind == OperandKind::kImmediate ||
         (operand.kind == OperandKind::kRegister && literals_[operand.reg]);
}

bool Emitter::loads_parameters() const { return passes_.setup && arch_ >= kLoadsParameters; }

/// Whether the register of PTX that they stand for has 64 bits.
bool Emitter::is_wide(const Constant& constant) const {
  return ptx::bits(function_->registers[static_cast<ptx::RegisterId>(constant.value)].type) == 64;
}

/// An arithmetic instruction can name one constant, of the constant bank where it reads one; moves bring what
/// else it reads into registers. From sm_90 on loads do so for what is in the constant bank: addresses go to
/// registers, the others to uniform ones, of which it can name one as it can a constant.
void Emitter::bring_constants(const Operands& read) {
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
  const bool uniform = std::exchange(on_uniform_, false);  // others may read them
  for (; needed.size() > 1; needed.erase(needed.begin())) bring(*needed.begin());
  on_uniform_ = uniform;
}

void Emitter::bring(const Constant& constant) {
  if (noting_) return brought_->note(run_, constant);
  if (!brought_->bring(constant)) return;
  const auto temporary = [&] { return temporaries_->place(temporaries_->busy(number_), 0, false); };
  if (constant.kind == Constant::Kind::kWindow) return emit("ULDC.64", {}, {});
  if (constant.kind != Constant::Kind::kBank || !loads_parameters()) return emit("MOV", {temporary()}, {});
  if (!is_wide(constant)) return emit("ULDC", {}, {});
  emit("LDC.64", {temporary()}, {});
}

/// One value of the constant bank, into registers that PTX has for it.
void Emitter::load_constant(const std::vector<std::uint8_t>& to) {
  if (to.empty()) return;
  if (loads_parameters()) return emit(to.size() > 1 ? "LDC.64" : "LDC", {to.front()}, {});
  for (const std::uint8_t at : to) emit("MOV", {at}, {});
}

/// What an access to global memory needs beside its address.
void Emitter::window() {
  if (passes_.setup && arch_ >= kHasWindow) bring({Constant::Kind::kWindow, 0});
}

}  // namespace lockstep::lower
