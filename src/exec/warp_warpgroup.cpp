// wgmma.mma_async: each warp makes its 16 rows when it gets there. PTX keeps programs from changing the
// matrices before the product is complete, which is that of the four warps: wgmma.wait_group waits for them.
#include <algorithm>
#include <cstring>

#include "exec/shared_matrix.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

namespace {

constexpr unsigned kCoreRowBytes = 16;

/// Elements of 16 bytes; .b1 counts words.
unsigned unit_bits(ptx::Type type) { return type == ptx::Type::kB1 ? 32 : ptx::bits(type); }

std::uint32_t element_of(const std::byte* unit, unsigned number, unsigned bits) {
  std::uint32_t value = 0;
  std::memcpy(&value, unit + number * bits / 8, bits / 8);
  return value;
}

/// The accumulator's element i of a lane: row and column among the warp's.
MatrixPlace sum_place(std::uint32_t l, unsigned i) {
  return {static_cast<int>(l / 4 + 8 * (i / 2 % 2)), static_cast<int>(8 * (i / 4) + 2 * (l % 4) + i % 2)};
}

/// Calls put(line, place along, bits) for elements [0, lines) x [0, along) of a matrix.
template <class Put>
void read_matrix(WarpState& warp, const SharedMatrix& matrix, ptx::Type type, unsigned first, unsigned lines,
                 unsigned along, Put put) {
  const unsigned bits = unit_bits(type), each = kCoreRowBytes * 8 / bits;
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned unit = 0; unit * each < along; ++unit) {
      const Address at_byte =
          matrix.unit(matrix.across ? line : first + line, (matrix.across ? first / each : 0) + unit);
      const std::byte* const bytes = resolve_one(warp, StateSpace::kShared, 0, kCoreRowBytes, at_byte);
      if (!bytes) warp.fault(FaultKind::kIllegalAddress, kAllLanes, at_byte, "a matrix of the descriptor");
      for (unsigned i = 0; i < each; ++i) put(line, unit * each + i, element_of(bytes, i, bits));
    }
}

void read_a(WarpState& warp, const WarpgroupForm& form, const OperandRef* operands, WarpgroupOperands& o) {
  const WarpgroupProduct& p = form.product;
  const auto depth = static_cast<unsigned>(p.stored_depth());
  if (form.a_in_registers) {
    const Fragment fragment{MatrixRole::kA, kWarpRows, p.stored_depth(), static_cast<int>(unit_bits(p.a)), 4};
    for (std::uint32_t l = 0; l < kWarpSize; ++l)
      for (int i = 0; i < fragment.elements(); ++i) {
        const MatrixPlace place = fragment_place(fragment, static_cast<int>(l), i);
        const int each = fragment.per_register();
        const auto word = static_cast<std::uint32_t>(warp.at(operands[i / each])->lane[l]);
        const std::uint32_t value = word >> (i % each * fragment.bits);
        o.a[place.row][place.column] = fragment.bits == 32 ? value : value & ((1u << fragment.bits) - 1);
      }
    return;
  }
  const SharedMatrix matrix(warp.uniform(operands[0], kAllLanes), form.a_across);
  const unsigned first = warp.index % kWarpsOfGroup * kWarpRows;
  if (form.a_across)
    read_matrix(warp, matrix, p.a, first, depth, kWarpRows,
                [&](unsigned k, unsigned m, std::uint32_t bits) { o.a[m][k] = bits; });
  else
    read_matrix(warp, matrix, p.a, first, kWarpRows, depth,
                [&](unsigned m, unsigned k, std::uint32_t bits) { o.a[m][k] = bits; });
}

void read_b(WarpState& warp, const WarpgroupForm& form, WarpgroupOperands& o) {
  const WarpgroupProduct& p = form.product;
  const SharedMatrix matrix(warp.uniform(form.b, kAllLanes), form.b_across);
  const auto depth = static_cast<unsigned>(p.depth());
  if (form.b_across)
    read_matrix(warp, matrix, p.b, 0, depth, p.shape.n,
                [&](unsigned k, unsigned n, std::uint32_t bits) { o.b[k][n] = bits; });
  else
    read_matrix(warp, matrix, p.b, 0, p.shape.n, depth,
                [&](unsigned n, unsigned k, std::uint32_t bits) { o.b[k][n] = bits; });
}

}  // namespace

void execute_warpgroup(WarpState& warp, const Operation& op, LaneMask active) {
  if (warp.record) warp.note(active);
  if (active == 0) return;
  if (active != kAllLanes)
    warp.fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  const WarpgroupForm& form = warp.machine->kernel.warpgroups()[op.detail];
  const OperandRef* const operands = warp.operands + op.operands;
  const unsigned each = form.product.d == ptx::Type::kF16 ? 2 : 1;
  const bool accumulates = !form.accumulates.exists() ||
                           ((warp.uniform(form.accumulates, kAllLanes) & 1) != 0) != form.accumulates_negated;
  WarpgroupOperands o;
  for (unsigned i = 0; i < form.results * each; ++i)
    for (std::uint32_t l = 0; l < kWarpSize; ++l) {
      const MatrixPlace place = sum_place(l, i);
      const auto word = static_cast<std::uint32_t>(warp.at(operands[i / each])->lane[l]);
      o.d[place.row][place.column] = !accumulates ? 0 : each == 1 ? word : word >> (16 * (i % 2)) & 0xffff;
    }
  read_a(warp, form, operands + form.results, o);
  read_b(warp, form, o);
  if (form.product.sparse)
    o.at = alu::sparse_places({form.product.a, form.product.shape.k, form.product.selector},
                              *warp.at(form.metadata));
  warpgroup_product(form.product, o);
  for (unsigned i = 0; i < form.results * each; ++i)
    for (std::uint32_t l = 0; l < kWarpSize; ++l) {
      const MatrixPlace place = sum_place(l, i);
      std::uint64_t& to = warp.at(operands[i / each])->lane[l];
      const std::uint64_t bits = o.d[place.row][place.column];
      to = each == 1 || i % 2 == 0 ? bits : to | bits << 16;
    }
}

}  // namespace lockstep::exec
