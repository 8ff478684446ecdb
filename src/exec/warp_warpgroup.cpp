// wgmma.mma_async: each warp makes its 16 rows when it gets there. PTX keeps programs from changing the
// matrices before the product is complete, which is that of the four warps: wgmma.wait_group waits for them.
#include <algorithm>
#include <cstring>

#include "exec/alu_product.hpp"
#include "exec/shared_matrix.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

namespace {

constexpr unsigned kCoreRowBytes = 16;

/// Elements of 16 bytes; .b1 counts words.
unsigned unit_bits(ptx::Type type) { return type == ptx::Type::kB1 ? 32 : ptx::bits(type); }

/// Calls put(line, place along, bits) for elements [0, lines) x [0, along) of a matrix.
template <class Element, class Put>
void read_elements(WarpState& warp, const SharedMatrix& matrix, unsigned first, unsigned lines,
                   unsigned along, Put put) {
  constexpr unsigned kEach = kCoreRowBytes / sizeof(Element);
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned unit = 0; unit * kEach < along; ++unit) {
      const Address at_byte =
          matrix.unit(matrix.across ? line : first + line, (matrix.across ? first / kEach : 0) + unit);
      const std::byte* const bytes = resolve_one(warp, StateSpace::kShared, 0, kCoreRowBytes, at_byte);
      if (!bytes) warp.fault(FaultKind::kIllegalAddress, kAllLanes, at_byte, "a matrix of the descriptor");
      Element elements[kEach];
      std::memcpy(elements, bytes, kCoreRowBytes);
      for (unsigned i = 0; i < kEach; ++i) put(line, unit * kEach + i, elements[i]);
    }
}

template <class Put>
void read_matrix(WarpState& warp, const SharedMatrix& matrix, ptx::Type type, unsigned first, unsigned lines,
                 unsigned along, Put put) {
  switch (unit_bits(type)) {
    case 8:
      return read_elements<std::uint8_t>(warp, matrix, first, lines, along, put);
    case 16:
      return read_elements<std::uint16_t>(warp, matrix, first, lines, along, put);
    default:
      return read_elements<std::uint32_t>(warp, matrix, first, lines, along, put);
  }
}

void read_a(WarpState& warp, const WarpgroupForm& form, const OperandRef* operands, WarpgroupOperands& o) {
  const WarpgroupProduct& p = form.product;
  const auto depth = static_cast<unsigned>(p.stored_depth());
  if (form.a_in_registers) {
    const Fragment fragment{MatrixRole::kA, kWarpRows, p.stored_depth(), static_cast<int>(unit_bits(p.a)), 4};
    const alu::Layout<kMaxWarpgroupDepth> layout(fragment);
    std::uint32_t* const flat = &o.a[0][0];
    const std::uint32_t mask = fragment.bits == 32 ? ~0u : (1u << fragment.bits) - 1;
    for (int i = 0; i < fragment.elements(); ++i) {
      const std::uint64_t* const words = warp.at(operands[i / fragment.per_register()])->lane;
      const int shift = i % fragment.per_register() * fragment.bits;
      layout.each(i, [&](int place, int lane) {
        flat[place] = static_cast<std::uint32_t>(words[lane]) >> shift & mask;
      });
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

/// Lane 4 r + c has elements 2 c and 2 c + 1 of rows r and r + 8 of each eight columns of the accumulator, in
/// this order: calls element(lane, row, column) for the first of the two neighbours with number `pair`.
template <class Element>
void for_each_lane(unsigned pair, Element element) {
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned c = 0; c < 4; ++c) element(4 * r + c, r + 8 * (pair % 2), 8 * (pair / 2) + 2 * c);
}

void read_sums(WarpState& warp, const WarpgroupForm& form, const OperandRef* operands, WarpgroupOperands& o) {
  if (form.product.d == ptx::Type::kF16)
    for (unsigned pair = 0; pair < form.results; ++pair) {
      const LaneValues& both = *warp.at(operands[pair]);
      for_each_lane(pair, [&](unsigned lane, unsigned row, unsigned column) {
        o.d[row][column] = static_cast<std::uint32_t>(both.lane[lane] & 0xffff);
        o.d[row][column + 1] = static_cast<std::uint32_t>(both.lane[lane] >> 16 & 0xffff);
      });
    }
  else
    for (unsigned pair = 0; pair < form.results / 2u; ++pair) {
      const LaneValues &left = *warp.at(operands[2 * pair]), &right = *warp.at(operands[2 * pair + 1]);
      for_each_lane(pair, [&](unsigned lane, unsigned row, unsigned column) {
        o.d[row][column] = static_cast<std::uint32_t>(left.lane[lane]);
        o.d[row][column + 1] = static_cast<std::uint32_t>(right.lane[lane]);
      });
    }
}

void clear_sums(const WarpgroupProduct& p, WarpgroupOperands& o) {
  for (auto& row : o.d) std::fill_n(row, p.shape.n, 0);
}

void write_sums(WarpState& warp, const WarpgroupForm& form, const OperandRef* operands,
                const WarpgroupOperands& o) {
  if (form.product.d == ptx::Type::kF16)
    for (unsigned pair = 0; pair < form.results; ++pair) {
      LaneValues& both = *warp.at(operands[pair]);
      for_each_lane(pair, [&](unsigned lane, unsigned row, unsigned column) {
        both.lane[lane] = o.d[row][column] | o.d[row][column + 1] << 16;
      });
    }
  else
    for (unsigned pair = 0; pair < form.results / 2u; ++pair) {
      LaneValues &left = *warp.at(operands[2 * pair]), &right = *warp.at(operands[2 * pair + 1]);
      for_each_lane(pair, [&](unsigned lane, unsigned row, unsigned column) {
        left.lane[lane] = o.d[row][column];
        right.lane[lane] = o.d[row][column + 1];
      });
    }
}

}  // namespace

void execute_warpgroup(WarpState& warp, const Operation& op, LaneMask active) {
  if (warp.record) warp.note(active);
  if (active == 0) return;
  if (active != kAllLanes)
    warp.fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  const WarpgroupForm& form = warp.machine->kernel.warpgroups()[op.detail];
  const OperandRef* const operands = warp.operands + op.operands;
  const bool accumulates = !form.accumulates.exists() ||
                           ((warp.uniform(form.accumulates, kAllLanes) & 1) != 0) != form.accumulates_negated;
  WarpgroupOperands o;
  accumulates ? read_sums(warp, form, operands, o) : clear_sums(form.product, o);
  read_a(warp, form, operands + form.results, o);
  read_b(warp, form, o);
  if (form.product.sparse)
    o.at = alu::sparse_places({form.product.a, form.product.shape.k, form.product.selector},
                              *warp.at(form.metadata));
  warpgroup_product(form.product, o);
  write_sums(warp, form, operands, o);
}

}  // namespace lockstep::exec
