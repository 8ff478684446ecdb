// The state from which both encoder and decoder of a compact trace's chunks predict.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

// A record's token: bits 0-2 its mask, bits 3-4 its AddressForm, bit 5 set when the instruction is no
// successor as predicted.
inline constexpr unsigned kMaskBits = 7, kFormShift = 3, kTokenInst = 32, kTokenEnd = 64;
inline constexpr unsigned kRecentMasks = 6;                 // mask codes 0 to 5, latest first
inline constexpr unsigned kMaskSubset = 6, kMaskPlain = 7;  // new ones: within the latest; any

/// The masks that a sequence used last, latest first.
class RecentMasks {
 public:
  [[nodiscard]] unsigned find(LaneMask mask) const {
    return static_cast<unsigned>(std::find(masks_.begin(), masks_.end(), mask) - masks_.begin());
  }
  LaneMask use(unsigned position) {
    const LaneMask mask = masks_[position];
    std::copy_backward(masks_.begin(), masks_.begin() + position, masks_.begin() + position + 1);
    return masks_[0] = mask;
  }
  void add(LaneMask mask) {
    std::copy_backward(masks_.begin(), masks_.end() - 1, masks_.end());
    masks_[0] = mask;
  }
  [[nodiscard]] LaneMask latest() const { return masks_[0]; }

 private:
  std::array<LaneMask, kRecentMasks> masks_{~LaneMask{0}};
};

/// Which instruction followed each one last; at first the next of the table.
class Successors {
 public:
  void reset() { next_.clear(); }
  /// `previous`: 0 at a warp's start, else the last instruction + 1.
  std::uint32_t& after(std::uint32_t previous) {
    while (previous >= next_.size()) next_.push_back(static_cast<std::uint32_t>(next_.size()));
    return next_[previous];
  }

 private:
  std::vector<std::uint32_t> next_;
};

/// How the words of a whole warp are predicted: word = p + q - r of three earlier warps with the same
/// sequence of records.
enum class WordMode : std::uint8_t {
  kLanes,     // not as a whole, but record by record
  kSameCta,   // the warp before
  kLineCta,   // the line through the two warps before
  kPrevious,  // the same warp of the CTA before
  kLine,      // the line through the same warp of the two CTAs before
  kPlane,     // the warp before, plus what this warp has more than that in the CTA before
  kCount
};

/// Lane addresses of one static instruction.
struct LaneHistory {
  std::array<Address, kWarpSize> lane{};
  LaneMask seen = 0;
  std::uint64_t step = 0, stride = 0;
  Address last = 0;                        // first active lane of the latest record
  std::array<std::uint64_t, 28> offset{};  // by cross code
};

/// Codes of records whose addresses are coded one by one.
enum LaneCode : std::uint8_t {
  kLaneRaw,       // the words as they are
  kLaneAffine,    // kAffine: step and stride
  kLaneExplicit,  // difference from lane to lane
  kLaneStep,      // each lane where it was, plus a common step
  kLaneCross,     // and up: each lane's address at another instruction, scaled, plus an offset
};
inline constexpr unsigned kCrossRefs = 4, kScales = 7, kLaneCodes = kLaneCross + kCrossRefs * kScales;

/// `address` times 1, 4, 8, 2 or divided by 4, 8, 2.
[[nodiscard]] inline Address scaled(Address address, unsigned scale) {
  constexpr std::uint8_t kShift[kScales] = {0, 2, 3, 1, 2, 3, 1};
  return scale < 4 ? address << kShift[scale] : address >> kShift[scale];
}

class LaneModel {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void reset() {
    used_ = 0;
    std::fill(index_of_.begin(), index_of_.end(), kNone);
  }
  void start_warp() { recent_.fill(kNone); }
  [[nodiscard]] std::uint32_t index_of(std::uint32_t inst) {
    if (inst >= index_of_.size()) index_of_.resize(std::size_t{inst} + 1, kNone);
    if (index_of_[inst] == kNone) {
      if (used_ == histories_.size()) histories_.emplace_back();
      histories_[used_] = LaneHistory{};
      index_of_[inst] = used_++;
    }
    return index_of_[inst];
  }
  [[nodiscard]] LaneHistory& operator[](std::uint32_t index) { return histories_[index]; }
  /// The instruction of the warp's `back`-th previous memory record; null if there is none.
  [[nodiscard]] const LaneHistory* reference(unsigned back) const {
    return recent_[back] == kNone ? nullptr : &histories_[recent_[back]];
  }
  [[nodiscard]] static Address base_prediction(const LaneHistory& history, LaneMask mask) {
    const int first = std::countr_zero(mask);
    return (history.seen >> first & 1) != 0 ? history.lane[static_cast<std::size_t>(first)] : history.last;
  }
  /// After each record.
  void update(std::uint32_t index, AddressForm form, LaneMask mask, const Address* lanes,
              const std::uint64_t* words) {
    LaneHistory& history = histories_[index];
    const int first = std::countr_zero(mask);
    history.last = lanes[first];
    if (form == AddressForm::kAffine) {
      for (unsigned l = 0; l < kWarpSize; ++l)
        history.lane[l] = words[0] + words[1] * (l - static_cast<unsigned>(first));
      history.seen = ~LaneMask{0};
      history.stride = words[1];
    } else {
      for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(rest));
        history.lane[l] = lanes[l];
      }
      history.seen |= mask;
    }
    if (recent_[0] == index) return;
    std::copy_backward(recent_.begin(), recent_.end() - 1, recent_.end());
    recent_[0] = index;
  }

 private:
  std::vector<std::uint32_t> index_of_;  // by static instruction
  std::vector<LaneHistory> histories_;
  std::uint32_t used_ = 0;
  std::array<std::uint32_t, kCrossRefs> recent_{};
};

/// Words of `lanes` in `form`, appended.
inline void store_words(AddressForm form, LaneMask mask, const Address* lanes,
                        std::vector<std::uint64_t>& words) {
  const Address base = lanes[std::countr_zero(mask)];
  if (form == AddressForm::kDelta) {
    words.push_back(base);
    mask &= mask - 1;
  }
  bool low = true;
  for (; mask != 0; mask &= mask - 1, low = !low) {
    const Address address = lanes[std::countr_zero(mask)];
    if (form == AddressForm::kList) {
      words.push_back(address);
    } else if (low) {
      words.push_back((address - base) & 0xffffffffu);
    } else {
      words.back() |= (address - base) << 32;
    }
  }
}

}  // namespace lockstep::trace
