// Which rows of a triangular structure do not depend on each other.
#pragma once

#include <vector>

#include "libraries/sparse/memory.hpp"
#include "libraries/sparse/views.hpp"

namespace lockstep::libraries::sparse {

/// A copy on the host, with indices from 0; making it waits for the stream.
struct Structure {
  Structure(const Rows& rows, long long entries, Stream stream);
  [[nodiscard]] long long rows() const { return static_cast<long long>(offsets.size()) - 1; }

  std::vector<long long> offsets;
  std::vector<long long> columns;
};

/// Some levels by one launch, `lanes` threads for each row and column of right-hand sides.
struct Launch {
  int first, last;
  long long rows;  // of its only level; 0: several small levels, by one CTA
  int lanes;       // a power of two up to 32

  [[nodiscard]] Dim3 grid(long long columns) const;
  [[nodiscard]] Dim3 block() const;
};

/// Threads for a row, from the mean of its entries.
[[nodiscard]] int lanes_for(long long entries, long long rows);

/// The order of the rows of the lower or of the upper triangle, each after those that its entries name.
class Schedule {
 public:
  Schedule() = default;
  Schedule(const Structure& structure, bool upper, int lanes, Stream stream);

  Levels levels;
  std::vector<Launch> launches;

 private:
  Memory rows_, starts_;
};

}  // namespace lockstep::libraries::sparse
