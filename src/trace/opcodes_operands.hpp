// From the registers that a trace line lists to all registers that the instruction reads and writes.
#pragma once

#include "trace/opcode_table.hpp"
#include "trace/opcodes_modifiers.hpp"
#include "trace/opcodes_rows.hpp"

namespace lockstep::trace {

/// Fills destinations and sources of `inst`, whose op_class, space, access_bytes and pc are set. Registers
/// that would not fit into the lists are left out; no real instruction has that many.
void complete_operands(StaticInst& inst, const InstructionText& text, const Opcode& opcode,
                       const OpcodeRow& row);

}  // namespace lockstep::trace
