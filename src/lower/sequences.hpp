// The table of sequences, parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::lower {

/// A place in a sequence: an operand of the PTX instruction or a temporary, and which 32-bit half.
struct SequenceOperand {
  enum class Kind : std::uint8_t { kNone, kDestination, kSource, kTemporary } kind = Kind::kNone;
  std::uint8_t number = 0;
  bool high = false;
};

/// Which lanes execute a step: those that take the slow path (exec/slow_path.hpp) or those that do not.
/// kIfAny: all, and a warp that has none of them does not issue it.
enum class Lanes : std::uint8_t { kAll, kSlow, kUsual, kIfAny };

struct SequenceStep {
  std::string opcode;
  Lanes lanes = Lanes::kAll;
  std::uint32_t skipped = 0;  // instructions before it that a jump leaves out
  SequenceOperand destination;
  std::vector<SequenceOperand> sources;
};

/// nullptr when the table has no such key. The subroutine that CALL in sequence KEY calls is KEY.slow.
[[nodiscard]] const std::vector<SequenceStep>* find_sequence(std::string_view key);

struct SequenceText {
  std::string_view key, text;
};
/// The table as written, for tests.
[[nodiscard]] const std::vector<SequenceText>& sequence_texts();

}  // namespace lockstep::lower
