// Bulk tensor copies.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "exec/shared_matrix.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_check_copy.hpp"
#include "exec/warp_copy.hpp"
#include "exec/warp_mbarrier.hpp"
#include "exec/warp_multicast.hpp"

namespace lockstep::exec {

namespace {

/// Coordinates and a filter's offsets, by dimension.
struct TensorPlace {
  std::int64_t first[kMaxTensorRank] = {}, offset[kMaxTensorRank] = {};
};

constexpr std::uint32_t kUnitBytes = 16;
constexpr Address kTileAlign = 128;  // "PTX ISA 9.0", 9.7.9.25.5.2: of the place in shared memory
constexpr Address kOffset = (Address{1} << kSharedRankShift) - 1;

/// Goes through the rows of a copy. Tiles: from the first element to the box's end in each dimension. im2col
/// ("PTX ISA 9.0", 5.5.4, im2col mode): a filter's positions from the first one on, each dimension's last
/// followed by its lower corner; its offsets are where it reads from there.
class Rows {
 public:
  Rows(const TensorMap& map, const TensorPlace& place) : map_(map), place_(place) {
    for (unsigned d = 1; d < map.rank; ++d) {
      at_[d] = begin_[d] = place.first[d];
      last_[d] = place.first[d] + map.box[d] - 1;
      if (map.is_spatial(d)) {
        begin_[d] = map.lower[d];
        last_[d] = static_cast<std::int64_t>(map.dim[d]) - 1 + map.upper[d];
      } else if (map.is_im2col()) {
        last_[d] = std::numeric_limits<std::int64_t>::max();
      }
    }
  }
  void next() {
    for (unsigned d = 1; d < map_.rank; ++d) {
      at_[d] += map_.step[d];
      if (at_[d] <= last_[d]) return;
      at_[d] = begin_[d];
    }
  }
  [[nodiscard]] bool inside() const {
    for (unsigned d = 1; d < map_.rank; ++d)
      if (reads(d) < 0 || static_cast<std::uint64_t>(reads(d)) >= map_.dim[d]) return false;
    return true;
  }
  /// The address of element x.
  [[nodiscard]] Address address(std::int64_t x) const {
    auto a = map_.address + static_cast<std::uint64_t>(x) * map_.element_bytes();
    for (unsigned d = 1; d < map_.rank; ++d) a += static_cast<std::uint64_t>(reads(d)) * map_.stride[d];
    return a;
  }

 private:
  [[nodiscard]] std::int64_t reads(unsigned d) const { return at_[d] + place_.offset[d]; }

