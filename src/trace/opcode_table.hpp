// Opcode text and operand lists -> StaticInst, for sm_50 to sm_100.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "trace/instruction.hpp"

namespace lockstep::trace {

/// One register field as the tracer printed it: R12, UR4, P0, UP2 ... Zero registers are kept here.
struct TracedRegister {
  RegSpace space = RegSpace::kVector;
  std::uint8_t index = 0;
};

/// nullopt when `text` is not a register name.
[[nodiscard]] std::optional<TracedRegister> parse_register(std::string_view text);

/// The content of one trace line, apart from mask and addresses.
struct InstructionText {
  std::uint32_t pc = 0;
  std::string_view opcode;  // with modifiers: "LDG.E.128.SYS"
  std::span<const TracedRegister> destinations, sources;
  std::uint32_t mem_width = 0;  // the traced width field; 0 = no addresses
  std::int64_t immediate = 0;
  bool has_immediate = false;
  std::uint32_t binary_version = 70;
};

/// Classifies the opcode and completes the operands: widths of vector loads and stores, 64-bit addresses,
/// FP64 and wide-multiply pairs, MMA fragments, inferred predicates, results that the tracer lists among the
/// sources. Never fails: an opcode that is not in the table gets its class default and known = false.
[[nodiscard]] StaticInst decode_instruction(const InstructionText& text);

}  // namespace lockstep::trace
