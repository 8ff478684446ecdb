// Builds a Code: one function of the kernel after the other, one PTX instruction after the other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lower/brought.hpp"
#include "lower/code.hpp"
#include "lower/fusion.hpp"
#include "lower/predication.hpp"
#include "lower/registers.hpp"
#include "lower/schedule.hpp"
#include "lower/sequences.hpp"
#include "lower/temporaries.hpp"

namespace lockstep::lower {

/// Parameters are operands of arithmetic before, then loaded; global memory is reached through a descriptor.
inline constexpr unsigned kLoadsParameters = 90, kHasWindow = 80;

class Builder {
 public:
  Builder(const exec::Executable& kernel, unsigned arch, Passes passes, Code& code);
  void build();

 private:
  using Instruction = ptx::Instruction;

  void function(const exec::FunctionCode& function_code);
  void function(const exec::FunctionCode& function_code, const Predicated& shape);
  [[nodiscard]] std::vector<std::uint32_t> lengths(const exec::FunctionCode& function_code);
  [[nodiscard]] unsigned with_registers(const exec::FunctionCode& function_code, const Predicated& shape,
                                        const Schedule& schedule, unsigned target);
  struct Mark {  // how far the code is
    std::size_t instructions, runs, subroutines;
    std::uint32_t registers, jumped_over, pc;
  };
  [[nodiscard]] Mark mark() const;
  void back_to(const Mark& mark);
  void runs(const exec::FunctionCode& function_code, const Schedule& schedule, const Predicated& shape);
  void instruction(const Instruction& i, std::uint32_t number);
  [[nodiscard]] bool folded(const Instruction& i, std::uint32_t number);
  void fused(const Instruction& i, const Fused& both);

  // builder_forms.cpp: instructions that no table row can describe
  [[nodiscard]] bool special_form(const Instruction& i);
  void move(const Instruction& i);
  void memory(const Instruction& i);
  [[nodiscard]] const char* signal_suffix() const;
  void parameter(const ptx::Operand& data);
  void atomic(const Instruction& i);
  void multimem(const Instruction& i);
  void matrix(const Instruction& i);
  void matrix_move(const Instruction& i);
  void copy_async(const Instruction& i);
  void barrier(const Instruction& i);
  void fence(const Instruction& i);

  // builder_async.cpp: asynchronous copies, mbarriers, warpgroups
  [[nodiscard]] bool asynchronous_form(const Instruction& i);
  void warpgroup(const Instruction& i);
  void mbarrier(const Instruction& i);
  void bulk_copy(const Instruction& i);
  void texture(const Instruction& i);

  // builder_constants.cpp: what comes from the constant bank or is part of the machine code
  using Operands = std::vector<const ptx::Operand*>;
  void note_constants(const exec::FunctionCode& function_code, const Schedule& schedule,
                      const Predicated& shape);
  void bring_constants(const Operands& read);
  void bring(const Constant& constant);
  [[nodiscard]] bool loads_parameters() const;
  [[nodiscard]] bool is_wide(const Constant& constant) const;
  void load_constant(const std::vector<std::uint8_t>& to);
  void window();
  [[nodiscard]] bool is_literal(const ptx::Operand& operand) const;

  void sequence(const Instruction& i);
  void sequence(const Instruction& i, const std::string& key);
  struct Site;
  void steps(const std::vector<SequenceStep>& steps, const Site& site);
  [[nodiscard]] std::uint8_t resolve(const SequenceOperand& operand, const Site& site);
  [[nodiscard]] static const ptx::Operand* operand_of(const SequenceOperand& operand, const Site& site);
  [[nodiscard]] std::uint32_t subroutine(const Site& site);
  void subroutines();
  void guess(const Instruction& i);

  /// Registers of the operand, or none when it is no register.
  [[nodiscard]] std::vector<std::uint8_t> places(const ptx::Operand& operand) const;
  [[nodiscard]] std::uint8_t place(const ptx::Operand& operand) const;
  void emit(const std::string& opcode, const std::vector<std::uint8_t>& destinations,
            const std::vector<std::uint8_t>& sources, unsigned width = 0, Carries carries = Carries::kNothing,
            std::int64_t immediate = 0);
  void remark(const std::string& text) { remarks_.insert(text); }

  const exec::Executable& kernel_;
  unsigned arch_;
  Passes passes_;
  Code& code_;
  const ptx::Function* function_ = nullptr;
  const RegisterAssignment* registers_ = nullptr;
  std::vector<bool> literals_;
  BroughtConstants* brought_ = nullptr;
  bool noting_ = false;  // going through the function to note what constants it brings
  std::size_t run_ = 0;  // at hand
  const Fusions* fusions_ = nullptr;
  std::set<std::string> remarks_;
  std::uint32_t pc_ = 0, operation_ = 0,
                number_ = 0;  // number_: of the PTX instruction at hand, as scheduled
  Temporaries* temporaries_ = nullptr;
  unsigned values_ = 0;  // registers of the function at hand without temporaries
  struct Called {
    std::string key;
    Temporaries::Busy busy;  // where it is called
  };
  std::vector<Called> called_;  // the subroutines of the function at hand
};

}  // namespace lockstep::lower
