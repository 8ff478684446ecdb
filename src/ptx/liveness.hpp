// Which virtual registers hold a value that is still read: the base of the register estimate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ptx/control_flow.hpp"
#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// Registers that one instruction reads and writes, each once, in order of their appearance. The guard is
/// read. A guarded instruction's results are also read: lanes that it leaves out keep the old value, unless
/// that is never read (Guard::whole).
struct RegisterUse {
  std::vector<RegisterId> reads, writes;
};
[[nodiscard]] RegisterUse register_use(const Instruction& instruction);

/// Hardware registers by class: 32-bit registers (a 64-bit value takes two, 128 bits four, 16 and 8 bits one)
/// and predicates.
struct Pressure {
  std::uint32_t words = 0, predicates = 0;
  friend bool operator==(const Pressure&, const Pressure&) = default;
};
[[nodiscard]] Pressure pressure_of(Type type);

/// Instructions [first, last] between which a register holds a value, or is written, wherever control goes.
struct LiveRange {
  std::uint32_t first = ~std::uint32_t{0}, last = 0;
  /// False: no reachable instruction names the register.
  [[nodiscard]] bool exists() const { return first <= last; }
  void extend(std::uint32_t instruction) {
    first = std::min(first, instruction);
    last = std::max(last, instruction);
  }
};

class Liveness {
 public:
  Liveness(const Function& function, const ControlFlow& flow);

  /// Live before `instruction` of a reachable block, in ascending order; nothing in an unreachable one.
  [[nodiscard]] std::vector<RegisterId> live_before(std::uint32_t instruction) const;
  /// By register.
  [[nodiscard]] const std::vector<LiveRange>& ranges() const { return ranges_; }
  /// Pressure just before and just after each instruction: the larger, by class.
  [[nodiscard]] const std::vector<Pressure>& pressure() const { return pressure_; }
  /// The largest of the function, by class.
  [[nodiscard]] Pressure max_pressure() const { return max_; }

 private:
  const Function* function_;
  const ControlFlow* flow_;
  std::vector<std::vector<RegisterId>> live_out_;  // by block
  std::vector<LiveRange> ranges_;
  std::vector<Pressure> pressure_;
  Pressure max_;
};

}  // namespace lockstep::ptx
