// Declarations: variables with their initialisers, parameters of functions and prototypes.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/parse_state.hpp"

namespace lockstep::ptx {

/// A declared variable; its name as a view into the text, for the tables of names.
struct NamedVariable {
  Variable variable;
  std::string_view name;
};

/// With the state space (".global") in hand: reads up to and with ';'.
[[nodiscard]] std::vector<NamedVariable> parse_variables(ParseState& state, Linkage linkage);

struct NamedParameter {
  Parameter parameter;
  std::string_view name;
};

/// With '(' in hand: reads up to and with ')'. Offsets are those of a parameter buffer.
[[nodiscard]] std::vector<NamedParameter> parse_parameters(ParseState& state);

/// "= ..." behind a variable, with '=' taken. Completes the first dimension where it is not given.
void parse_initialiser(ParseState& state, Variable& variable);

/// Words between the state space and the name: alignment, vector width, type, attributes, pointer facts.
struct TypeWords {
  Type type{};
  std::uint8_t vector = 1;
  std::uint32_t align = 1;  // as written, otherwise the natural one
  bool managed = false, unified = false;
  bool pointer = false;
  Space pointer_space{};
  std::uint32_t pointer_align = 1;
};
[[nodiscard]] TypeWords parse_type_words(Lexer& lexer);

/// ".attribute(.managed, .unified(a, b))" with ".attribute" taken.
struct Attributes {
  bool managed = false, unified = false;
};
[[nodiscard]] Attributes parse_attributes(Lexer& lexer);

/// Bytes of `elements` values; fails above 1 TiB.
[[nodiscard]] std::uint64_t checked_size(const Lexer& lexer, const TypeWords& words,
                                         const std::vector<std::uint64_t>& dims);

}  // namespace lockstep::ptx
