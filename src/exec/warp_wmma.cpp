// wmma.load and wmma.store: elements of a matrix in memory to and from the lanes' fragments. A line is a row
// of the matrix, or with .col a column: what lies together in memory.
#include <algorithm>

#include "exec/access_set.hpp"
#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

/// The operands: where the matrix begins, and how far it is from line to line, as each lane has them.
struct Warp::WmmaPlace {
  Addresses base;
  std::uint64_t stride_bits[kLanes];

  [[nodiscard]] Address of(const MatrixPiece& piece, std::uint32_t lane) const {
    return base.lane[lane] + piece.line * stride_bits[lane] / 8 + piece.byte;
  }
  /// All lanes have the same, as PTX demands, and lines begin with a byte.
  [[nodiscard]] bool uniform() const {
    const auto same = [](const std::uint64_t* of) {
      return std::all_of(of, of + kLanes, [of](std::uint64_t one) { return one == *of; });
    };
    return stride_bits[0] % 8 == 0 && same(base.lane) && same(stride_bits);
  }
};

namespace {

unsigned piece_bytes(const MatrixForm& form) {
  return static_cast<unsigned>(form.fragment.bits * form.fragment.per_register() / form.pieces) / 8;
}

/// One register of all lanes; `where` says where piece i of a lane lies.
template <class Piece, class Where>
void load_pieces(LaneSlots& to, unsigned pieces, Where where) {
  constexpr unsigned kBits = 8 * sizeof(Piece);
  for (int l = 0; l < kLanes; ++l) {
    std::uint64_t bits = read<Piece>(where(0, l));
    for (unsigned i = 1; i < pieces; ++i) bits |= std::uint64_t{read<Piece>(where(i, l))} << i * kBits;
    to.lane[l] = bits;
  }
}
template <class Piece, class Where>
void store_pieces(const LaneSlots& from, unsigned pieces, Where where) {
  constexpr unsigned kBits = 8 * sizeof(Piece);
  for (int l = 0; l < kLanes; ++l)
    for (unsigned i = 0; i < pieces; ++i) write(where(i, l), static_cast<Piece>(from.lane[l] >> i * kBits));
}

}  // namespace

/// Where the lines lie, once for all lanes. False: that is to be asked lane by lane.
bool Warp::wmma_lines(const MatrixForm& form, Reach reach, const WmmaPlace& place, Pointers& lines) {
  const bool shared = reach == Reach::kGlobal || reach == Reach::kShared || reach == Reach::kGeneric;
  if (!shared || form.lines > kLanes || !place.uniform()) return false;
  if (form.store && place.stride_bits[0] < form.line_bits)
    return false;  // the last one stays where they meet
  const unsigned bytes = form.line_bits / 8;
  for (std::uint16_t line = 0; line < form.lines; ++line) {
    const Address address = place.of({line, 0}, 0);
    if (reach == Reach::kGeneric && in_local_window(address)) return false;
    lines.lane[line] = resolve_one(reach, 0, bytes, address);
    if (!lines.lane[line]) return false;
  }
  for (std::uint16_t line = 0; machine_->accesses && line < form.lines; ++line) {
    const Address address = place.of({line, 0}, 0);
    if (reinterpret_cast<Address>(lines.lane[line]) == address)
      note_range(address, bytes, form.store ? Use::kWrite : Use::kRead);
  }
  return true;
}

void Warp::wmma_by_lines(const Operation& op, const Pointers& lines) {
  const MatrixForm& form = machine_->kernel.matrices()[op.second];
  const MatrixPiece* piece = form.places.data();
  for (unsigned reg = 0; reg < static_cast<unsigned>(form.fragment.registers); ++reg) {
    LaneSlots* const part = at(slots_[op.operands + reg]);
    const auto where = [&](unsigned i, int l) {
      const MatrixPiece& at_piece = piece[i * kLanes + static_cast<unsigned>(l)];
      return lines.lane[at_piece.line] + at_piece.byte;
    };
    if (part)
      with_width(piece_bytes(form), [&](auto width) {
        if (form.store)
          store_pieces<decltype(width)>(*part, form.pieces, where);
        else
          load_pieces<decltype(width)>(*part, form.pieces, where);
      });
    piece += std::size_t{form.pieces} * kLanes;
  }
}

void Warp::wmma_one_by_one(const Operation& op, Reach reach, const WmmaPlace& place) {
  const MatrixForm& form = machine_->kernel.matrices()[op.second];
  const unsigned bytes = piece_bytes(form);
  for (unsigned reg = 0; reg < static_cast<unsigned>(form.fragment.registers); ++reg) {
    LaneSlots* const part = at(slots_[op.operands + reg]);
    for (std::uint32_t l = 0; l < kWarpSize && part; ++l) {
      std::uint64_t bits = form.store ? part->lane[l] : 0;
      for (unsigned i = 0; i < form.pieces; ++i) {
        const Address address = place.of(form.places[(reg * form.pieces + i) * kLanes + l], l);
        std::byte* const where = resolve_one(reach, l, bytes, address);
        if (!where) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address, {});
        if (machine_->accesses && reinterpret_cast<Address>(where) == address)
          note_range(address, bytes, form.store ? Use::kWrite : Use::kRead);
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

void Warp::wmma_move(const Operation& op, LaneMask active) {
  const MatrixForm& form = machine_->kernel.matrices()[op.second];
  const MemoryForm& memory = machine_->kernel.memory()[op.detail];
  if (active == 0) {
    if (record_) note(active);
    return;
  }
  if (active != kAllLanes)
    fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  WmmaPlace place;
  addresses(memory, active, place.base);
  for (std::uint32_t l = 0; l < kWarpSize; ++l)
    place.stride_bits[l] = form.stride.exists() ? static_cast<std::uint32_t>(at(form.stride)->lane[l]) *
                                                      static_cast<std::uint64_t>(form.fragment.bits)
                                                : form.line_bits;
  if (record_) {
    Addresses first;
    for (std::uint32_t l = 0; l < kWarpSize; ++l) first.lane[l] = place.of(form.places[l], l);
    note(active, first);
  }
  Pointers lines;
  if (wmma_lines(form, memory.reach, place, lines))
    wmma_by_lines(op, lines);
  else
    wmma_one_by_one(op, memory.reach, place);
}

}  // namespace lockstep::exec
