#include "mem/apertures.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace lockstep::mem {

void Apertures::place(Address begin, std::uint64_t bytes, std::uint16_t device) {
  if (bytes == 0) return;
  const Address last = begin + std::min(bytes - 1, std::numeric_limits<Address>::max() - begin);
  cut(begin);
  if (last != std::numeric_limits<Address>::max()) cut(last + 1);
  ranges_.erase(ranges_.lower_bound(begin), ranges_.upper_bound(last));
  ranges_[begin] = {last, device};
}

/// A range that reaches over `at` becomes two.
void Apertures::cut(Address at) {
  const auto next = ranges_.lower_bound(at);
  if (next == ranges_.begin()) return;
  Range& range = std::prev(next)->second;
  if (range.last < at) return;
  ranges_.emplace_hint(next, at, range);
  range.last = at - 1;
}

}  // namespace lockstep::mem
