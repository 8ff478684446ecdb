// What integer registers hold, as a symbolic value and a constant.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// A register whose value is that of `node` plus `offset`; node 0 is zero.
struct LinearValue {
  std::uint32_t node = 0;
  std::int64_t offset = 0;
  friend bool operator==(const LinearValue&, const LinearValue&) = default;
};

/// Modulo 2^64.
[[nodiscard]] constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Moves, conversions, sums, products, logic and shifts: their only effect is the register that they write.
[[nodiscard]] bool is_plain_arithmetic(ptx::Opcode op);

/// Value numbering of integer arithmetic along a straight run of instructions (Cocke and Schwartz, 1970):
/// equal nodes are equal values. Sums of constants, and their products and shifts, go to the offset; an `or`
/// of values without a common bit is a sum.
class LinearValues {
 public:
  /// `possible`: possible_bits() of the function, which outlives this.
  explicit LinearValues(const std::vector<std::uint64_t>& possible) : possible_(possible) {}

  /// Of a register before anything wrote it: a node of its own.
  [[nodiscard]] LinearValue of(ptx::RegisterId id);
  void set(ptx::RegisterId id, LinearValue value) { values_[id] = value; }
  void clear() { values_.clear(); }
  /// A value of which nothing is known.
  [[nodiscard]] LinearValue fresh() { return {++last_, 0}; }
  /// What the instruction makes; nothing where it is no unguarded integer arithmetic with one result.
  [[nodiscard]] std::optional<LinearValue> result(const ptx::Instruction& i);

 private:
  using Key = std::vector<std::uint64_t>;
  [[nodiscard]] std::optional<LinearValue> of(const ptx::Operand& operand);
  [[nodiscard]] std::optional<LinearValue> linear(const ptx::Instruction& i,
                                                  const std::vector<LinearValue>& read);
  [[nodiscard]] LinearValue sum(LinearValue a, LinearValue b);
  [[nodiscard]] LinearValue product(LinearValue a, std::int64_t by);
  [[nodiscard]] std::uint32_t node(const Key& key);
  [[nodiscard]] std::uint64_t possible(const ptx::Operand& operand) const;

  const std::vector<std::uint64_t>& possible_;
  std::map<ptx::RegisterId, LinearValue> values_;
  std::map<Key, std::uint32_t> nodes_;
  std::uint32_t last_ = 0;
};

}  // namespace lockstep::lower
