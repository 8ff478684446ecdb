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

struct SequenceStep {
  std::string opcode;
  SequenceOperand destination;
  std::vector<SequenceOperand> sources;
};

/// nullptr when the table has no such key.
[[nodiscard]] const std::vector<SequenceStep>* find_sequence(std::string_view key);

struct SequenceText {
  std::string_view key, text;
};
/// The table as written, for tests.
[[nodiscard]] const std::vector<SequenceText>& sequence_texts();

}  // namespace lockstep::lower
