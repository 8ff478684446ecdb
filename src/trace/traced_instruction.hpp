// A static instruction as trace lines give it, and how it is decoded.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/instruction.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// Per line; the tracer of NVBit prints at most 5 sources.
inline constexpr std::uint64_t kMaxRegisterFields = 64;
inline constexpr std::uint64_t kMaxMemoryWidth = 65535;

/// Whether the immediate is part of the instruction: with another one it is another instruction.
[[nodiscard]] bool uses_immediate(OpClass c);

/// Why statistics cannot be right if this instruction occurs; null if there is no reason.
[[nodiscard]] const char* remark_for(const StaticInst& inst);

/// The opcode of a text as in TracedInstruction, with modifiers.
[[nodiscard]] std::string_view opcode_of(std::string_view text);

/// Parses `traced.text` and decodes it. Throws std::invalid_argument if it is malformed; the message says
/// what was found and what was expected.
[[nodiscard]] StaticInst decode_traced(const TracedInstruction& traced, std::uint32_t binary_version);

}  // namespace lockstep::trace