  const TensorMap& map_;
  const TensorPlace& place_;
  std::int64_t at_[kMaxTensorRank] = {}, begin_[kMaxTensorRank] = {}, last_[kMaxTensorRank] = {};
};

/// Which of the unit's elements [x, ...), of `size` bytes each, lie in a row of the tensor, from x.
std::pair<std::int64_t, std::int64_t> elements_inside(const TensorMap& map, std::uint32_t size,
                                                      std::int64_t x) {
  const auto each = static_cast<std::int64_t>(kUnitBytes / size);
  const std::int64_t begin = std::clamp<std::int64_t>(-x, 0, each),
                     end = std::clamp<std::int64_t>(static_cast<std::int64_t>(map.dim[0]) - x, begin, each);
  return {begin, end};
}

TensorMap tensor_map(WarpState& warp, const TensorForm& form, std::uint32_t l, Address at_byte) {
  const LaneMask self = LaneMask{1} << l;
  if (at_byte % kTensorMapAlign != 0)
    warp.fault(FaultKind::kMisalignedAddress, self, at_byte, "the tensor map");
  const std::byte* const object =
      resolve_one(warp, warp.machine->kernel.memory()[form.map].state_space, l, kTensorMapBytes, at_byte);
  if (!object) warp.fault(FaultKind::kIllegalAddress, self, at_byte, "the tensor map");
  const auto map = TensorMap::unpack(object);
  if (!map) warp.fault(FaultKind::kIllegalInstruction, self, at_byte, "there is no tensor map here");
  if (map->rank != form.rank)
    warp.fault(FaultKind::kIllegalInstruction, self, at_byte,
               "the tensor map has another number of dimensions");
  if (map->is_im2col() != form.im2col)
    warp.fault(FaultKind::kIllegalInstruction, self, at_byte,
               form.im2col ? "the tensor map is of tiles, the copy of im2col"
                           : "the tensor map is of im2col, the copy of tiles");
  return *map;
}

/// One 16-byte unit between shared memory and elements [x, ...) of a row. Outside of the tensor loads give
/// zeros and stores do nothing. `size`: bytes of an element.
void tensor_unit(WarpState& warp, const TensorForm& form, const TensorMap& map, std::uint32_t size,
                 std::byte* unit, Address row_address, std::int64_t x, bool row_inside, AtomicFn fn) {
  const auto [begin, end] = elements_inside(map, size, x);
  const bool whole = row_inside && static_cast<std::uint64_t>(end - begin) * size == kUnitBytes;
  if (!form.store && !whole) std::memset(unit, 0, kUnitBytes);
  if (!row_inside || begin == end) return;
  const auto skip = static_cast<std::uint64_t>(begin) * size,
             bytes = static_cast<std::uint64_t>(end - begin) * size;
  const Address global = row_address + static_cast<std::uint64_t>(begin) * size;
  if (!warp.machine->view.accessible(global, bytes))
    warp.fault(FaultKind::kIllegalAddress, warp.now.mask, global, "an element of the tensor");
  auto* const there = reinterpret_cast<std::byte*>(global);
  if (!form.store && whole) return void(std::memcpy(unit, there, kUnitBytes));
  if (!form.store) return void(std::memcpy(unit + skip, there, bytes));
  if (!fn) return void(std::memcpy(there, unit + skip, bytes));
  for (std::uint64_t i = 0; i < bytes; i += size) {
    std::uint64_t old = 0, value = 0;
    std::memcpy(&old, there + i, size);
    std::memcpy(&value, unit + skip + i, size);
    value = fn(old, value, value);
    std::memcpy(there + i, &value, size);
  }
}

/// Bytes of global memory.
struct RowPart {
  Address first;
  std::uint64_t bytes;
};

/// What of a box's row lies in the tensor. `row_address`: of element 0.
RowPart part_inside(const TensorMap& map, Address row_address, std::int64_t first) {
  const auto size = static_cast<std::int64_t>(map.element_bytes());
  const std::int64_t row = map.row_bytes() / size, width = static_cast<std::int64_t>(map.dim[0]);
  const std::int64_t begin = std::clamp<std::int64_t>(first, 0, width),
                     end = std::clamp<std::int64_t>(first + row, begin, width);
  return {row_address + static_cast<std::uint64_t>(begin * size),
          static_cast<std::uint64_t>((end - begin) * size)};
}

/// Collects what a prefetch names.
void prefetch_tile(const WarpState& warp, const TensorMap& map, const TensorPlace& place,
                   trace::BulkRuns& runs) {
  runs.clear();
  Rows rows(map, place);
  for (std::uint32_t r = 0; r < map.rows(); ++r, rows.next()) {
    if (!rows.inside()) continue;
    const RowPart part = part_inside(map, rows.address(0), place.first[0]);
    note_prefetch(warp, runs, part.first, part.bytes);
  }
}

/// The copy that one lane starts.
struct TensorCopy {
  const TensorForm& form;
  const TensorMap& map;
  const TensorPlace& place;
  std::uint32_t lane;
};

/// To or from `shared`. Returns the bytes that an mbarrier counts. `runs`: what is recorded of it.
std::uint32_t copy_tile(WarpState& warp, const TensorCopy& copy, Address shared, trace::BulkRuns& runs) {
  const auto& [form, map, place, l] = copy;
  const LaneMask self = LaneMask{1} << l;
  if (shared % kTileAlign != 0)
    warp.fault(FaultKind::kMisalignedAddress, self, shared, "the tile in shared memory");
  const StateSpace state_space = warp.machine->kernel.memory()[form.shared].state_space;
  const AtomicFn fn = form.reduces ? form.function(map.type) : nullptr;
  if (form.reduces && !fn)
    warp.fault(FaultKind::kIllegalInstruction, self, 0, "no such reduction for the tensor's type");
  const std::uint32_t size = map.element_bytes(), units = map.row_bytes() / kUnitBytes;
  const auto per_unit = static_cast<std::int64_t>(kUnitBytes / size);
  Rows rows(map, place);
  for (std::uint32_t r = 0; r < map.rows(); ++r, rows.next()) {
    if (warp.record && rows.inside()) {
      const RowPart part = part_inside(map, rows.address(0), place.first[0]);
      runs.add(part.first, part.bytes);
    }
    for (std::uint32_t u = 0; u < units; ++u) {
      const Address offset =
          swizzled((shared & kOffset) + r * map.row_pitch() + u * kUnitBytes, map.swizzle_bits);
      const Address at_byte = (shared & ~kOffset) + offset;
      std::byte* const unit = resolve_one(warp, state_space, l, kUnitBytes, at_byte);
      if (!unit) warp.fault(FaultKind::kIllegalAddress, self, at_byte, "the tile in shared memory");
      const std::int64_t x = place.first[0] + u * per_unit;
      if (warp.machine->check) {
        const auto [begin, end] = elements_inside(map, size, x);
        check_tensor_unit(warp, form, l, at_byte, static_cast<std::uint32_t>(begin) * size,
                          rows.address(x + begin),
                          rows.inside() ? static_cast<std::uint32_t>(end - begin) * size : 0);
      }
      tensor_unit(warp, form, map, size, unit, rows.address(x), x, rows.inside(), fn);
    }
  }
  return map.rows() * map.row_bytes();
}

}  // namespace

void execute_tensor_copy(WarpState& warp, trace::BulkRuns& runs, const Operation& op, LaneMask active) {
  const TensorForm& form = warp.machine->kernel.tensors()[op.detail];
  const auto& memory = warp.machine->kernel.memory();
  if (active == 0) {
    if (warp.record) warp.note(active);
    return;
  }
  Addresses maps, shared{}, barrier{};
  find_addresses(warp, memory[form.map], maps);
  if (!form.prefetch) find_addresses(warp, memory[form.shared], shared);
  if (form.mbarrier != ~0u) find_addresses(warp, memory[form.mbarrier], barrier);
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    bool is = maps.lane[a] == maps.lane[b] && shared.lane[a] == shared.lane[b];
    for (unsigned d = 0; d < form.rank; ++d) {
      const auto& coordinates = warp.at(warp.operands[op.operands + d])->lane;
      is = is && coordinates[a] == coordinates[b];
    }
    return is;
  };
  if (form.store && !form.reduces) active = storing_lanes(active, same);
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const TensorMap map = tensor_map(warp, form, l, maps.lane[l]);
    TensorPlace place;
    for (unsigned d = 0; d < form.rank; ++d)
      place.first[d] = static_cast<std::int32_t>(warp.at(warp.operands[op.operands + d])->lane[l]);
    for (unsigned d = 0; d < form.offsets; ++d)
      place.offset[d + 1] =
          static_cast<std::uint16_t>(warp.at(warp.operands[op.operands + form.rank + d])->lane[l]);
    Signalled signalled;
    if (form.prefetch) {
      if (!warp.record) return;
      prefetch_tile(warp, map, place, runs);
      return note_bulk(warp, runs, signalled);
    }
    const auto deliver = [&](Address to, Address mbarrier_at) {
      runs.clear();
      const std::uint32_t bytes = copy_tile(warp, {form, map, place, l}, to, runs);
      if (form.mbarrier != ~0u) complete_bytes(warp, form.mbarrier, l, mbarrier_at, bytes, &signalled);
    };
    each_target(warp, form.multicast, l, shared.lane[l], barrier.lane[l], deliver);
    if (warp.record) note_bulk(warp, runs, signalled);
  });
}

}  // namespace lockstep::exec
