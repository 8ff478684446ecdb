// ldmatrix and stmatrix.
#include <cstring>

#include "exec/warp_access.hpp"
#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

/// Lane 4 r + c of a matrix holds elements 2 c and 2 c + 1 of row r; transposed: of column r.
void execute_matrix_move(WarpState& warp, const Operation& op, LaneMask active) {
  const MatrixForm& form = warp.machine->kernel.matrices()[op.second];
  const MemoryForm& place = warp.machine->kernel.memory()[op.detail];
  Addresses a;
  find_addresses(warp, place, a);
  const LaneMask rows =
      form.matrices == 4 ? kAllLanes : (LaneMask{1} << form.matrices * MatrixForm::kRows) - 1;
  if (warp.record) warp.note(active & rows, a);
  if (active == 0) return;
  if (active != kAllLanes)
    warp.fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  Pointers row;
  (void)resolve(warp, place, rows, MatrixForm::kRowBytes, a, Use::kWrite, row);
  for (unsigned m = 0; m < form.matrices; ++m) {
    LaneValues* const part = warp.at(warp.operands[op.operands + m]);
    for (unsigned l = 0; l < kWarpSize && part; ++l)
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned along = 2 * (l % 4) + half, across = l / 4;
        std::byte* const element = row.lane[m * MatrixForm::kRows + (form.transposed ? along : across)] +
                                   2 * (form.transposed ? across : along);
        const unsigned shift = 16 * half;
        if (form.store) {
          const auto value = static_cast<std::uint16_t>(part->lane[l] >> shift);
          std::memcpy(element, &value, sizeof value);
        } else {
          std::uint16_t value;
          std::memcpy(&value, element, sizeof value);
          part->lane[l] = half == 0 ? value : part->lane[l] | std::uint64_t{value} << shift;
        }
      }
  }
}

}  // namespace lockstep::exec
