// Statements as text, for the printer and for messages.
#pragma once

#include <string>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// "" for 0, "+8", "+-8" (ptxas knows no "-8" there)
[[nodiscard]] std::string offset_text(std::int64_t offset);
[[nodiscard]] std::string literal_text(Literal literal, std::uint64_t bits);

/// Names of one function of a module (or, with no function, of a module alone), and statements appended to
/// `text`.
class StatementPrinter {
 public:
  StatementPrinter(const Module& module, const Function* function, std::string& text)
      : functions_(module.functions), variables_(module.variables), function_(function), text_(text) {}
  /// For a function after linking.
  StatementPrinter(const Program& program, const Function* function, std::string& text)
      : functions_(program.functions), variables_(program.variables), function_(function), text_(text) {}

  [[nodiscard]] const std::string& symbol(Symbol s) const;
  /// Without the end of the line.
  void instruction(const Instruction& instruction);

 private:
  void call(const Instruction& instruction);
  void operand(const Operand& operand);
  void register_operand(const Operand& operand);
  void special(const Operand& operand);
  void address(const Operand& operand);
  void coordinates(const Operand& operand);
  void elements(const Operand& operand, std::string_view open, std::string_view separator,
                std::string_view close);
  [[nodiscard]] std::string named(const Operand& operand) const;

  const std::vector<Function>& functions_;
  const std::vector<Variable>& variables_;
  const Function* function_;
  std::string& text_;
};

}  // namespace lockstep::ptx
