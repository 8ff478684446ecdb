// The statements of a function's body.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/operands.hpp"
#include "ptx/parse_state.hpp"
#include "ptx/scopes.hpp"
#include "ptx/source_lines.hpp"

namespace lockstep::ptx {

class BodyParser {
 public:
  /// The parameters are declared in `names` already.
  BodyParser(ParseState& state, Function& function, FunctionNames& names)
      : state_(state), lexer_(state.lexer), function_(function), names_(names), operands_(state, names) {}

  /// With '{' in hand: reads up to and with the matching '}'.
  void parse();

 private:
  struct LabelUse {
    std::string_view name;
    Place at;
    bool in_table = false;
    std::uint32_t index = 0;     // instruction, or branch table
    std::uint32_t position = 0;  // in the branch table
  };

  void open_scope();
  void close_scope();
  void statement();
  void directive();
  void registers();
  void variables();
  void location();
  SourceLines::Position position();
  void label(const Token& name);
  void branch_table(std::string_view name);
  void call_table(std::string_view name);
  void prototype(std::string_view name);
  void instruction();
  void branch(Instruction& instruction);
  void call(Instruction& instruction);
  void plain(Instruction& instruction);
  void declare(const Token& name, const Binding& binding);
  void use_label(bool in_table, std::uint32_t index, std::uint32_t position);
  void finish(Place end);

  ParseState& state_;
  Lexer& lexer_;
  Function& function_;
  FunctionNames& names_;
  OperandParser operands_;
  ScopedMap<std::uint32_t> labels_;  // Function::labels
  std::vector<LabelUse> uses_;       // not resolved yet
  std::vector<std::size_t> use_marks_;
  std::vector<Operand> scratch_;
  SourceLines source_;
};

}  // namespace lockstep::ptx
