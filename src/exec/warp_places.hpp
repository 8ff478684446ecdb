// Where the warps of a kernel stand, for messages about kernels that do not end.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "util/types.hpp"

namespace lockstep::exec {

/// Warps by the place in the program at which they stand; a kernel's thousands stand at a few.
class WarpPlaces {
 public:
  void add(Dim3 cta, std::uint32_t warp, const std::string& place);
  /// A line for each place, in the order in which the places were added: the first warp that stands there,
  /// how many others do, and the place. After kMaxLines of them, one with the number of warps that are
  /// elsewhere.
  [[nodiscard]] std::string text() const;

  static constexpr std::size_t kMaxLines = 16;

 private:
  struct Place {
    Dim3 cta;  // of the first warp
    std::uint32_t warp;
    std::string name;
    std::uint64_t warps = 0;
  };
  std::vector<Place> places_;
  std::unordered_map<std::string, std::size_t> by_name_;  // indices of places_
};

}  // namespace lockstep::exec
