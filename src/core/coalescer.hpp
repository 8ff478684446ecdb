// From the addresses of a warp's lanes to 128-byte lines with 32-byte sectors.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/lsu_operation.hpp"
#include "util/bits.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// Lane addresses of one instruction, expanded only when single lanes are asked for.
class LaneAddresses {
 public:
  static constexpr unsigned kMaxBytes = 32;  // widest access of a lane

  /// `op` has addresses and a mask other than 0. A width of 0 counts as 1, more than kMaxBytes as kMaxBytes.
  void load(const MioOperation& op);

  [[nodiscard]] LaneMask mask() const { return mask_; }
  [[nodiscard]] unsigned width() const { return width_; }
  [[nodiscard]] unsigned lanes() const { return bit_count(mask_); }
  /// The active lanes lie at base() + stride() * (lane - first active lane).
  [[nodiscard]] bool affine() const { return affine_; }
  [[nodiscard]] Address base() const { return base_; }
  [[nodiscard]] std::uint64_t stride() const { return stride_; }
  /// No inactive lane between two active ones.
  [[nodiscard]] bool run() const {
    const LaneMask m = mask_ >> std::countr_zero(mask_);
    return (m & (m + 1)) == 0;
  }
  /// The packed offsets of the further active lanes from base(), two a word; null when they are not kept so.
  [[nodiscard]] const std::uint64_t* packed_offsets() const { return offsets_; }
  /// Indexed by lane; only active lanes count.
  [[nodiscard]] const std::array<Address, kWarpSize>& each();

 private:
  trace::AddressForm form_ = trace::AddressForm::kNone;
  LaneMask mask_ = 0;
  unsigned width_ = 1;
  bool affine_ = false, expanded_ = false;
  Address base_ = 0;
  std::uint64_t stride_ = 0;
  const std::uint64_t* words_ = nullptr;
  const std::uint64_t* offsets_ = nullptr;
  std::array<Address, kWarpSize> each_{};
};

/// A warp's window in the local memory of the GPU. Local memory is interleaved by thread: word k (4 bytes) of
/// lane l lies at base + 128 k + 4 l, so that lanes that use the same offset share a line.
struct LocalWindow {
  static constexpr Address kArena = Address{1} << 46;        // beyond the addresses that allocations get
  static constexpr Address kThreadBytes = Address{1} << 24;  // the window of generic addresses
  Address base = 0;
  Address offset_base = 0;  // MioOperation::local_base

  /// The window of warp slot `warp` (of `warps`) in SM `sm`.
  static LocalWindow of(std::uint32_t sm, std::uint32_t warps, std::uint32_t warp, Address local_base) {
    return {kArena + (Address{sm} * warps + warp) * (kThreadBytes * kWarpSize), local_base};
  }
  /// The thread's own offset. Traces give it as such or as an address in the local window.
  [[nodiscard]] Address offset(Address a) const {
    return (a >= offset_base ? a - offset_base : a) & (kThreadBytes - 1);
  }
};

/// Bytes of a line that a store writes, one bit each, by sector.
using StoredBytes = std::array<std::uint32_t, kSectorsPerLine>;

struct LineAccess {
  Address line = 0;
  SectorMask sectors = 0;
  std::uint8_t operations = 0;  // 32-bit lane operations, at most 255; only where asked for
};

/// The lines that one instruction touches.
struct LineList {
  static constexpr unsigned kMax =
      kWarpSize * LaneAddresses::kMaxBytes / 4;  // local memory, all offsets different
  unsigned count = 0;
  std::array<LineAccess, kMax> line;
  std::array<StoredBytes, kMax> bytes;  // only where asked for
};

class Coalescer {
 public:
  /// What is wanted beside lines and sectors.
  enum class Detail : std::uint8_t { kNone, kBytes, kOperations, kOperationsAndBytes };

  /// Fills `out` in the order of the first lane that touches a line.
  void coalesce(LaneAddresses& addresses, Detail detail, LineList& out);
  /// Likewise for local memory.
  void coalesce_local(LaneAddresses& addresses, const LocalWindow& window, Detail detail, LineList& out);

 private:
  void start(LineList& out);
  [[nodiscard]] unsigned find_or_add(LineList& out, Address line, Detail detail);
  void add(LineList& out, Address line, unsigned first_byte, unsigned bytes, Detail detail);

  std::uint64_t seen_ = 0;  // buckets of a small hash table in use
  std::array<std::uint16_t, 64> slot_{};
  unsigned last_ = 0;
};

}  // namespace lockstep::core
