// Which mbarriers of a cluster a recorded instruction signals.
//
// The first word of an arrival's record, and of a bulk copy's, is the mbarrier's number; the second one
// counts events. Mbarriers at the same place of their CTAs' shared memory have the same number in all CTAs of
// a cluster. Bits 32 to 47 of the first word have the ranks of the CTAs whose mbarriers are signalled; none
// stands for the CTA's own. Where lanes signal different mbarriers, the record has such a word for each lane,
// which counts one event, with bit 63. The addresses of st.async and red.async, whose mbarriers are in the
// CTAs of the data, have its number from bit 32 on.
#pragma once

#include <cstdint>

namespace lockstep::trace {

inline constexpr unsigned kSignalTargetShift = 32;
inline constexpr std::uint64_t kSignalByLane = std::uint64_t{1} << 63;

[[nodiscard]] constexpr std::uint64_t signal_word(std::uint32_t mbarrier, std::uint32_t targets) {
  return mbarrier | std::uint64_t{targets} << kSignalTargetShift;
}
[[nodiscard]] constexpr std::uint32_t mbarrier_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
[[nodiscard]] constexpr std::uint16_t targets_of(std::uint64_t word) {
  return static_cast<std::uint16_t>(word >> kSignalTargetShift);
}

}  // namespace lockstep::trace
