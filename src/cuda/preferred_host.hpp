// Managed memory whose preferred location is the host, as the program's cudaMemAdvise says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "util/types.hpp"

namespace lockstep::cuda {

/// A set of addresses, kept as ranges that do not touch.
class PreferredHost {
 public:
  /// cudaMemAdvise sets the preferred location of the range, to the host or not, or unsets it.
  void set(Address begin, std::uint64_t bytes, bool host) {
    Address end = begin + bytes;
    auto range = ranges_.upper_bound(begin);
    if (range != ranges_.begin() && std::prev(range)->second >= begin) --range;
    while (range != ranges_.end() && range->first <= end) {
      const auto [first, last] = *range;
      range = ranges_.erase(range);
      if (host) {
        begin = std::min(begin, first);
        end = std::max(end, last);
        continue;
      }
      if (first < begin) ranges_[first] = begin;
      if (last > end) ranges_[end] = last;
    }
    if (host) ranges_[begin] = end;
  }
  [[nodiscard]] bool contains(Address address) const {
    const auto range = ranges_.upper_bound(address);
    return range != ranges_.begin() && std::prev(range)->second > address;
  }

 private:
  std::map<Address, Address> ranges_;  // begin -> end
};

}  // namespace lockstep::cuda
