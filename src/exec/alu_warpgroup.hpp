// wgmma.mma_async: one warp's 16 of the 64 rows ("PTX ISA 9.0", 9.7.15).
#pragma once

#include <cstdint>

#include "exec/alu_sparse.hpp"
#include "ptx/words.hpp"

namespace lockstep::exec {

inline constexpr unsigned kWarpsOfGroup = 4;
inline constexpr int kWarpRows = 16, kMaxWarpgroupColumns = 256, kMaxWarpgroupDepth = 64;

struct WarpgroupProduct {
  ptx::Shape shape;  // k of the whole matrices
  ptx::Type a{}, b{}, d{};
  bool saturate = false, negate_a = false, negate_b = false, sparse = false;
  std::uint8_t selector = 0;  // of the lanes with the metadata

  /// Elements of a row of A that are there; .b1 counts words of 32 bits.
  [[nodiscard]] int stored_depth() const {
    return a == ptx::Type::kB1 ? shape.k / 32 : sparse ? shape.k / 2 : shape.k;
  }
  [[nodiscard]] int depth() const { return a == ptx::Type::kB1 ? shape.k / 32 : shape.k; }
};

/// Elements by their bits, in the low ones. B by k, then n.
struct WarpgroupOperands {
  std::uint32_t a[kWarpRows][kMaxWarpgroupDepth];
  std::uint32_t b[kMaxWarpgroupDepth][kMaxWarpgroupColumns];
  std::uint32_t d[kWarpRows][kMaxWarpgroupColumns];  // replaced by the result
  alu::SparsePlaces at;                              // of a sparse A
};

/// d + a b: sums run over k in ascending order, as those of mma.
void warpgroup_product(const WarpgroupProduct& p, WarpgroupOperands& operands);

/// Does PTX have this product?
[[nodiscard]] bool is_warpgroup_product(const WarpgroupProduct& p);

}  // namespace lockstep::exec
