// Operands of PTX instructions as references to rows and memory forms, in the function that is being decoded.
// Internal to src/exec.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exec/image.hpp"
#include "exec/layout.hpp"
#include "exec/translation.hpp"

namespace lockstep::exec {

class OperandDecoder {
 public:
  OperandDecoder(const ProgramImage& image, KernelLayout layout, Translation& out)
      : out_(out), program_(image.program()), layout_of_kernel_(std::move(layout)), image_(image) {}

  /// From here on operands are those of function `index` of the kernel, and errors name it.
  void enter_function(std::uint32_t index);

  /// The references of an operand: several where it is a vector or a pair. `type`: of each of them, for
  /// literals.
  void flatten(const ptx::Operand& operand, ptx::Type type, Operation& op, std::vector<OperandRef>& to);
  [[nodiscard]] OperandRef operand_of(const ptx::Operand& operand, ptx::Type type, Operation& op);
  [[nodiscard]] OperandRef register_operand(ptx::RegisterId reg) const;
  [[nodiscard]] OperandRef special_operand(const ptx::Operand& operand, Operation& op);
  [[nodiscard]] OperandRef symbol_operand(const ptx::Operand& operand);
  [[nodiscard]] ptx::Type source_type(std::size_t operand) const;
  void set_operands(Operation& op, const std::vector<OperandRef>& destinations,
                    const std::vector<OperandRef>& sources);

  [[nodiscard]] MemoryForm address_form(const ptx::Operand& address, ptx::Space space);
  void set_elements(MemoryForm& form, ptx::Type type, std::size_t count) const;
  [[nodiscard]] std::uint32_t add_memory(const MemoryForm& form);

  /// Throws an InputError that names file, line and instruction.
  [[noreturn]] void fail(const std::string& message) const;
  /// "vector_add.cu:12: " where the PTX says which source line the instruction comes from.
  [[nodiscard]] std::string source_prefix() const;

 protected:
  struct SymbolPlace {
    StateSpace state_space;
    std::uint64_t at;
  };
  [[nodiscard]] SymbolPlace place_of(ptx::Symbol symbol) const;
  [[nodiscard]] OperandRef frame_address(std::uint32_t offset);

  Translation& out_;
  const ptx::Program& program_;
  KernelLayout layout_of_kernel_;
  // While decoding a function:
  const ptx::Function* function_ = nullptr;
  FunctionLayout* layout_ = nullptr;
  FunctionCode* code_ = nullptr;
  const ptx::Instruction* inst_ = nullptr;

 private:
  [[nodiscard]] OperandRef constant(std::uint64_t bits);
  void check_width(const ptx::Operand& operand, ptx::Type type) const;
  [[nodiscard]] OperandRef immediate_operand(const ptx::Operand& operand, ptx::Type type);

  const ProgramImage& image_;
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::pair<ptx::Special, std::uint32_t>, std::uint32_t> fixed_;
};

}  // namespace lockstep::exec
