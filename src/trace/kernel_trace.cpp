#include "trace/kernel_trace.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace lockstep::trace {
namespace {

/// Whether the addresses lie on one line; its stride goes to `stride`. Needs at least two active lanes.
bool find_stride(LaneMask mask, const Address addresses[kWarpSize], std::uint64_t& stride) {
  const int first = std::countr_zero(mask);
  const LaneMask others = mask & (mask - 1);
  const int second = std::countr_zero(others);
  const auto distance = static_cast<std::int64_t>(addresses[second] - addresses[first]);
  if (distance % (second - first) != 0) return false;
  stride = static_cast<std::uint64_t>(distance / (second - first));
  if (mask == ~LaneMask{0}) {  // the usual case: without a branch for each lane
    std::uint64_t differ = 0;
    for (unsigned lane = 1; lane < kWarpSize; ++lane)
      differ |= (addresses[lane] - addresses[lane - 1]) ^ stride;
    return differ == 0;
  }
  for (LaneMask rest = others; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (addresses[lane] != addresses[first] + stride * static_cast<std::uint64_t>(lane - first)) return false;
  }
  return true;
}

/// The addresses of kDelta: base and offsets of the others, two a word. False: an offset does not fit.
bool push_offsets(LaneMask mask, const Address addresses[kWarpSize], std::vector<std::uint64_t>& words) {
  static_assert(std::endian::native == std::endian::little);  // the first of two offsets is the low half
  Address some[kWarpSize];
  const Address* active = addresses;  // of a full warp without a copy
  unsigned count = kWarpSize;
  if (mask != ~LaneMask{0}) {
    active = some;
    count = 0;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) some[count++] = addresses[std::countr_zero(rest)];
  }
  std::uint32_t offsets[kWarpSize] = {};
  std::uint64_t wide = 0;
  for (unsigned i = 1; i < count; ++i) {
    const std::uint64_t offset = active[i] - active[0];
    offsets[i - 1] = static_cast<std::uint32_t>(offset);
    wide |= (offset + 0x80000000u) >> 32;
  }
  if (wide != 0) return false;
  const std::size_t first = words.size();
  words.resize(first + 1 + count / 2);
  words[first] = active[0];
  std::memcpy(&words[first + 1], offsets, count / 2 * sizeof(std::uint64_t));
  return true;
}

}  // namespace

void expand_addresses(AddressForm form, LaneMask mask, const std::uint64_t* words, Address out[kWarpSize]) {
  if (form == AddressForm::kNone || mask == 0) return;
  if (form == AddressForm::kAffine && mask == ~LaneMask{0}) {  // the usual case
    for (unsigned lane = 0; lane < kWarpSize; ++lane) out[lane] = words[0] + words[1] * lane;
    return;
  }
  const int first = std::countr_zero(mask);
  const std::uint64_t* offsets = form == AddressForm::kShared ? shared_offsets(words) : words + 1;
  unsigned position = 0;  // of the lane among the active ones
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1, ++position) {
    const int lane = std::countr_zero(rest);
    if (form == AddressForm::kAffine) {
      out[lane] = words[0] + words[1] * static_cast<std::uint64_t>(lane - first);
    } else if (form == AddressForm::kList) {
      out[lane] = words[position];
    } else if (position == 0) {
      out[lane] = words[0];
    } else {
      const std::uint64_t pair = offsets[(position - 1) / 2];
      const auto offset = static_cast<std::int32_t>(position % 2 == 1 ? pair : pair >> 32);
      out[lane] = words[0] + static_cast<std::uint64_t>(std::int64_t{offset});
    }
  }
}

AddressForm pack_addresses(LaneMask mask, const Address addresses[kWarpSize],
                           std::vector<std::uint64_t>& words) {
  if (mask == 0) return AddressForm::kNone;
  const Address base = addresses[std::countr_zero(mask)];
  const LaneMask others = mask & (mask - 1);
  if (others == 0) {
    words.push_back(base);
    return AddressForm::kDelta;
  }
  std::uint64_t stride = 0;
  if (find_stride(mask, addresses, stride)) {
    words.push_back(base);
    words.push_back(stride);
    return AddressForm::kAffine;
  }
  if (push_offsets(mask, addresses, words)) return AddressForm::kDelta;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) words.push_back(addresses[std::countr_zero(rest)]);
  return AddressForm::kList;
}

void CtaFeed::skip(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t stop = std::min(end, begin + kAtOnce);
    decode_now(stop);
    for (; begin < stop; ++begin) release(take(begin));
  }
}

std::uint32_t StaticTable::push(const StaticInst& inst) {
  if (size_ == kMaxChunks * kChunk)
    throw std::length_error("more than 2^22 distinct instructions in a kernel");
  auto& chunk = chunks_[size_ / kChunk];
  if (!chunk) chunk = std::make_unique<StaticInst[]>(kChunk);
  chunk[size_ % kChunk] = inst;
  return size_++;
}

}  // namespace lockstep::trace
