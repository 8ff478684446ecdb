// Copies of a loop's body, one behind the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lower/counted_loops.hpp"
#include "lower/linear_values.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// What stands for an instruction that is none: nothing is read, written or kept in place.
[[nodiscard]] ptx::Instruction nothing_of(const ptx::Instruction& instruction);

/// Iterations of a loop without its branch, nor its comparison. What of the body's addresses differs from one
/// to the next by a constant is an offset afterwards.
class Iterations {
 public:
  /// `copies`: at least 1; `goes_on`: iterations follow that read what these leave, otherwise only what comes
  /// after the loop does. `registers`: of the function, and those that copies of the loop made before have.
  Iterations(const ptx::Function& function, const CountedLoop& loop, std::uint32_t copies, bool goes_on,
             std::vector<ptx::Register> registers, const std::vector<std::uint64_t>& possible);

  [[nodiscard]] std::uint32_t instructions() const;
  [[nodiscard]] const std::vector<ptx::Instruction>& code() const { return code_; }
  /// No instruction is left of it.
  [[nodiscard]] const std::vector<bool>& gone() const { return gone_; }
  /// Those given, and what the copies need.
  [[nodiscard]] const std::vector<ptx::Register>& registers() const { return registers_; }

 private:
  using Names = std::map<ptx::RegisterId, ptx::RegisterId>;
  void sort_registers(bool goes_on);
  void make();
  void start();
  void iteration(bool last);
  void step(const ptx::Instruction& i, bool last);
  void other(const ptx::Instruction& i, const Names& names);
  [[nodiscard]] bool hold(ptx::Operand& address);
  void add(ptx::Instruction i, bool gone);
  void remove_unread();
  [[nodiscard]] bool is_read_too_late(ptx::RegisterId id) const;

  struct Holder {
    ptx::RegisterId id = 0;
    std::int64_t offset = 0;
  };
  const ptx::Function& f_;
  CountedLoop loop_;
  std::uint32_t copies_;
  std::vector<ptx::Register> given_, registers_;
  LinearValues values_;
  std::set<ptx::RegisterId> local_;    // made anew in each iteration
  std::set<ptx::RegisterId> carried_;  // the others that it writes
  std::set<ptx::RegisterId> steps_;    // of those, what grows by a constant and is not kept up to date
  std::set<ptx::RegisterId> live_out_;
  std::map<std::uint32_t, Holder> holders_;  // by node
  std::vector<ptx::Instruction> code_;
  std::vector<bool> gone_;
};

}  // namespace lockstep::lower
