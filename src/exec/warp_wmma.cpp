// wmma.load and wmma.store: elements of a matrix in memory to and from the lanes' fragments. A line is a row
// of the matrix, or with .col a column: what lies together in memory.
#include <algorithm>
#include <bit>

#include "exec/warp_access.hpp"
#include "exec/warp_check.hpp"
#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

namespace {

/// The operands: where the matrix begins, and how far it is from line to line, as each lane has them.
struct WmmaPlace {
  const MatrixForm& form;
  Addresses base;
  std::uint64_t stride_bits[kLanes];

  [[nodiscard]] Address of_line(std::uint32_t line, std::uint32_t lane) const {
    return base.lane[lane] + line * stride_bits[lane] / 8;
  }
  [[nodiscard]] Address of(std::uint16_t place, std::uint32_t lane) const {
    const auto shift = static_cast<unsigned>(std::countr_zero(form.line_bytes));
    return of_line(place >> shift, lane) + (place & (form.line_bytes - 1));
  }
  /// All lanes have the same, as PTX demands.
  [[nodiscard]] bool uniform() const {
    const auto same = [](const std::uint64_t* of) {
      return std::all_of(of, of + kLanes, [of](std::uint64_t one) { return one == *of; });
    };
    return same(base.lane) && same(stride_bits);
  }
  /// The size of a piece of a register; precondition: 0 < pieces.
  [[nodiscard]] unsigned piece_bytes() const {
    return static_cast<unsigned>(form.fragment.bits * form.fragment.per_register() / form.pieces) / 8;
  }
};

/// One register of all lanes, from the matrix whose lines follow one another.
template <class Piece>
void load_pieces(LaneValues& to, unsigned pieces, const std::uint16_t* places, const std::byte* matrix) {
  constexpr unsigned kBits = 8 * sizeof(Piece);
  for (int l = 0; l < kLanes; ++l) to.lane[l] = read<Piece>(matrix + places[l]);
  for (unsigned i = 1; i < pieces; ++i) {
    places += kLanes;
    for (int l = 0; l < kLanes; ++l)
      to.lane[l] |= std::uint64_t{read<Piece>(matrix + places[l])} << i * kBits;
  }
}
template <class Piece>
void store_pieces(const LaneValues& from, unsigned pieces, const std::uint16_t* places, std::byte* matrix) {
  constexpr unsigned kBits = 8 * sizeof(Piece);
  for (unsigned i = 0; i < pieces; ++i, places += kLanes)
    for (int l = 0; l < kLanes; ++l) write(matrix + places[l], static_cast<Piece>(from.lane[l] >> i * kBits));
}

/// Lines have a multiple of 8 bytes.
void copy_line(std::byte* to, const std::byte* from, unsigned bytes) {
  for (unsigned at = 0; at < bytes; at += 8) write(to + at, read<std::uint64_t>(from + at));
}

/// Where the lines lie, once for all lanes. False: that is to be asked lane by lane.
bool find_lines(WarpState& warp, const WmmaPlace& place, StateSpace state_space, Pointers& lines) {
  const MatrixForm& form = place.form;
  const bool shared = state_space == StateSpace::kGlobal || state_space == StateSpace::kShared ||
                      state_space == StateSpace::kGeneric;
  if (!shared || form.lines > kLanes || !place.uniform()) return false;
  if (form.store && place.stride_bits[0] < 8 * form.line_bytes)
    return false;  // lines meet: the last one stays
  for (std::uint32_t line = 0; line < form.lines; ++line) {
    const Address address = place.of_line(line, 0);
    if (state_space == StateSpace::kGeneric && in_local_window(address)) return false;
    lines.lane[line] = resolve_one(warp, state_space, 0, form.line_bytes, address);
    if (!lines.lane[line]) return false;
  }
  for (std::uint32_t line = 0; warp.machine->accesses && line < form.lines; ++line) {
    const Address address = place.of_line(line, 0);
    if (reinterpret_cast<Address>(lines.lane[line]) == address)
      note_range(warp, address, form.line_bytes, form.store ? Use::kWrite : Use::kRead);
  }
  return true;
}

void move_by_lines(WarpState& warp, const Operation& op, const WmmaPlace& place, const Pointers& lines) {
  const MatrixForm& form = place.form;
  alignas(64) std::byte matrix[kMatrixBytes];
  for (std::uint32_t line = 0; !form.store && line < form.lines; ++line)
    copy_line(matrix + line * form.line_bytes, lines.lane[line], form.line_bytes);
  with_width(place.piece_bytes(), [&](auto width) {
    using Piece = decltype(width);
    const std::uint16_t* places = form.places.data();
    for (unsigned reg = 0; reg < static_cast<unsigned>(form.fragment.registers); ++reg) {
      LaneValues* const part = warp.at(warp.operands[op.operands + reg]);
      if (part && form.store) store_pieces<Piece>(*part, form.pieces, places, matrix);
      if (part && !form.store) load_pieces<Piece>(*part, form.pieces, places, matrix);
      places += std::size_t{form.pieces} * kLanes;
    }
  });
  for (std::uint32_t line = 0; form.store && line < form.lines; ++line)
    copy_line(lines.lane[line], matrix + line * form.line_bytes, form.line_bytes);
}

void move_one_by_one(WarpState& warp, const Operation& op, const WmmaPlace& place, StateSpace state_space) {
  const MatrixForm& form = place.form;
  const unsigned bytes = place.piece_bytes();
  for (unsigned reg = 0; reg < static_cast<unsigned>(form.fragment.registers); ++reg) {
    LaneValues* const part = warp.at(warp.operands[op.operands + reg]);
    for (std::uint32_t l = 0; l < kWarpSize && part; ++l) {
      std::uint64_t bits = form.store ? part->lane[l] : 0;
      for (unsigned i = 0; i < form.pieces; ++i) {
        const Address address = place.of(form.places[(reg * form.pieces + i) * kLanes + l], l);
        std::byte* const where = resolve_one(warp, state_space, l, bytes, address);
        if (!where) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address, {});
        if (warp.machine->accesses && reinterpret_cast<Address>(where) == address)
          note_range(warp, address, bytes, form.store ? Use::kWrite : Use::kRead);
        with_width(bytes, [&](auto width) {
          if (form.store)
            write(where, static_cast<decltype(width)>(bits >> 8 * bytes * i));
          else
            bits |= std::uint64_t{read<decltype(width)>(where)} << 8 * bytes * i;
        });
      }
      if (!form.store) part->lane[l] = bits;
    }
  }
}

}  // namespace

