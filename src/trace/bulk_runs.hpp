// Which bytes of global memory a bulk (TMA) copy moves, in the words of its record.
//
// A record of a bulk copy whose opcode says .RUNS has, instead of lane addresses, pairs of words: first the
// mbarrier that it notifies (0: none) and the events that it counts there, then one pair for each run of
// rows. Its mask has as many of the lowest lanes as there are words; more runs make more records. In clusters
// see mbarrier_words.hpp; a copy between CTAs has its bytes in bits 32 to 63 of the second word, and no runs.
#pragma once

#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::trace {

/// Rows of `bytes` bytes at `first`, `first` + `stride`, ...
struct BulkRun {
  Address first = 0;  // below 2^48
  std::uint32_t bytes = 0, rows = 0;
  std::int64_t stride = 0;  // within +-2^47
  bool operator==(const BulkRun&) const = default;
};

inline constexpr unsigned kBulkRunsPerRecord = kWarpSize / 2 - 1;
inline constexpr std::uint32_t kMaxRunRows = 0xffff;
inline constexpr std::uint64_t kMaxRunBytes = 1 << 18;  // more than any CTA's shared memory

struct BulkRunWords {
  std::uint64_t place = 0, shape = 0;
};

[[nodiscard]] constexpr BulkRunWords pack(const BulkRun& run) {
  constexpr std::uint64_t kLow = (std::uint64_t{1} << 48) - 1;
  return {(run.first & kLow) | std::uint64_t{run.bytes} << 48,
          (static_cast<std::uint64_t>(run.stride) & kLow) | std::uint64_t{run.rows} << 48};
}
[[nodiscard]] constexpr BulkRun unpack(const BulkRunWords& words) {
  constexpr std::uint64_t kLow = (std::uint64_t{1} << 48) - 1;
  return {words.place & kLow, static_cast<std::uint32_t>(words.place >> 48),
          static_cast<std::uint32_t>(words.shape >> 48), static_cast<std::int64_t>(words.shape << 16) >> 16};
}

/// Calls each(run) for the runs among a record's `size` words. A run of more than kMaxRunBytes, or of 0,
/// cannot be from a recording and is left out.
template <class F>
void each_bulk_run(const std::uint64_t* words, unsigned size, F&& each) {
  for (unsigned i = 2; i + 1 < size; i += 2) {
    const BulkRun run = unpack(BulkRunWords{words[i], words[i + 1]});
    const std::uint64_t bytes = std::uint64_t{run.rows} * run.bytes;
    if (bytes > 0 && bytes <= kMaxRunBytes) each(run);
  }
}

/// Collects the rows of one copy, in its order.
class BulkRuns {
 public:
  static constexpr std::uint32_t kMaxRowBytes = 32768;  // longer rows are cut

  void clear() { runs_.clear(); }
  void add(Address row, std::uint64_t bytes) {
    for (; bytes > kMaxRowBytes; bytes -= kMaxRowBytes, row += kMaxRowBytes) add_row(row, kMaxRowBytes);
    if (bytes > 0) add_row(row, static_cast<std::uint32_t>(bytes));
  }
  [[nodiscard]] const std::vector<BulkRun>& runs() const { return runs_; }

 private:
  void add_row(Address row, std::uint32_t bytes) {
    if (!runs_.empty()) {
      BulkRun& last = runs_.back();
      if (last.rows == 1 && row == last.first + last.bytes && last.bytes + bytes <= kMaxRowBytes) {
        last.bytes += bytes;
        return;
      }
      const auto step = static_cast<std::int64_t>(row - last.first) - (last.rows - 1) * last.stride;
      const bool room = last.rows < kMaxRunRows && (last.rows + 1) * std::uint64_t{bytes} <= kMaxRunBytes;
      if (last.bytes == bytes && room && (last.rows == 1 || step == last.stride)) {
        last.stride = step;
        ++last.rows;
        return;
      }
    }
    runs_.push_back({row, bytes, 1, 0});
  }
  std::vector<BulkRun> runs_;
};

}  // namespace lockstep::trace
