// Functions: header, directives, body.
#pragma once

#include "ptx/parse_state.hpp"

namespace lockstep::ptx {

/// With ".entry" or ".func" taken: reads a declaration or a definition into state.module.functions.
void parse_function(ParseState& state, Linkage linkage, bool entry);

/// ".file 1 "x.cu"" with ".file" taken.
void parse_file_directive(ParseState& state);
/// ".pragma "a", "b";" with ".pragma" taken.
void parse_pragma(Lexer& lexer, std::vector<std::string>& pragmas);
/// ".section .debug_info { ... }" with ".section" taken: skipped.
void skip_section(Lexer& lexer);

}  // namespace lockstep::ptx
