// Values that machine code takes from the constant bank or from the instruction itself.
#pragma once

#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// Whether the launch puts a special register's value into the constant bank.
[[nodiscard]] bool in_constant_bank(ptx::Special special);

/// An instruction of the arithmetic pipes, which may name one constant.
[[nodiscard]] bool takes_constant(const ptx::Instruction& i);

/// By register: its only write is an immediate or a symbol's address, or a copy of such a value. With
/// `computed` also what arithmetic and conversions make of such values alone: ptxas 13.0 does it (not
/// divisions and roots, which are sequences there, too).
[[nodiscard]] std::vector<bool> literals(const ptx::Function& function, bool computed);

/// By register: it never takes a register of the machine, because its only write is a kernel's parameter, an
/// immediate, a symbol's address or a special register of the constant bank (or a copy of such a value), and
/// all that reads it can have a constant operand: arithmetic can; an address in shared memory, a shuffle's
/// lanes and masks can be immediates; other addresses, stored data and what goes to
/// other units cannot.
/// Without `immediates` those of addresses and shuffles need registers.
[[nodiscard]] std::vector<bool> constant_operands(const ptx::Function& function, bool immediates = true);

}  // namespace lockstep::lower
