#include "core/l1_cache.hpp"

#include <algorithm>
#include <bit>

#include "sim/clock.hpp"
#include "util/byte_match.hpp"

namespace lockstep::core {
namespace {

constexpr std::uint32_t kHintable = 0x10000;
// Line numbers that take part in the choice of a set: addresses of 49 bits.
constexpr std::uint64_t kLineNumbers = (std::uint64_t{1} << 42) - 1;

std::uint64_t divide(std::uint64_t x, std::uint64_t inverse) {
  return static_cast<std::uint64_t>(static_cast<sim::Wide>(x) * inverse >> 64);
}

}  // namespace

L1Cache::L1Cache(const config::L1Group& l1)
    : hit_renews_(l1.replacement == config::L1Replacement::kLru),
      lines_(std::max(1u, l1.bytes / kLineBytes)),
      ways_(std::clamp(l1.ways, 1u, lines_)),
      shift_(static_cast<unsigned>(std::bit_width(ways_ - 1))) {
  const std::uint32_t max_sets = (lines_ + ways_ - 1) / ways_;
  first_.resize(max_sets);
  words_.resize(std::size_t{max_sets} << shift_);
  links_.resize(words_.size());
  prints_.resize(words_.size() + 7);  // read eight at a time
  hints_.resize(std::bit_ceil(lines_));
  divide_into_sets(lines_);
}

void L1Cache::divide_into_sets(std::uint32_t lines) {
  left_ = lines;
  sets_ = (lines + ways_ - 1) / ways_;
  active_ = lines / sets_;
  // With one set 2^64 does not fit; the largest 64-bit number gives x - 1 as quotient for x > 0, see
  // locate().
  inverse_ = sets_ == 1 ? ~std::uint64_t{0} : ~std::uint64_t{0} / sets_ + 1;
  for (std::uint32_t s = 0; s < sets_; ++s) {
    first_[s] = 0;
    for (std::uint32_t w = 0; w < active_; ++w) {
      const std::uint32_t before = w == 0 ? active_ - 1 : w - 1, after = w + 1 == active_ ? 0 : w + 1;
      links_[(std::size_t{s} << shift_) + w] = {static_cast<std::uint16_t>(before),
                                                static_cast<std::uint16_t>(after)};
    }
  }
}

L1Cache::Location L1Cache::locate(Address line) const {
  const std::uint64_t number = line / kLineBytes & kLineNumbers;
  if (sets_ == 1) return {0, static_cast<std::uint8_t>(number ^ number >> 8)};
  const std::uint64_t block = divide(number, inverse_);
  const std::uint64_t rotated = number + (static_cast<std::uint32_t>(block * 0x9e3779b1u) >> 16);
  const auto set = static_cast<std::uint32_t>(rotated - divide(rotated, inverse_) * sets_);
  return {set, static_cast<std::uint8_t>(block ^ block >> 8)};
}

std::uint32_t L1Cache::find(Address line) {
  if (!uses_hints()) return scan(line);
  std::uint16_t& last = hint(line);
  if (holds(last, line)) return last;
  const std::uint32_t place = scan(line);
  if (place < kHintable) last = static_cast<std::uint16_t>(place);
  return place;
}

std::uint32_t L1Cache::scan(Address line) const {
  const Location at = locate(line);
  const std::uint32_t base = at.set << shift_;
  for (std::uint32_t i = 0; i < active_; i += 8) {
    std::uint64_t equal = matching_bytes(eight_bytes(&prints_[base + i]), at.print);
    if (active_ - i < 8) equal &= (std::uint64_t{1} << 8 * (active_ - i)) - 1;  // the rest is other sets'
    for (; equal; equal &= equal - 1) {
      const std::uint32_t place = base + i + static_cast<std::uint32_t>(std::countr_zero(equal)) / 8;
      if (holds(place, line)) return place;
    }
  }
  return kNone;
}

void L1Cache::renew(std::uint32_t place) {
  const std::uint32_t set = place >> shift_, base = set << shift_;
  const auto way = static_cast<std::uint16_t>(place - base);
  const std::uint16_t first = first_[set];
  if (way == first) return;
  first_[set] = way;
  Link& link = links_[place];
  const std::uint16_t last = links_[base + first].previous;
  if (way == last) return;  // a ring: the last becomes the first by naming it so
  links_[base + link.previous].next = link.next;
  links_[base + link.next].previous = link.previous;
  link = {last, first};
  links_[base + last].next = way;
  links_[base + first].previous = way;
}

void L1Cache::fill(Address line, SectorMask sectors) {
  if (const std::uint32_t place = find(line); place != kNone) {
    words_[place] |= sectors;
    return;
  }
  insert(line, sectors);
}

void L1Cache::insert(Address line, unsigned bits) {
  const Location at = locate(line);
  const std::uint32_t base = at.set << shift_;
  const std::uint16_t victim = links_[base + first_[at.set]].previous;
  words_[base + victim] = line | bits;
  prints_[base + victim] = at.print;
  if (uses_hints() && base + victim < kHintable) hint(line) = static_cast<std::uint16_t>(base + victim);
  first_[at.set] = victim;
}

void L1Cache::drop(std::uint32_t place, SectorMask sectors) {
  words_[place] &= ~Address{sectors};
  if ((words_[place] & kOccupied) != 0) return;
  const std::uint32_t set = place >> shift_;
  renew(place);
  first_[set] = links_[place].next;  // the first of a ring becomes the last
}

void L1Cache::drop_range(Address first, Address bytes) {
  for (std::uint32_t s = 0; s < sets_; ++s)
    for (std::uint32_t place = s << shift_; place < (s << shift_) + active_; ++place) {
      const std::uint64_t word = words_[place];
      if ((word & kOccupied) != 0 && (word & ~Address{0x7f}) - first < bytes) drop(place, 0xf);
    }
}

void L1Cache::invalidate() { std::fill(words_.begin(), words_.end(), 0); }

void L1Cache::set_shared_bytes(std::uint32_t bytes) {
  const std::uint32_t taken = bytes / kLineBytes + (bytes % kLineBytes != 0);
  const std::uint32_t lines = std::max(lines_ - std::min(lines_, taken), 1u);
  if (lines == left_) return;
  invalidate();
  divide_into_sets(lines);
}

}  // namespace lockstep::core
