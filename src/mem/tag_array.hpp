// Lines of an L2 slice: tags, sectors, dirty bytes, recency.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "mem/hash.hpp"
#include "mem/recency.hpp"
#include "mem/replacement.hpp"
#include "util/aligned.hpp"
#include "util/byte_match.hpp"
#include "util/l2_priority.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

inline constexpr std::uint16_t kNoMshr = 0xffff;
inline constexpr std::uint32_t kAllBytes = 0xffffffff;
inline constexpr SectorMask kAllSectors = (1u << kSectorsPerLine) - 1;

struct alignas(32) Line {  // within a line of the host's cache
  Address address = 0;
  std::array<std::uint32_t, kSectorsPerLine> dirty{};  // bytes not yet in DRAM, by sector
  std::uint16_t mshr = kNoMshr;                        // in flight
  SectorMask valid = 0;                                // readable
  SectorMask pending = 0;                              // being fetched
  SectorMask copied = 0;                               // the other half was sent a copy
  bool leaving = false;                                // goes when nothing of it is in flight any more
  bool pinned = false;                                 // locked: keeps its place
  bool far = false;  // copy of a line whose home is the other half; never dirty

  [[nodiscard]] SectorMask dirty_sectors() const {
    unsigned m = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s) m |= static_cast<unsigned>(dirty[s] != 0) << s;
    return static_cast<SectorMask>(m);
  }
};

/// Lines may leave last (L2Priority::kLast): while others are in question, the policy chooses among those.
/// Each access that makes one so says how many ways of a set they may take; there the policy chooses among
/// them alone. So the rest of a set always serves other lines, and what leaves last leaves by its own use.
/// Copies of lines of the other half do not: it is at their homes that lines stay.
///
/// Any number of sets. A line of local number n goes to set (n + hash(n / sets)) mod sets: contiguous lines
/// fill all sets evenly, and a stride that would hit few sets does not.
class TagArray {
 public:
  TagArray(std::uint32_t bytes, std::uint32_t ways, Replacement replacement = LruReplacement{})
      : ways_(ways),
        sets_(bytes / (kLineBytes * ways)),
        prints_per_set_((ways_ + 7) / 8 * 8),
        prints_(std::size_t{sets_} * prints_per_set_),
        recency_(std::size_t{sets_} * ways_),
        dirty_(recency_.size()),
        dirty_lines_(sets_),
        lines_(recency_.size()),
        replacement_(std::move(replacement)) {}

  [[nodiscard]] std::uint32_t set_of(std::uint64_t local_line) const {
    const std::uint64_t block = local_line / sets_;
    const std::uint64_t at = local_line - block * sets_ + mix_below(block, sets_);
    return static_cast<std::uint32_t>(at >= sets_ ? at - sets_ : at);
  }

  [[nodiscard]] std::optional<LineIndex> find(std::uint32_t set, Address line) const {
    const std::uint8_t wanted = print_of(line);
    const std::uint8_t* prints = &prints_[std::size_t{set} * prints_per_set_];
    for (std::uint32_t first = 0; first < ways_; first += 8)
      for (std::uint64_t equal = matching_bytes(eight_bytes(prints + first), wanted); equal;
           equal &= equal - 1) {
        const LineIndex index = set * ways_ + first + static_cast<std::uint32_t>(std::countr_zero(equal)) / 8;
        if (lines_[index].address == line) return index;
      }
    return std::nullopt;
  }

  /// Place for a new line: an unused one, else by the replacement policy one that is not in flight; nothing
  /// when all are. Far copies may take at most `far_ways` places of a set and then replace one another.
  [[nodiscard]] std::optional<LineIndex> victim(std::uint32_t set, bool far, std::uint32_t far_ways,
                                                L2Placing placing = {}) const;

  /// The one of a set's dirty lines that the policy would replace, when there are `limit` (at least 1) of
  /// them or more. Lines that leave last are not among them.
  [[nodiscard]] std::optional<LineIndex> excess_dirty(std::uint32_t set, std::uint32_t limit) const {
    if (dirty_lines_[set] < limit) return std::nullopt;
    return next_dirty(set, limit);
  }
  [[nodiscard]] bool leaves_last(LineIndex index) const { return last_lines_ > 0 && last_[index] != 0; }

  [[nodiscard]] bool in_use(LineIndex index) const { return recency_[index] != 0; }
  [[nodiscard]] Line& operator[](LineIndex index) { return lines_[index]; }
  [[nodiscard]] const Line& operator[](LineIndex index) const { return lines_[index]; }

