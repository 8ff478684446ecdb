// Constant expressions of PTX ("PTX ISA 9.0", section 4.5.4): operators on .s64, .u64 and .f64, as in C but
// that
// `~` and `%` work on .u64 and give .u64, and that shift counts are taken modulo 64, as ptxas does.
#pragma once

#include "ptx/lexer.hpp"

namespace lockstep::ptx {

struct Constant {
  Literal literal = Literal::kSigned;
  std::uint64_t bits = 0;

  [[nodiscard]] bool is_float() const { return literal == Literal::kFloat32 || literal == Literal::kFloat64; }
  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
};

/// True when the token in hand can begin a constant expression: a number, a sign, '~', '(', WARP_SZ.
[[nodiscard]] bool begins_constant(const Lexer& lexer);

/// Reads an expression and folds it. Division by zero, floats where integers must be, and more than 64 levels
/// of nesting fail.
[[nodiscard]] Constant parse_constant(Lexer& lexer);

/// Only up to the next '+' or '-' outside parentheses: one term of an address's offset.
[[nodiscard]] Constant parse_term(Lexer& lexer);

}  // namespace lockstep::ptx
