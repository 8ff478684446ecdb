// The form of an instruction as the selection of its kernel sees it.
#pragma once

#include <span>
#include <string>

#include "exec/alu_lanes.hpp"
#include "ptx/instruction.hpp"

namespace lockstep::exec::alu {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Type;

/// A modifier that a form may have and the bit it stands for.
struct ModBit {
  Mod mod;
  unsigned bit;
};

/// Kernels of one operation by integer type; bit types take the unsigned one.
struct ByInteger {
  Kernel u16 = {}, s16 = {}, u32 = {}, s32 = {}, u64 = {}, s64 = {}, u16x2 = {}, s16x2 = {};
  [[nodiscard]] const Kernel& of(Type type) const;
};

class Form {
 public:
  Form(const ptx::Instruction& instruction, unsigned destination_bits);

  [[nodiscard]] Opcode opcode() const { return in_->form.op; }
  [[nodiscard]] std::size_t types() const { return in_->form.types.size(); }
  /// The i-th type; fails where there are fewer.
  [[nodiscard]] Type type(std::size_t i = 0) const;
  [[nodiscard]] bool is_signed(std::size_t i) const { return ptx::is_signed(type(i)); }
  [[nodiscard]] ptx::Shape shape() const { return in_->form.shape; }
  [[nodiscard]] bool has(Mod mod) const { return in_->form.has(mod); }
  /// Modifiers in the order written.
  [[nodiscard]] std::span<const Mod> mods() const { return {in_->form.mods.begin(), in_->form.mods.size()}; }
  /// The bits of the modifiers that are there; fails on any that is not in the list.
  [[nodiscard]] unsigned only(std::span<const ModBit> allowed) const;
  void no_mods() const { static_cast<void>(only({})); }
  /// Operands as written, destinations first.
  [[nodiscard]] const std::vector<Operand>& operands() const { return in_->operands; }
  /// Destinations and sources as LaneArgs has them: vectors and pairs flattened. Fails where there are fewer.
  [[nodiscard]] const Operand& source(std::size_t i) const;
  [[nodiscard]] int destinations() const { return destinations_; }
  [[nodiscard]] int sources() const { return static_cast<int>(sources_.size()); }
  /// The constant that source i must be.
  [[nodiscard]] u64 constant(std::size_t i) const;
  /// Width in bits of the first destination's register; 0 where it is not known.
  [[nodiscard]] unsigned destination_bits() const { return destination_bits_; }

  /// The kernel as this instruction's operation; fails when the kernel is not there or the operands do not
  /// fit it. `constants`: sources after those of the kernel, which `immediate` already holds.
  [[nodiscard]] LaneOp use(const Kernel& kernel, u64 immediate = 0, int constants = 0) const;
  /// Throws FormError.
  [[noreturn]] void fail(const std::string& why) const;

 private:
  const ptx::Instruction* in_;
  unsigned destination_bits_;
  int destinations_ = 0;
  std::vector<const Operand*> sources_;
};

}  // namespace lockstep::exec::alu
