// Appends machine instructions to a Code, in the function that is being lowered: where its values lie, and
// which constants have to be brought into registers first. Internal to src/lower.
#pragma once

#include <string>
#include <vector>

#include "lower/brought.hpp"
#include "lower/code.hpp"
#include "lower/l2_policies.hpp"
#include "lower/registers.hpp"
#include "lower/temporaries.hpp"

namespace lockstep::lower {

inline constexpr std::uint32_t kInstructionBytes = 16;

/// Below sm_90 parameters are operands of arithmetic, from there on they are loaded first; from sm_80 on
/// global memory is reached through a descriptor.
inline constexpr unsigned kLoadsParameters = 90, kHasWindow = 80;

class Emitter {
 public:
  using Operands = std::vector<const ptx::Operand*>;

  Emitter(unsigned arch, Passes passes, Code& code) : arch_(arch), passes_(passes), code_(code) {}

  /// How far the code is, to go back to.
  struct Mark {
    std::size_t instructions, runs, loops, executions, subroutines;
    std::uint32_t registers, jumped_over, pc;
  };
  [[nodiscard]] Mark mark() const;
  void back_to(const Mark& mark);

  /// Registers of the operand; empty when it is not a register.
  [[nodiscard]] std::vector<std::uint8_t> places(const ptx::Operand& operand) const;
  /// The first of them, or kNoRegister.
  [[nodiscard]] std::uint8_t place(const ptx::Operand& operand) const;
  void emit(const std::string& opcode, const std::vector<std::uint8_t>& destinations,
            const std::vector<std::uint8_t>& sources, unsigned width = 0, Carries carries = Carries::kNothing,
            std::int64_t immediate = 0);

  // What comes from the constant bank or is part of the machine code.
  void bring_constants(const Operands& read);
  void bring(const Constant& constant);
  void load_constant(const std::vector<std::uint8_t>& to);
  void window();
  [[nodiscard]] bool is_literal(const ptx::Operand& operand) const;

 protected:
  unsigned arch_;
  Passes passes_;
  Code& code_;
  // For the current function:
  const ptx::Function* function_ = nullptr;
  const RegisterAssignment* registers_ = nullptr;
  std::vector<bool> literals_;
  L2Policies l2_policies_;
  BroughtConstants* brought_ = nullptr;
  Temporaries* temporaries_ = nullptr;
  bool noting_ = false;  // going through the function to note what constants it brings
  // At hand: the run, the operation, and the PTX instruction as scheduled.
  std::size_t run_ = 0;
  std::uint32_t operation_ = 0, number_ = 0, place_ = 0;
  std::uint32_t pc_ = 0;
  bool on_uniform_ = false;  // uniform.hpp

 private:
  [[nodiscard]] bool loads_parameters() const;
  [[nodiscard]] bool is_wide(const Constant& constant) const;
};

}  // namespace lockstep::lower
