// Directed rounding: the host's rounding mode is set around the loop over lanes and set back. Compiled with
// -frounding-math.
#include <cfenv>

#include "exec/alu_arithmetic.hpp"
#include "exec/alu_families.hpp"

namespace lockstep::exec::alu {
namespace {

class RoundingScope {
 public:
  explicit RoundingScope(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

constexpr int kModes[] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};  // by Direction

/// The constant of the instruction: direction in bits 0-1, row in bits 2-7, table in the others.
constexpr u64 constant(std::size_t table, std::size_t row, Direction to) {
  return static_cast<u64>(table) << 8 | static_cast<u64>(row) << 2 | static_cast<u64>(to);
}

/// The loop of that row. It is called through a pointer and its operands lie in memory, so that no arithmetic
/// can leave the scope.
template <bool kWide>
void rounded(const LaneArgs& args, u64 immediate) {
  const Kernel& kernel = kRoundedTables[immediate >> 8][immediate >> 2 & 63].kernel;
  const RoundingScope scope(kModes[immediate & 3]);
  (kWide ? kernel.wide : kernel.base)(args, 0);
}

}  // namespace

LaneOp select_directed(const Form& form, Direction to, unsigned flags) {
  for (std::size_t table = 0; table < std::size(kRoundedTables); ++table)
    for (std::size_t row = 0; row < kRoundedTables[table].size(); ++row) {
      const Row& r = kRoundedTables[table][row];
      if (r.op == form.opcode() && r.type == form.type() && r.flags == flags)
        return form.use({&rounded<false>, &rounded<true>, r.kernel.destinations, r.kernel.sources},
                        constant(table, row, to));
    }
  form.fail("rounds to nearest only, or is not a floating-point form");
}

}  // namespace lockstep::exec::alu
