#include "core/coalescer.hpp"

#include <algorithm>

#include "util/bits.hpp"

namespace lockstep::core {
namespace {

bool wants_bytes(Coalescer::Detail detail) {
  return detail == Coalescer::Detail::kBytes || detail == Coalescer::Detail::kOperationsAndBytes;
}
bool wants_operations(Coalescer::Detail detail) {
  return detail == Coalescer::Detail::kOperations || detail == Coalescer::Detail::kOperationsAndBytes;
}

/// Sectors of a line that bytes [first, first + bytes) touch.
SectorMask sectors_of(unsigned first, unsigned bytes) {
  const unsigned low = first / kSectorBytes, high = (first + bytes - 1) / kSectorBytes;
  return static_cast<SectorMask>((2u << high) - (1u << low));
}

void mark_bytes(std::array<std::uint32_t, kSectorsPerLine>& marks, unsigned first, unsigned bytes) {
  for (unsigned end = first + bytes; first < end;) {
    const unsigned sector = first / kSectorBytes, in_sector = first % kSectorBytes;
    const unsigned n = std::min(end - first, kSectorBytes - in_sector);
    marks[sector] |= static_cast<std::uint32_t>(((std::uint64_t{1} << n) - 1) << in_sector);
    first += n;
  }
}

/// All sectors between the first and the last byte, in ascending order.
void cover_range(Address first, Address end, Coalescer::Detail detail, LineList& out) {
  out.count = 0;
  while (first < end) {
    const Address line = line_of(first);
    const auto offset = static_cast<unsigned>(first - line);
    const auto bytes = static_cast<unsigned>(std::min<Address>(end - first, kLineBytes - offset));
    out.line[out.count] = {line, sectors_of(offset, bytes), 0};
    if (detail == Coalescer::Detail::kBytes) {
      out.bytes[out.count] = {};
      mark_bytes(out.bytes[out.count], offset, bytes);
    }
    ++out.count;
    first += bytes;
  }
}

}  // namespace

void LaneAddresses::load(const MioOperation& op) {
  form_ = op.form;
  mask_ = op.mask;
  width_ = std::clamp<unsigned>(op.access_bytes, 1, kMaxBytes);
  words_ = op.words;
  base_ = words_[0];
  expanded_ = false;
  affine_ = form_ == trace::AddressForm::kAffine || (mask_ & (mask_ - 1)) == 0;
  stride_ = form_ == trace::AddressForm::kAffine ? words_[1] : 0;
  const bool delta = form_ == trace::AddressForm::kDelta || form_ == trace::AddressForm::kShared;
  offsets_ = !delta || affine_                      ? nullptr
             : form_ == trace::AddressForm::kShared ? trace::shared_offsets(words_)
                                                    : words_ + 1;
}

const std::array<Address, kWarpSize>& LaneAddresses::each() {
  if (!expanded_) {
    if (affine_) {
      const int first = std::countr_zero(mask_);
      for (unsigned lane = static_cast<unsigned>(first); lane < kWarpSize; ++lane)
        each_[lane] = base_ + stride_ * (lane - static_cast<unsigned>(first));
    } else if (offsets_ && run()) {
      Address* out = each_.data() + std::countr_zero(mask_);
      out[0] = base_;
      for (unsigned i = 1, n = lanes(); i < n; ++i) {
        const std::uint64_t pair = offsets_[(i - 1) / 2];
        out[i] = base_ + static_cast<Address>(
                             std::int64_t{static_cast<std::int32_t>(i % 2 == 1 ? pair : pair >> 32)});
      }
    } else {
      trace::expand_addresses(form_, mask_, words_, each_.data());
    }
    expanded_ = true;
  }
  return each_;
}

void Coalescer::start(LineList& out) {
  out.count = 0;
  seen_ = 0;
}

unsigned Coalescer::find_or_add(LineList& out, Address line, Detail detail) {
  if (out.count > 0 && out.line[last_].line == line) return last_;
  const Address number = line / kLineBytes;
  const auto bucket = static_cast<unsigned>((number ^ number >> 6 ^ number >> 12) & 63);
  const bool used = seen_ >> bucket & 1;
  if (used) {
    unsigned i = slot_[bucket];
    if (out.line[i].line != line)
      for (i = 0; i < out.count && out.line[i].line != line;) ++i;
    if (i < out.count) return last_ = i;
  }
  const unsigned i = out.count++;
  out.line[i] = {line, 0, 0};
  if (wants_bytes(detail)) out.bytes[i] = {};
  if (!used) slot_[bucket] = static_cast<std::uint16_t>(i);
  seen_ |= std::uint64_t{1} << bucket;
  return last_ = i;
}

void Coalescer::add(LineList& out, Address line, unsigned first_byte, unsigned bytes, Detail detail) {
  const unsigned i = find_or_add(out, line, detail);
  LineAccess& access = out.line[i];
  access.sectors |= sectors_of(first_byte, bytes);
  if (wants_bytes(detail)) mark_bytes(out.bytes[i], first_byte, bytes);
  if (wants_operations(detail))
    access.operations =
        static_cast<std::uint8_t>(std::min(255u, access.operations + std::max(1u, bytes / 4)));
}

void Coalescer::coalesce(LaneAddresses& a, Detail detail, LineList& out) {
  const unsigned width = a.width();
  // Neighbours at most a sector apart skip no sector; stores must touch every byte besides.
  const bool gapless = detail == Detail::kBytes ? a.stride() == width || a.lanes() == 1 || a.stride() == 0
                                                : a.stride() <= kSectorBytes;
  if (a.affine() && gapless && a.run() && !wants_operations(detail)) {
    const Address end = a.base() + a.stride() * (a.lanes() - 1) + width;
    if (end > a.base()) return cover_range(a.base(), end, detail, out);
  }
  start(out);
  const auto& each = a.each();
  for (const unsigned lane : bits_of(a.mask())) {
    const Address first = each[lane];
    const auto offset = static_cast<unsigned>(first % kLineBytes);
    const unsigned here = std::min(width, kLineBytes - offset);
    add(out, line_of(first), offset, here, detail);
    if (here < width) add(out, line_of(first) + kLineBytes, 0, width - here, detail);
  }
}

void Coalescer::coalesce_local(LaneAddresses& a, const LocalWindow& window, Detail detail, LineList& out) {
  start(out);
  const unsigned bytes = std::min(a.width(), 4u), words = (a.width() + 3) / 4;
  const auto row = [&](Address offset, unsigned word) {
    return window.base + (offset / 4 + word) % (LocalWindow::kThreadBytes / 4) * kLineBytes;
  };
  if (a.affine() && a.stride() == 0 &&
      detail == Detail::kNone) {  // the usual case: every lane at the same offset
    SectorMask sectors = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (a.mask() >> 8 * s & 0xff) sectors |= static_cast<SectorMask>(1u << s);
    for (unsigned word = 0; word < words; ++word)
      out.line[word] = {row(window.offset(a.base()), word), sectors, 0};
    out.count = words;
    return;
  }
  const auto& each = a.each();
  for (const unsigned lane : bits_of(a.mask())) {
    const Address offset = window.offset(each[lane]) & ~Address{bytes - 1};
    for (unsigned word = 0; word < words; ++word)
      add(out, row(offset, word), 4 * lane + static_cast<unsigned>(offset % 4), bytes, detail);
  }
}

}  // namespace lockstep::core
