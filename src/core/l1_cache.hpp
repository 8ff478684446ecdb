// Tags of the L1 data cache: sectored, set-associative, exact LRU or FIFO.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// What shared memory leaves of l1.bytes, at least a line, is divided into sets of at most l1.ways lines: as
/// few sets as hold it, all of as many ways. Any number of sets: blocks of as many consecutive lines go to
/// distinct sets, each block rotated by a hash of its number, so that neither sequential nor strided streams
/// pile up.
class L1Cache {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit L1Cache(const config::L1Group& l1);

  /// Place of a resident line: it has a valid sector, or waits for its first one; kNone.
  [[nodiscard]] std::uint32_t find(Address line);
  [[nodiscard]] SectorMask sectors(std::uint32_t place) const {
    return static_cast<SectorMask>(words_[place] & 0xf);
  }
  /// A hit: with LRU the line becomes the last of its set to be evicted; with FIFO nothing changes.
  void touch(std::uint32_t place) {
    if (hit_renews_) renew(place);
  }
  /// Makes sectors valid; a line that is not there replaces its set's victim and becomes the last to be
  /// evicted. A line that is there keeps its position.
  void fill(Address line, SectorMask sectors);
  /// A line that is not there and of which a sector has been requested takes its place: without valid
  /// sectors until arrive().
  void reserve(Address line) { insert(line, kReserved); }
  /// Sectors of a line that was reserved. Nothing, if it has been evicted since.
  void arrive(Address line, SectorMask sectors) {
    if (const std::uint32_t place = find(line); place != kNone)
      words_[place] = (words_[place] & ~Address{kReserved}) | sectors;
  }
  /// Makes sectors invalid; a line without any becomes its set's next victim.
  void drop(std::uint32_t place, SectorMask sectors);

  void invalidate();
  /// Drops the lines of [first, first + bytes), which begins at a line.
  void drop_range(Address first, Address bytes);
  /// Divides the array anew; contents are lost when the share of the cache changes.
  void set_shared_bytes(std::uint32_t bytes);

  [[nodiscard]] std::uint32_t capacity() const { return sets_ * active_ * kLineBytes; }
  [[nodiscard]] std::uint32_t sets() const { return sets_; }
  [[nodiscard]] std::uint32_t ways() const { return active_; }
  [[nodiscard]] std::uint32_t set_of(Address line) const { return locate(line).set; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(hit_renews_), a.given(lines_), a.given(ways_), left_, sets_, active_, shift_,
              inverse_, first_, hints_, prints_, words_, links_);
  }

 private:
  static constexpr unsigned kReserved = 0x10, kOccupied = 0x1f;  // bits of a word below its line address

  struct Location {
    std::uint32_t set;
    std::uint8_t print;  // fingerprint, differs between neighbours in a set
  };
  struct Link {  // ring of a set's ways, the last to be evicted first
    std::uint16_t previous, next;
  };

  [[nodiscard]] Location locate(Address line) const;
  [[nodiscard]] bool holds(std::uint32_t place, Address line) const {
    return (words_[place] & ~Address{0x7f}) == line && (words_[place] & kOccupied) != 0;
  }
  /// Few ways are looked through as fast as a hint is followed, and touch less memory.
  [[nodiscard]] bool uses_hints() const { return active_ > 8; }
  [[nodiscard]] std::uint16_t& hint(Address line) {
    return hints_[(line / kLineBytes ^ line >> 18) & (hints_.size() - 1)];
  }
  [[nodiscard]] std::uint32_t scan(Address line) const;
  void insert(Address line, unsigned bits);
  void divide_into_sets(std::uint32_t lines);
  void renew(std::uint32_t place);

  bool hit_renews_;
  std::uint32_t lines_, ways_;           // of the whole array; of a set, at most
  std::uint32_t left_ = 0;               // lines that shared memory leaves
  std::uint32_t sets_ = 0, active_ = 0;  // how they are divided: active_ ways in use
  unsigned shift_;                       // a set has 2^shift_ places, of which `active_` are in use
  std::uint64_t inverse_ = 0;            // 2^64 / sets, rounded up
  std::vector<std::uint16_t>
      first_;  // way of a set that is the last to be evicted; the victim is the one before it in the ring
  std::vector<std::uint16_t> hints_;  // by line number: where the line was last, to be looked at first
  std::vector<std::uint8_t> prints_;
  std::vector<std::uint64_t> words_;  // line address | kReserved | valid sectors
  std::vector<Link> links_;
};

}  // namespace lockstep::core
