// Pragmas between the statements of a function's body, such as the one that forbids to unroll the loop of
// which the next instruction is the first. They are kept among Function::labels, under names that no
// identifier can be.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

inline constexpr std::string_view kPragma = ".pragma ";

[[nodiscard]] inline std::string pragma_label(std::string_view text) {
  return std::string(kPragma).append(text);
}

[[nodiscard]] inline bool is_pragma(const Label& label) { return label.name.starts_with(kPragma); }

/// Whether one with that text stands before the instruction.
[[nodiscard]] inline bool has_pragma(const Function& function, std::uint32_t instruction,
                                     std::string_view text) {
  return std::ranges::any_of(function.labels, [&](const Label& l) {
    return l.instruction == instruction && is_pragma(l) && l.name.substr(kPragma.size()) == text;
  });
}

}  // namespace lockstep::ptx
