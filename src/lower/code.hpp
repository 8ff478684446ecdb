// A PTX kernel as the machine code that stands for it in the timing model: SASS-like instructions, in the
// text form of a trace, for each PTX instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/executable.hpp"
#include "trace/traced_instruction.hpp"

namespace lockstep::lower {

/// Whether an instruction carries the addresses that the executor recorded; of cp.async the source's.
enum class Carries : std::uint8_t { kNothing, kFirst };

struct MachineInstruction {
  std::uint32_t pc = 0;  // bytes; functions lie at disjoint ranges
  std::string text;      // as trace::TracedInstruction::text
  std::int64_t immediate = 0;
  Carries carries = Carries::kNothing;
};

/// The machine code of an executable: that of operation i is instructions()[first(i)] to [first(i + 1)), in
/// order, and may be empty (what a compiler folds into other instructions).
class Code {
 public:
  /// `arch`: compute capability * 10; it selects instructions that only some have.
  Code(const exec::Executable& kernel, unsigned arch);

  [[nodiscard]] const std::vector<MachineInstruction>& instructions() const { return instructions_; }
  [[nodiscard]] std::uint32_t first(std::uint32_t operation) const { return first_[operation]; }
  /// Registers of a thread that the assignment used; the launch has at least as many.
  [[nodiscard]] std::uint32_t registers() const { return registers_; }
  /// Forms whose length is a guess, e.g. "tex": each once, sorted.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  friend class Builder;
  std::vector<MachineInstruction> instructions_;
  std::vector<std::uint32_t> first_;
  std::uint32_t registers_ = 0;
  std::vector<std::string> remarks_;
};

}  // namespace lockstep::lower
