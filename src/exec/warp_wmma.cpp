// wmma.load and wmma.store: elements of a matrix in memory to and from the lanes' fragments.
#include <cstring>

#include "exec/cta.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

/// Elements between the start of the matrix and one of a lane's.
std::uint64_t offset_of(const MatrixForm& form, std::uint64_t stride, std::uint32_t l, int element) {
  const MatrixPlace at =
      form.places[l * static_cast<unsigned>(form.fragment.elements()) + static_cast<unsigned>(element)];
  const auto row = static_cast<std::uint64_t>(at.row), column = static_cast<std::uint64_t>(at.column);
  return form.by_columns ? column * stride + row : row * stride + column;
}

}  // namespace

/// Moves register `reg` of a lane: at once where its elements are neighbours in memory, otherwise one by one.
void Warp::wmma_register(const MatrixForm& form, const MemoryForm& place, std::uint32_t l, Address base,
                         std::uint64_t stride, int reg, std::uint64_t& bits) {
  const int each = form.fragment.per_register(), first = reg * each;
  const auto width = static_cast<unsigned>(form.fragment.bits);
  const std::uint64_t begin = offset_of(form, stride, l, first);
  const bool together =
      each == 1 || offset_of(form, stride, l, first + each - 1) == begin + static_cast<unsigned>(each) - 1;
  const int moves = together ? 1 : each;
  const unsigned bytes = width * static_cast<unsigned>(each / moves) / 8;
  for (int i = 0; i < moves; ++i) {
    const Address address = base + (i == 0 ? begin : offset_of(form, stride, l, first + i)) * width / 8;
    std::byte* const where = resolve_one(place.reach, l, bytes, address);
    if (!where) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address, {});
    const unsigned shift = static_cast<unsigned>(i) * width;
    if (form.store) {
      const std::uint64_t value = bits >> shift;
      std::memcpy(where, &value, bytes);
    } else {
      std::uint64_t value = 0;
      std::memcpy(&value, where, bytes);
      bits |= value << shift;
    }
  }
}

void Warp::wmma_move(const Operation& op, LaneMask active) {
  const MatrixForm& form = machine_->kernel.matrices()[op.second];
  const MemoryForm& place = machine_->kernel.memory()[op.detail];
  if (active == 0) {
    if (record_) note(active);
    return;
  }
  if (active != kAllLanes)
    fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  Addresses base, first;
  addresses(place, active, base);
  std::uint64_t strides[kLanes];
  for (std::uint32_t l = 0; l < kWarpSize; ++l) {
    const int across = form.by_columns ? form.fragment.rows : form.fragment.columns;
    strides[l] = form.stride.exists() ? static_cast<std::uint32_t>(at(form.stride)->lane[l])
                                      : static_cast<unsigned>(across);
    first.lane[l] =
        base.lane[l] + offset_of(form, strides[l], l, 0) * static_cast<unsigned>(form.fragment.bits) / 8;
  }
  if (record_) note(active, first);
  for (int reg = 0; reg < form.fragment.registers; ++reg) {
    LaneSlots* const part = at(slots_[op.operands + static_cast<unsigned>(reg)]);
    for (std::uint32_t l = 0; l < kWarpSize && part; ++l) {
      std::uint64_t bits = form.store ? part->lane[l] : 0;
      wmma_register(form, place, l, base.lane[l], strides[l], reg, bits);
      if (!form.store) part->lane[l] = bits;
    }
  }
}

}  // namespace lockstep::exec
