#include "exec/lane_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/alu_lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep::exec {

namespace {

/// All lanes; `address(l)` gives their addresses.
template <class F>
LOCKSTEP_INLINE AddressSpan span_of_all(std::uint64_t first, std::uint32_t bytes, const F& address) {
  std::uint64_t any = 0, differ = 0, apart = 0;
  auto lowest = static_cast<std::int64_t>(first), highest = lowest;
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::uint64_t here = address(l);
    any |= here;
    differ |= here ^ first;
    apart |= here ^ (first + std::uint64_t{l} * bytes);
    lowest = std::min(lowest, static_cast<std::int64_t>(here));
    highest = std::max(highest, static_cast<std::int64_t>(here));
  }
  return {any, differ, static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest), apart == 0};
}

LOCKSTEP_INLINE AddressSpan span_body(const std::uint64_t* a, std::uint32_t mask, std::uint32_t bytes) {
  if (mask == ~0u) return span_of_all(a[0], bytes, [a](unsigned l) { return a[l]; });
  const std::uint64_t first = a[std::countr_zero(mask)];
  std::uint64_t any = 0, differ = 0;
  auto lowest = static_cast<std::int64_t>(first), highest = lowest;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t here = a[std::countr_zero(rest)];
    any |= here;
    differ |= here ^ first;
    lowest = std::min(lowest, static_cast<std::int64_t>(here));
    highest = std::max(highest, static_cast<std::int64_t>(here));
  }
  return {any, differ, static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest), false};
}

LOCKSTEP_INLINE AddressSpan locate_body(const LaneValues& base, std::uint64_t offset, std::uint64_t keep,
                                        std::uint32_t mask, std::uint32_t bytes, std::uint64_t* out) {
  if (mask == ~0u)  // written and looked at in one pass
    return span_of_all((base.lane[0] + offset) & keep, bytes,
                       [&](unsigned l) { return out[l] = (base.lane[l] + offset) & keep; });
  for (unsigned l = 0; l < kLanes; ++l) out[l] = (base.lane[l] + offset) & keep;
  return span_body(out, mask, bytes);
}

template <class T>
LOCKSTEP_INLINE void load_body(const std::byte* from, LaneValues& to) {
  LOCKSTEP_LANE_LOOP  // memory and registers do not overlap
      for (int l = 0; l < kLanes; ++l) {
    T value;
    std::memcpy(&value, from + static_cast<std::size_t>(l) * sizeof value, sizeof value);
    to.lane[l] = value;
  }
}

template <class T>
LOCKSTEP_INLINE void store_body(std::byte* to, const LaneValues& from) {
  LOCKSTEP_LANE_LOOP
  for (int l = 0; l < kLanes; ++l) {
    const auto value = static_cast<T>(from.lane[l]);
    std::memcpy(to + static_cast<std::size_t>(l) * sizeof value, &value, sizeof value);
  }
}

AddressSpan span_base(const std::uint64_t* a, std::uint32_t mask, std::uint32_t bytes) {
  return span_body(a, mask, bytes);
}
AddressSpan locate_base(const LaneValues& base, std::uint64_t offset, std::uint64_t keep, std::uint32_t mask,
                        std::uint32_t bytes, std::uint64_t* out) {
  return locate_body(base, offset, keep, mask, bytes, out);
}
std::uint32_t predicate_base(const LaneValues& values) {
  std::uint32_t mask = 0;
  for (unsigned l = 0; l < kLanes; ++l) mask |= static_cast<std::uint32_t>(values.lane[l] & 1) << l;
  return mask;
}
template <class T>
void load_base(const std::byte* from, LaneValues& to) {
  load_body<T>(from, to);
}
template <class T>
void store_base(std::byte* to, const LaneValues& from) {
  store_body<T>(to, from);
}

LOCKSTEP_WIDE AddressSpan span_wide(const std::uint64_t* a, std::uint32_t mask, std::uint32_t bytes) {
  return span_body(a, mask, bytes);
}
LOCKSTEP_WIDE AddressSpan locate_wide(const LaneValues& base, std::uint64_t offset, std::uint64_t keep,
                                      std::uint32_t mask, std::uint32_t bytes, std::uint64_t* out) {
  return locate_body(base, offset, keep, mask, bytes, out);
}
template <class T>
LOCKSTEP_WIDE void load_wide(const std::byte* from, LaneValues& to) {
  load_body<T>(from, to);
}
template <class T>
LOCKSTEP_WIDE void store_wide(std::byte* to, const LaneValues& from) {
  store_body<T>(to, from);
}
#if defined(__x86_64__)
LOCKSTEP_WIDE std::uint32_t predicate_wide(const LaneValues& values) {
  std::uint32_t mask = 0;
  for (unsigned l = 0; l < kLanes; l += 4) {
    const __m256i four = _mm256_load_si256(reinterpret_cast<const __m256i*>(values.lane + l));
    const int bits = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(four, 63)));
    mask |= static_cast<std::uint32_t>(bits) << l;
  }
  return mask;
}
#else
std::uint32_t predicate_wide(const LaneValues& values) { return predicate_base(values); }
#endif

using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
constexpr LaneMemory kBase{
    &span_base,
    &locate_base,
    &predicate_base,
    {&load_base<uint8_t>, &load_base<uint16_t>, &load_base<uint32_t>, &load_base<uint64_t>},
    {&store_base<uint8_t>, &store_base<uint16_t>, &store_base<uint32_t>, &store_base<uint64_t>}};
constexpr LaneMemory kWide{
    &span_wide,
    &locate_wide,
    &predicate_wide,
    {&load_wide<uint8_t>, &load_wide<uint16_t>, &load_wide<uint32_t>, &load_wide<uint64_t>},
    {&store_wide<uint8_t>, &store_wide<uint16_t>, &store_wide<uint32_t>, &store_wide<uint64_t>}};

}  // namespace

const LaneMemory& lane_memory() { return alu::has_wide_lanes() ? kWide : kBase; }

}  // namespace lockstep::exec
