// With which flags the program's page-locked memory was allocated or registered.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "util/types.hpp"

namespace lockstep::cuda {

class PinnedFlags {
 public:
  void add(Address begin, std::uint64_t bytes, unsigned flags) { ranges_[begin] = {bytes, flags}; }
  /// Nothing changes where no range begins there.
  void remove(Address begin) { ranges_.erase(begin); }

  /// Of the range that holds `address`: the program's flags, and cudaHostAllocMapped: with unified addressing
  /// all page-locked memory is mapped, which the tests of HIP (hipHostGetFlags.cc) and of Panoptes expect of
  /// NVIDIA's runtime.
  [[nodiscard]] std::optional<unsigned> find(Address address) const {
    constexpr unsigned kMapped = 2;
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return std::nullopt;
    const auto& [begin, range] = *std::prev(after);
    if (address - begin >= range.bytes) return std::nullopt;
    return range.flags | kMapped;
  }

 private:
  struct Range {
    std::uint64_t bytes = 0;
    unsigned flags = 0;
  };
  std::map<Address, Range> ranges_;  // by the first address
};

}  // namespace lockstep::cuda
