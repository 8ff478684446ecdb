// The latest accesses to each piece of memory, for the search of races. Internal to src/exec.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "util/types.hpp"

namespace lockstep::exec {

/// One thread's access. Times count the accesses and synchronisations of all launches, so a later one has a
/// larger time.
struct RaceEvent {
  std::uint64_t time = 0;             // 0: none
  std::uint32_t launch = 0, cta = 0;  // cta: linear index
  std::uint32_t operation = 0;
  std::uint8_t warp = 0, lane = 0;
  bool strong = false;  // volatile, atomic, ...: may race by intent
  bool atomic = false;  // reads and writes in one

  [[nodiscard]] bool exists() const { return time != 0; }
};

/// The last write to a granule, and reads since then. Two reads are enough: if a write races with many
/// readers, one of them is found.
struct RaceCell {
  RaceEvent write, reads[2];
};

/// Cells of a range of memory, one for each granule: 4 bytes, or fewer where an access was of fewer.
class RaceCells {
 public:
  explicit RaceCells(std::uint64_t bytes = 0) : bytes_(bytes) {}

  /// Calls f(cell, offset, bytes) for each granule of [offset, offset + count), which lies in the range.
  template <class F>
  void each(std::uint64_t offset, std::uint64_t count, F&& f) {
    while (((offset | count) & ((1u << shift_) - 1)) != 0) refine();
    if (cells_.empty()) cells_.resize((bytes_ >> shift_) + 1);
    for (std::uint64_t at = offset; at < offset + count; at += 1u << shift_)
      f(cells_[at >> shift_], at, 1u << shift_);
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// As if nothing had been accessed.
  void reset(std::uint64_t bytes) {
    bytes_ = bytes;
    cells_.clear();
  }

 private:
  void refine() {
    --shift_;
    if (cells_.empty()) return;
    std::vector<RaceCell> finer;
    finer.reserve(2 * cells_.size());
    for (const RaceCell& cell : cells_) finer.insert(finer.end(), 2, cell);
    cells_ = std::move(finer);
  }

  std::uint64_t bytes_;
  unsigned shift_ = 2;
  std::vector<RaceCell> cells_;
};

/// The race cells of global memory.
class GlobalRaceCells {
 public:
  template <class F>
  void each(Address begin, std::uint64_t count, F&& f) {
    while (count > 0) {
      const std::uint64_t offset = begin % kPageBytes, some = std::min(count, kPageBytes - offset);
      page(begin).each(offset, some, [&](RaceCell& cell, std::uint64_t at, unsigned bytes) {
        f(cell, begin - offset + at, bytes);
      });
      begin += some;
      count -= some;
    }
  }
  void forget(Address begin, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  [[nodiscard]] RaceCells& page(Address at);

  std::unordered_map<std::uint64_t, std::unique_ptr<RaceCells>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  RaceCells* last_ = nullptr;
};

}  // namespace lockstep::exec
