// Lines of an L2 slice: tags, sectors, dirty bytes, recency.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mem/hash.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Index of a line's place in the slice: set * ways + way.
using Slot = std::uint32_t;
inline constexpr std::uint16_t kNoMshr = 0xffff;
inline constexpr std::uint32_t kAllBytes = 0xffffffff;

struct Line {
  Address address = 0;
  std::array<std::uint32_t, kSectorsPerLine> dirty{};  // bytes not yet in DRAM, by sector
  std::uint16_t mshr = kNoMshr;                        // in flight
  SectorMask valid = 0;                                // readable
  SectorMask pending = 0;                              // being fetched
  SectorMask copied = 0;                               // the other half was sent a copy
  bool leaving = false;                                // goes when nothing of it is in flight any more
  bool far = false;  // copy of a line whose home is the other half; never dirty

  [[nodiscard]] SectorMask dirty_sectors() const {
    unsigned m = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s) m |= static_cast<unsigned>(dirty[s] != 0) << s;
    return static_cast<SectorMask>(m);
  }
};

/// Any number of sets. A line of local number n goes to set (n + hash(n / sets)) mod sets: contiguous lines
/// fill all sets evenly, and a stride that would hit few sets does not.
class TagArray {
 public:
  /// `uses`: uses that are told apart before their numbers begin again.
  TagArray(std::uint32_t bytes, std::uint32_t ways, std::uint32_t uses = kInFlight - 1)
      : ways_(ways),
        sets_(bytes / (kLineBytes * ways)),
        keys_(std::size_t{sets_} * ways_),
        used_(keys_.size()),
        dirty_(keys_.size()),
        dirty_lines_(sets_),
        lines_(keys_.size()),
        last_use_(uses) {}

  [[nodiscard]] std::uint32_t set_of(std::uint64_t local_line) const {
    const std::uint64_t block = local_line / sets_;
    const std::uint64_t at = local_line - block * sets_ + mix_below(block, sets_);
    return static_cast<std::uint32_t>(at >= sets_ ? at - sets_ : at);
  }

  [[nodiscard]] std::optional<Slot> find(std::uint32_t set, Address line) const {
    const std::uint32_t key = key_of(line);
    const std::uint32_t* keys = &keys_[std::size_t{set} * ways_];
    for (std::uint32_t w = 0; w < ways_; ++w)
      if (keys[w] == key && lines_[set * ways_ + w].address == line) return set * ways_ + w;
    return std::nullopt;
  }

  /// Place for a new line: an unused one, else the least recently used that is not in flight; nothing when
  /// all are. Far copies may take at most `far_ways` places of a set and then replace one another.
  [[nodiscard]] std::optional<Slot> victim(std::uint32_t set, bool far, std::uint32_t far_ways) const;

  /// The least recently used of a set's dirty lines when there are `limit` (at least 1) of them or more.
  [[nodiscard]] std::optional<Slot> excess_dirty(std::uint32_t set, std::uint32_t limit) const {
    if (dirty_lines_[set] < limit) return std::nullopt;
    return oldest_dirty(set);
  }

  [[nodiscard]] bool in_use(Slot slot) const { return keys_[slot] != 0; }
  [[nodiscard]] Line& operator[](Slot slot) { return lines_[slot]; }
  [[nodiscard]] const Line& operator[](Slot slot) const { return lines_[slot]; }

  /// Puts an empty line there. A line that is to leave first is inserted as the least recently used.
  void insert(Slot slot, Address line, bool far, bool leave_first) {
    keys_[slot] = key_of(line);
    lines_[slot] = {};
    lines_[slot].address = line;
    lines_[slot].far = far;
    used_[slot] = leave_first ? kLeavesFirst : next_use();
    count_clean(slot);
  }
  /// Precondition: not in flight.
  void remove(Slot slot) {
    keys_[slot] = used_[slot] = 0;
    count_clean(slot);
    lines_[slot] = {};
  }
  /// Removes all that are not in flight.
  void clear() {
    for (Slot slot = 0; slot < lines_.size(); ++slot)
      if (in_use(slot) && lines_[slot].mshr == kNoMshr) remove(slot);
  }
  void touch(Slot slot) { used_[slot] = (used_[slot] & kInFlight) | next_use(); }

  [[nodiscard]] bool is_dirty(Slot slot) const { return dirty_[slot] != 0; }
  /// Bytes of a sector are not yet in DRAM; `bytes` is not 0.
  void mark_dirty(Slot slot, unsigned sector, std::uint32_t bytes) {
    lines_[slot].dirty[sector] |= bytes;
    if (dirty_[slot]) return;
    dirty_[slot] = 1;
    ++dirty_lines_[slot / ways_];
  }
  /// The line's changed bytes are in DRAM. Sectors of which all bytes are known stay readable.
  void mark_clean(Slot slot) {
    lines_[slot].dirty = {};
    count_clean(slot);
  }

  /// While a line is in flight it keeps its place.
  void set_mshr(Slot slot, std::uint16_t mshr) {
    lines_[slot].mshr = mshr;
    used_[slot] = mshr == kNoMshr ? used_[slot] & ~kInFlight : used_[slot] | kInFlight;
  }

 private:
  static std::uint32_t key_of(Address line) {
    return static_cast<std::uint32_t>(line / kLineBytes * 0x9e3779b97f4a7c15 >> 32) | 1;  // 0: unused
  }

  // Recency of a place: the number of its last use. Unused places are the oldest of all.
  static constexpr std::uint32_t kLeavesFirst = 1, kFirstUse = 2, kInFlight = 0x80000000;

  [[nodiscard]] std::uint32_t next_use() {
    if (clock_ == last_use_) renumber();
    return clock_++;
  }
  void renumber();
  [[nodiscard]] Slot oldest_dirty(std::uint32_t set) const;
  void count_clean(Slot slot) {
    if (!dirty_[slot]) return;
    dirty_[slot] = 0;
    --dirty_lines_[slot / ways_];
  }

  std::uint32_t ways_, sets_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::uint32_t> used_;
  std::vector<std::uint8_t> dirty_;        // has dirty bytes; apart, as a set's are looked through
  std::vector<std::uint8_t> dirty_lines_;  // by set
  std::vector<Line> lines_;
  std::uint32_t clock_ = kFirstUse, last_use_;
};

}  // namespace lockstep::mem