void execute_wmma_move(WarpState& warp, const Operation& op, LaneMask active) {
  const MatrixForm& form = warp.machine->kernel.matrices()[op.second];
  const MemoryForm& memory = warp.machine->kernel.memory()[op.detail];
  if (active == 0) {
    if (warp.record) warp.note(active);
    return;
  }
  if (active != kAllLanes)
    warp.fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  WmmaPlace place{form, {}, {}};
  find_addresses(warp, memory, place.base);
  for (std::uint32_t l = 0; l < kWarpSize; ++l)
    place.stride_bits[l] = form.stride.exists() ? static_cast<std::uint32_t>(warp.at(form.stride)->lane[l]) *
                                                      static_cast<std::uint64_t>(form.fragment.bits)
                                                : std::uint64_t{8} * form.line_bytes;
  if (warp.record) {
    Addresses first;
    for (std::uint32_t l = 0; l < kWarpSize; ++l) first.lane[l] = place.of(form.places[l], l);
    warp.note(active, first);
  }
  if (warp.machine->check) {
    std::vector<Address> first(form.lines);
    for (std::uint32_t line = 0; line < form.lines; ++line) first[line] = place.of_line(line, 0);
    check_matrix_lines(warp, form, memory.state_space, first);
  }
  Pointers lines;
  if (find_lines(warp, place, memory.state_space, lines))
    move_by_lines(warp, op, place, lines);
  else
    move_one_by_one(warp, op, place, memory.state_space);
}

}  // namespace lockstep::exec
