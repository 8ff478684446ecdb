// L2 eviction policies of instructions, where they are constants of the program.
#pragma once

#include <optional>
#include <vector>

#include "ptx/ir.hpp"
#include "trace/l2_policy.hpp"

namespace lockstep::lower {

/// What the registers of a function hold that are L2 policies.
class L2Policies {
 public:
  L2Policies() = default;
  explicit L2Policies(const ptx::Function& function);

  /// The policy of a memory access: that of its L2::cache_hint, else of its .L2::evict_ qualifier; none where
  /// it has neither. Nothing: it has a hint that is no constant.
  [[nodiscard]] std::optional<trace::L2Policy> of(const ptx::Instruction& i) const;

 private:
  [[nodiscard]] std::optional<trace::L2Policy> value(const ptx::Operand& operand) const;
  std::vector<std::optional<trace::L2Policy>> by_register_;  // nothing: not known
};

}  // namespace lockstep::lower
