// Builds a Code: one function of the kernel after the other, one PTX instruction after the other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lower/emitter.hpp"
#include "lower/fusion.hpp"
#include "lower/predication.hpp"
#include "lower/schedule.hpp"
#include "lower/sequences.hpp"
#include "ptx/control_flow.hpp"

namespace lockstep::lower {

class Builder : private Emitter {
 public:
  Builder(const exec::Executable& kernel, unsigned arch, Passes passes, Code& code, unsigned registers);
  void build();

 private:
  using Instruction = ptx::Instruction;

  void function(const exec::FunctionCode& function_code);
  void function(const exec::FunctionCode& function_code, const Predicated& shape);
  [[nodiscard]] std::vector<std::uint32_t> lengths(const exec::FunctionCode& function_code,
                                                   const Unrolled& all);
  void lower(const exec::FunctionCode& function_code, const Predicated& shape, const ptx::ControlFlow& flow,
             unsigned target, unsigned values);
  [[nodiscard]] unsigned with_registers(const exec::FunctionCode& function_code, const Predicated& shape,
                                        const Schedule& schedule, unsigned target,
                                        RegisterAssignment::Holes holes = RegisterAssignment::Holes::kKept);
  void runs(const exec::FunctionCode& function_code, const Schedule& schedule, const Predicated& shape);
  void instruction(const Instruction& i, std::uint32_t number);
  [[nodiscard]] bool folded(const Instruction& i, std::uint32_t number);
  void fused(const Instruction& i, const Fused& both);

  // builder_loops.cpp: loops unrolled in part
  [[nodiscard]] static std::vector<bool> repeated_copies(const Predicated& shape);
  void note_copies(const Predicated& shape, std::size_t first_loop, Run run, CodeRun& code);

  // builder_forms.cpp: instructions that no table row can describe
  [[nodiscard]] bool special_form(const Instruction& i);
  void move(const Instruction& i);
  void memory(const Instruction& i);
  [[nodiscard]] const char* signal_suffix() const;
  [[nodiscard]] std::string policy_suffix(const Instruction& i);
  void parameter(const ptx::Operand& data);
  void atomic(const Instruction& i);
  void multimem(const Instruction& i);
  void matrix(const Instruction& i);
  void matrix_move(const Instruction& i);
  void copy_async(const Instruction& i);
  void prefetch(const Instruction& i);
  void cluster_barrier(const Instruction& i);
  void barrier(const Instruction& i);
  void fence(const Instruction& i);

  // builder_async.cpp: asynchronous copies, mbarriers, warpgroups
  [[nodiscard]] bool asynchronous_form(const Instruction& i);
  void warpgroup(const Instruction& i);
  void close_products();
  void mbarrier(const Instruction& i);
  void bulk_copy(const Instruction& i);
  void texture(const Instruction& i);

  void note_constants(const exec::FunctionCode& function_code, const Schedule& schedule,
                      const Predicated& shape);

  void sequence(const Instruction& i);
  void sequence(const Instruction& i, const std::string& key);
  struct Site;
  void steps(const std::vector<SequenceStep>& steps, const Site& site);
  [[nodiscard]] std::uint8_t resolve(const SequenceOperand& operand, const Site& site);
  [[nodiscard]] static const ptx::Operand* operand_of(const SequenceOperand& operand, const Site& site);
  [[nodiscard]] std::uint32_t subroutine(const Site& site);
  void subroutines();
  void guess(const Instruction& i);
  void remark(const std::string& text) { remarks_.insert(text); }

  const exec::Executable& kernel_;
  unsigned known_registers_;  // 0: none
  const Fusions* fusions_ = nullptr;
  std::vector<bool> unread_;   // accumulators.hpp
  std::vector<bool> uniform_;  // uniform.hpp
  std::set<std::string> remarks_;
  unsigned values_ = 0;    // registers of the function at hand without temporaries
  unsigned launched_ = 0;  // registers that its threads begin with
  struct Called {
    std::string key;
    Temporaries::Busy busy;  // where it is called
  };
  std::vector<Called> called_;  // the subroutines of the function at hand
};

}  // namespace lockstep::lower
