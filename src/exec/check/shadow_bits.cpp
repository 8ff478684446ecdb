#include "exec/check/shadow_bits.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace lockstep::exec {

namespace {

constexpr std::uint64_t kBits = 64;

/// Calls f(word, mask) for each word of a range of bits, until it says false.
template <class F>
void each_word(std::uint64_t from, std::uint64_t count, F&& f) {
  while (count > 0) {
    const std::uint64_t low = from % kBits, some = std::min(count, kBits - low);
    const std::uint64_t mask = (some == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << some) - 1) << low;
    if (!f(from / kBits, mask)) return;
    from += some;
    count -= some;
  }
}

}  // namespace

void set_bits(std::span<std::uint64_t> words, std::uint64_t from, std::uint64_t count, bool value) {
  each_word(from, count, [&](std::uint64_t word, std::uint64_t mask) {
    words[word] = value ? words[word] | mask : words[word] & ~mask;
    return true;
  });
}

std::optional<std::uint64_t> first_bit(std::span<const std::uint64_t> words, std::uint64_t from,
                                       std::uint64_t count, bool value) {
  std::optional<std::uint64_t> found;
  each_word(from, count, [&](std::uint64_t word, std::uint64_t mask) {
    const std::uint64_t wanted = (value ? words[word] : ~words[word]) & mask;
    if (wanted != 0) found = word * kBits + static_cast<unsigned>(std::countr_zero(wanted));
    return wanted == 0;
  });
  return found;
}

ShadowBits::Page* ShadowBits::page(Address at, bool make) const {
  const std::uint64_t number = at >> kPageShift;
  if (number == last_number_) return last_;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    if (!make) return nullptr;
    found = pages_.emplace(number, std::make_unique<Page>()).first;
  }
  last_number_ = number;
  return last_ = found->second.get();
}

void ShadowBits::set(Address begin, std::uint64_t bytes, bool value) {
  while (bytes > 0) {
    const std::uint64_t offset = begin % kPageBytes, some = std::min(bytes, kPageBytes - offset);
    if (Page* const bits = page(begin, value)) set_bits(bits->words, offset, some, value);
    begin += some;
    bytes -= some;
  }
}

std::optional<Address> ShadowBits::first(Address begin, std::uint64_t bytes, bool value) const {
  while (bytes > 0) {
    const std::uint64_t offset = begin % kPageBytes, some = std::min(bytes, kPageBytes - offset);
    const Page* const bits = page(begin, false);
    if (!bits && !value) return begin;
    if (bits)
      if (const auto found = first_bit(bits->words, offset, some, value)) return begin - offset + *found;
    begin += some;
    bytes -= some;
  }
  return std::nullopt;
}

void ShadowBits::move(Address to, Address from, std::uint64_t bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  // of set bits: begin and end, from `from`
  for (std::uint64_t at = 0; at < bytes;) {
    const auto begin = first(from + at, bytes - at, true);
    if (!begin) break;
    const auto end = first(*begin, from + bytes - *begin, false);
    at = end ? *end - from : bytes;
    runs.emplace_back(*begin - from, at);
  }
  set(to, bytes, false);
  for (const auto& [begin, end] : runs) set(to + begin, end - begin, true);
}

}  // namespace lockstep::exec
