#include "libraries/fft/lengths.hpp"

namespace lockstep::libraries::fft {
namespace {

bool smooth(unsigned length) {
  for (const unsigned prime : {2U, 3U, 5U, 7U, 11U, 13U})
    while (length % prime == 0) length /= prime;
  return length == 1;
}

/// The smallest divisor of `length` from `from` up to `limit`; 0: none.
unsigned divisor_from(unsigned length, unsigned from, unsigned limit) {
  for (unsigned candidate = from; candidate <= limit; ++candidate)
    if (length % candidate == 0) return candidate;
  return 0;
}

unsigned root_of(unsigned length, unsigned degree) {
  for (unsigned long long root = 1;; ++root) {
    unsigned long long power = root;
    for (unsigned d = 1; d < degree; ++d) power *= root;
    if (power >= length) return static_cast<unsigned>(root);
  }
}

}  // namespace

std::vector<unsigned> radices(unsigned length) {
  std::vector<unsigned> result;
  if (length == 0 || !smooth(length)) return result;
  for (const unsigned radix : {13U, 11U, 7U, 5U, 3U})
    for (; length % radix == 0; length /= radix) result.push_back(radix);
  // The powers of two last: their stages have the wider spans. 16 is two of four rather than eight and two.
  for (; length % 8 == 0 && length != 16; length /= 8) result.push_back(8);
  for (; length % 4 == 0; length /= 4) result.push_back(4);
  if (length == 2) result.push_back(2);
  return result;
}

std::vector<unsigned> pass_lengths(unsigned length, unsigned limit) {
  if (!smooth(length)) return {};
  if (length <= limit) return {length};
  if (const unsigned first = divisor_from(length, root_of(length, 2), limit); first != 0)
    return {first, length / first};
  for (unsigned from = root_of(length, 3); from <= limit; ++from) {
    const unsigned first = divisor_from(length, from, limit);
    if (first == 0) return {};
    const unsigned rest = length / first;
    if (const unsigned second = divisor_from(rest, root_of(rest, 2), limit); second != 0)
      return {first, second, rest / second};
    from = first;
  }
  return {};
}

unsigned padded_length(unsigned length) {
  unsigned padded = 2;
  while (padded < 2ULL * length - 1) padded *= 2;
  return padded;
}

}  // namespace lockstep::libraries::fft
