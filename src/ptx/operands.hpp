// Operands of instructions.
#pragma once

#include "ptx/parse_state.hpp"
#include "ptx/scopes.hpp"

namespace lockstep::ptx {

class OperandParser {
 public:
  OperandParser(ParseState& state, FunctionNames& names)
      : state_(state), lexer_(state.lexer), names_(names) {}

  /// Any operand of an instruction other than a label, with p|q pairs.
  [[nodiscard]] Operand operand();
  /// "(a, b, ...)" of a call.
  [[nodiscard]] Operand list();
  /// A predicate register, of a guard or behind '!'.
  [[nodiscard]] RegisterId predicate();
  /// Whether the operands that follow may be registers behind '-', as those of vmad may.
  void allow_negation(bool allowed) { negation_ = allowed; }

 private:
  Operand whole();    // without a pair
  Operand element();  // without braces and brackets
  [[nodiscard]] bool at_negated_register() const;
  Operand negated_register();
  Operand named();
  Operand vector();
  Operand address();
  Operand special(const SpecialName& found);
  Operand bound(std::string_view name, const Binding& binding);
  Operand of_register(std::string_view name, const Binding& binding);
  Operand of_symbol(Symbol symbol);
  void add_base(Operand& address);
  void add_offset(Operand& operand);
  void add_selector(Operand& operand);

  ParseState& state_;
  Lexer& lexer_;
  FunctionNames& names_;
  bool negation_ = false;
};

}  // namespace lockstep::ptx
