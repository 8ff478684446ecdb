// The opcode table as data; rows in opcodes_table.inc and opcodes_variants.inc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/instruction.hpp"

namespace lockstep::trace {

/// How wide the listed operands are, in 32-bit registers.
enum class OperandShape : std::uint8_t {
  kPlain,        // every operand 1
  kPairs,        // every operand 2 (FP64, packed FP32)
  kPairSources,  // sources 2, destination 1
  kPairResult,   // destination 2, sources 1
  kMaybePairs,   // kPairs with a modifier .64, .U64 or .S64, else kPlain
  kCounter,      // CS2R: destination 2 unless .32
  kWide,         // IMAD.WIDE: destination and addend 2
  kWideAddend,   // IMAD.HI: addend 2
  kConversion,   // by the formats among the modifiers
  kAccess,       // by access width and address space: load, store, atomic, reduction, async copy, constant
  kMatrix,       // LDSM, STSM, LDTM, STTM: one register per lane for each matrix or repetition
  kMma,          // fragments by the shape among the modifiers
  kWarpgroup,    // accumulators by the shape among the modifiers
};

/// Opcode flags; see opcodes_table.inc.
inline constexpr std::uint8_t kWritesPredicate = 1, kReadsPredicate = 2, kWritesUniformPredicate = 4,
                              kReadsUniformPredicate = 8, kPredicateFirst = 16, kFirstMatters = 32;

struct OpcodeRow {
  std::string_view name;
  OpClass op_class = OpClass::kAlu;
  MemSpace space = MemSpace::kNone;
  OperandShape shape = OperandShape::kPlain;
  std::uint8_t flags = 0;
};

struct OpcodeVariant {
  std::string_view name, modifier;  // modifier "" = any
  std::uint32_t first_version, last_version;
  OpClass op_class;
  OperandShape shape;
  std::uint8_t flags;
};

/// All rows, sorted by name, each name once.
[[nodiscard]] std::span<const OpcodeRow> opcode_rows();
[[nodiscard]] std::span<const OpcodeVariant> opcode_variants();

/// nullptr: not in the table.
[[nodiscard]] const OpcodeRow* find_opcode(std::string_view base);

/// The row to assume for a base opcode that is not in the table, by its prefix and by whether it has
/// addresses.
[[nodiscard]] OpcodeRow guess_opcode(std::string_view base, bool has_addresses, bool has_destination);

}  // namespace lockstep::trace
