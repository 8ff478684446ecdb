// A PTX kernel as the machine code that stands for it in the timing model: SASS-like instructions, in the
// text form of a trace, for each PTX instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/executable.hpp"
#include "lower/passes.hpp"
#include "lower/sequences.hpp"
#include "trace/traced_instruction.hpp"

namespace lockstep::lower {

/// Whether an instruction carries the addresses that the executor recorded; of cp.async the source's.
enum class Carries : std::uint8_t { kNothing, kFirst };

inline constexpr std::uint32_t kNoOperation = ~0u, kNoSubroutine = ~0u;

struct MachineInstruction {
  std::uint32_t pc = 0;  // bytes; functions lie at disjoint ranges
  std::string text;      // as trace::TracedInstruction::text
  std::int64_t immediate = 0;
  Carries carries = Carries::kNothing;
  std::uint32_t operation = 0;  // of the executable, whose execution this is (part of); none of subroutines
  Lanes lanes = Lanes::kAll;    // of those that execute the operation
  std::uint32_t calls = kNoSubroutine;  // Code::subroutines()
  std::uint32_t place = 0;              // in its run: which of the executions that it consists of
};

/// Instructions that lanes execute which call them.
struct Subroutine {
  std::uint32_t first = 0, end = 0;  // Code::instructions()
};

/// Operations that a warp executes one after the other, and the machine instructions that stand for them: in
/// another order (schedule.hpp), none for what a compiler folds into other instructions. The iterations of an
/// unrolled loop are one run, or several.
struct CodeRun {
  std::uint32_t first_execution = 0, operations = 0;  // Code::executions()
  std::uint32_t first = 0, end = 0;                   // Code::instructions()
  bool has_optional = false;          // some are under a branch that is predicated (predication.hpp)
  bool has_slow_path = false;         // some are executed by some lanes, or issued by some warps
  bool is_added = false;              // no execution is recorded of any: they only choose what comes next
  std::uint32_t loop = kNoOperation;  // Code::loops(): copies of that loop's body begin here
};

/// Of a loop unrolled in part: runs [first, end) that are a number of iterations.
struct RunsOfCopies {
  std::uint32_t first = 0, end = 0;
};
/// The most iterations first.
using CodeLoop = std::vector<RunsOfCopies>;

/// What of a MachineInstruction each execution needs.
struct MachineStep {
  std::uint32_t place = 0;  // in the run
  bool carries = false;
  Lanes lanes = Lanes::kAll;
  std::uint32_t calls = kNoSubroutine;
};

/// The machine code of an executable, in the order of its runs.
class Code {
 public:
  /// `arch`: compute capability * 10; it selects instructions that only some have. `registers`: of a thread,
  /// within which instructions are scheduled; 0: as many as values and launch bounds suggest.
  Code(const exec::Executable& kernel, unsigned arch, Passes passes = {}, unsigned registers = 0);

  [[nodiscard]] const std::vector<MachineInstruction>& instructions() const { return instructions_; }
  /// By instruction.
  [[nodiscard]] const std::vector<MachineStep>& steps() const { return steps_; }
  /// How many instructions the machine code has: also those of subroutines that lanes jump over.
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(instructions_.size()) + jumped_over_;
  }
  [[nodiscard]] const std::vector<CodeRun>& runs() const { return runs_; }
  /// The first run that has the operation; of a loop unrolled in part its last copies'.
  [[nodiscard]] std::uint32_t run_of(std::uint32_t operation) const { return run_of_[operation]; }
  [[nodiscard]] const std::vector<CodeLoop>& loops() const { return loops_; }
  /// The operations that a warp executes in the runs, one run's behind the other's; kNoOperation: none, its
  /// machine instructions are executed with those around it.
  [[nodiscard]] const std::vector<std::uint32_t>& executions() const { return executions_; }
  [[nodiscard]] const std::vector<Subroutine>& subroutines() const { return subroutines_; }
  /// The operation whose slow path a record of the executor is (exec/record.hpp); kNoOperation: of no
  /// operation.
  [[nodiscard]] std::uint32_t slow_path_of(const trace::Record& record) const {
    const auto operations = static_cast<std::uint32_t>(run_of_.size());
    return record.inst() < operations || record.inst() >= 2 * operations ? kNoOperation
                                                                         : record.inst() - operations;
  }
  /// Whether a record of the executor says for which signals the warp has waited; await() stands for it.
  [[nodiscard]] bool awaits(const trace::Record& record) const { return record.inst() == 2 * run_of_.size(); }
  [[nodiscard]] std::uint32_t await() const { return await_; }
  /// A warp none of whose lanes gets there does not execute it; its machine instructions are issued all the
  /// same.
  [[nodiscard]] bool optional(std::uint32_t operation) const { return optional_[operation] != 0; }
  /// Registers of a thread that the assignment used; the launch has at least as many.
  [[nodiscard]] std::uint32_t registers() const { return registers_; }
  /// Forms whose length is a guess, e.g. "tex": each once, sorted.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  friend class Builder;
  friend class Emitter;
  std::vector<MachineInstruction> instructions_;
  std::vector<MachineStep> steps_;
  std::vector<CodeRun> runs_;
  std::vector<CodeLoop> loops_;
  std::vector<Subroutine> subroutines_;
  std::vector<std::uint32_t> run_of_;  // by operation
  std::vector<std::uint32_t> executions_;
  std::vector<std::uint8_t> optional_;  // by operation
  std::uint32_t registers_ = 0, jumped_over_ = 0, await_ = 0;
  std::vector<std::string> remarks_;
};

}  // namespace lockstep::lower
