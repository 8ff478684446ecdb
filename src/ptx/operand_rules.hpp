// Which operands an instruction takes: their number, and what each may be (table_operands.inc).
#pragma once

#include <span>

#include "ptx/instruction.hpp"
#include "ptx/lexer.hpp"

namespace lockstep::ptx {

/// Fails at `at` when `operands` are not those that the form takes: too few, too many, or one of another
/// kind. What is behind the parser may rely on it. Operands of `call` are not looked at. Sizes of matrix
/// fragments and types of registers are not checked.
void check_operands(const Form& form, std::span<const Operand> operands, const Lexer& lexer, Place at);

}  // namespace lockstep::ptx
