#include "mem/tag_array.hpp"

namespace lockstep::mem {

std::optional<Slot> TagArray::victim(std::uint32_t set, bool far, std::uint32_t far_ways) const {
  const Slot begin = set * ways_, end = begin + ways_;
  if (far) {
    std::uint32_t copies = 0;
    for (Slot s = begin; s < end; ++s) copies += keys_[s] != 0 && lines_[s].far;
    far = copies >= far_ways;  // from here on: only a far copy may be replaced
  }
  std::optional<Slot> best;
  for (Slot s = begin; s < end; ++s) {
    if (keys_[s] == 0) {
      if (far) continue;
      return s;
    }
    if (best && used_[s] >= used_[*best]) continue;
    if (lines_[s].mshr != kNoMshr || (far && !lines_[s].far)) continue;
    best = s;
  }
  return best;
}

}  // namespace lockstep::mem
