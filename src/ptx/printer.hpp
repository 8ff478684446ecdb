// Module -> PTX text that parses to the same IR; for debugging, tests and messages.
#pragma once

#include <string>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

[[nodiscard]] std::string print(const Module& module);
/// One statement without the closing line end, e.g. "@%p1 add.s32 %r1, %r2, 4;".
[[nodiscard]] std::string print(const Instruction& instruction, const Function& function,
                                const Module& module);
/// "setp.lt.and.s32"
[[nodiscard]] std::string print(const Form& form);

}  // namespace lockstep::ptx