  /// Puts an empty line there. A line that is to leave first does so until it is used.
  void insert(LineIndex index, Address line, bool far, L2Placing placing) {
    if (last_lines_ > 0) set_last(index, false);
    print_at(index) = print_of(line);
    lines_[index] = {};
    lines_[index].address = line;
    lines_[index].far = far;
    recency_[index] = kLeavesFirst;
    if (placing.priority != L2Priority::kFirst)
      std::visit([&](auto& r) { r.insert(recency_, places_around(index), index); }, replacement_);
    count_clean(index);
    if (placing.priority == L2Priority::kLast && !far && last_in(index / ways_) < placing.last_ways)
      set_last(index, true);
  }
  /// Precondition: not in flight.
  void remove(LineIndex index) {
    print_at(index) = 0;
    recency_[index] = 0;
    count_clean(index);
    if (last_lines_ > 0) set_last(index, false);
    lines_[index] = {};
  }
  /// Removes all that are not in flight and not pinned.
  void clear() {
    for (LineIndex index = 0; index < lines_.size(); ++index)
      if (in_use(index) && !in_flight(index)) remove(index);
  }
  void touch(LineIndex index) {
    std::visit([&](auto& r) { r.touch(recency_, places_around(index), index); }, replacement_);
  }
  /// An access to a line that is there. One that is to leave first does not count as a use.
  void use(LineIndex index, L2Placing placing) {
    if (placing.priority == L2Priority::kPlain) [[likely]]
      return touch(index);
    change_priority(index, placing);
  }
  /// Before an access: what left last before a reset that its launch comes after does so no more.
  void note_resets(std::uint16_t resets) {
    if (resets != resets_ && resets != 0) [[unlikely]]
      reset_last(resets);
  }

  [[nodiscard]] bool is_dirty(LineIndex index) const { return dirty_[index] != 0; }
  /// Bytes of a sector are not yet in DRAM; `bytes` is not 0.
  void mark_dirty(LineIndex index, unsigned sector, std::uint32_t bytes) {
    lines_[index].dirty[sector] |= bytes;
    if (dirty_[index]) return;
    dirty_[index] = 1;
    ++dirty_lines_[index / ways_];
  }
  /// The changed bytes of these sectors are in DRAM. Sectors of which all bytes are known stay readable.
  void mark_clean(LineIndex index, SectorMask sectors) {
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (sectors >> s & 1) lines_[index].dirty[s] = 0;
    if (!lines_[index].dirty_sectors()) count_clean(index);
  }

  /// While a line is in flight it keeps its place.
  void set_mshr(LineIndex index, std::uint16_t mshr) {
    lines_[index].mshr = mshr;
    keep(index);
  }
  /// So does one that is pinned.
  void pin(LineIndex index, bool pinned) {
    lines_[index].pinned = pinned;
    keep(index);
  }
  [[nodiscard]] std::uint32_t pinned_in(std::uint32_t set) const {
    std::uint32_t count = 0;
    for (LineIndex s = set * ways_; s < (set + 1) * ways_; ++s) count += lines_[s].pinned;
    return count;
  }
  [[nodiscard]] std::uint32_t ways() const { return ways_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(ways_), a.given(sets_), a.given(prints_per_set_), prints_, recency_, dirty_,
              dirty_lines_, lines_, a.given(replacement_), last_, last_lines_, resets_);
    std::visit([&](auto& policy) { a(policy); }, replacement_);
  }

 private:
  void change_priority(LineIndex index, L2Placing placing);
  void reset_last(std::uint16_t resets);
  [[nodiscard]] std::uint32_t last_in(std::uint32_t set) const;
  void set_last(LineIndex index, bool last);
  [[nodiscard]] bool in_flight(LineIndex index) const { return (recency_[index] & kInFlight) != 0; }
  void keep(LineIndex index) {
    const bool stays = lines_[index].mshr != kNoMshr || lines_[index].pinned;
    recency_[index] = stays ? recency_[index] | kInFlight : recency_[index] & ~kInFlight;
  }
  /// Fingerprint of a line; 0: none.
  static std::uint8_t print_of(Address line) {
    const std::uint64_t hash = line / kLineBytes * 0x9e3779b97f4a7c15 >> 32;
    return static_cast<std::uint8_t>(1 + (hash * 0xff >> 32));
  }
  [[nodiscard]] std::uint8_t& print_at(LineIndex index) {
    return prints_[ways_ == prints_per_set_ ? index : index / ways_ * prints_per_set_ + index % ways_];
  }

  [[nodiscard]] SetWays places_of(std::uint32_t set) const { return {set * ways_, ways_}; }
  [[nodiscard]] SetWays places_around(LineIndex index) const { return places_of(index / ways_); }
  template <class May>
  [[nodiscard]] LineIndex choose(SetWays set, May&& may) const {
    return std::visit([&](const auto& r) { return r.choose(recency_, set, may); }, replacement_);
  }
  [[nodiscard]] std::optional<LineIndex> next_dirty(std::uint32_t set, std::uint32_t limit) const;
  void count_clean(LineIndex index) {
    if (!dirty_[index]) return;
    dirty_[index] = 0;
    --dirty_lines_[index / ways_];
  }

  std::uint32_t ways_, sets_, prints_per_set_;  // a multiple of eight
  AlignedVector<std::uint8_t> prints_;     // by set and way; so dense that those of many sets stay in the
                                           // host's cache
  RecencyWords recency_;                   // 0: unused
  std::vector<std::uint8_t> dirty_;        // has dirty bytes; apart, as a set's are looked through
  std::vector<std::uint8_t> dirty_lines_;  // by set
  std::vector<Line> lines_;
  Replacement replacement_;
  std::vector<std::uint8_t> last_;  // the line leaves last; empty until there is one
  std::uint32_t last_lines_ = 0;
  std::uint16_t resets_ = 0;
};

}  // namespace lockstep::mem
