#include "libraries/sparse/schedule.hpp"

#include <algorithm>

#include "libraries/sparse/context.hpp"

namespace lockstep::libraries::sparse {
namespace {

constexpr unsigned kThreadsOfOneCta = 1024;

template <class T>
std::vector<T> copied(const void* data, long long count, Stream stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count == 0) return values;
  check(runtime().cudaMemcpyAsync(values.data(), data, values.size() * sizeof(T), kDeviceToHost, stream),
        "copying a matrix");
  check(runtime().cudaStreamSynchronize(stream), "copying a matrix");
  return values;
}

/// From 0, in the order of the entries of `rows`.
std::vector<long long> copied_indices(const Indices& indices, long long count, Stream stream) {
  std::vector<long long> result;
  if (indices.wide != 0) {
    result = copied<long long>(indices.data, count, stream);
  } else {
    const auto narrow = copied<int>(indices.data, count, stream);
    result.assign(narrow.begin(), narrow.end());
  }
  for (long long& index : result) index -= indices.base;
  return result;
}

/// For each row how many others have to come before it, one after the other.
std::vector<int> levels_of(const Structure& structure, bool upper) {
  const auto& offsets = structure.offsets;
  const long long count = structure.rows();
  std::vector<int> levels(static_cast<std::size_t>(count));
  for (long long i = 0; i < count; ++i) {
    const long long row = upper ? count - 1 - i : i;
    int level = 0;
    for (long long k = offsets[static_cast<std::size_t>(row)]; k < offsets[static_cast<std::size_t>(row + 1)];
         ++k) {
      const long long column = structure.columns[static_cast<std::size_t>(k)];
      if (column != row && (column > row) == upper)
        level = std::max(level, 1 + levels[static_cast<std::size_t>(column)]);
    }
    levels[static_cast<std::size_t>(row)] = level;
  }
  return levels;
}

Memory uploaded(const std::vector<int>& values, Stream stream) {
  Memory memory(values.size() * sizeof(int), stream, true);
  if (values.empty()) return memory;
  check(runtime().cudaMemcpyAsync(memory.as<void>(), values.data(), values.size() * sizeof(int),
                                  kHostToDevice, stream),
        "copying levels");
  check(runtime().cudaStreamSynchronize(stream), "copying levels");
  return memory;
}

}  // namespace

Structure::Structure(const Rows& rows, long long entries, Stream stream)
    : offsets(copied_indices(rows.offsets, rows.count + 1, stream)),
      columns(copied_indices(rows.columns, entries, stream)) {
  if (rows.order == nullptr) return;
  const std::vector<long long> stored = columns;
  const auto order = copied<int>(rows.order, entries, stream);
  for (std::size_t k = 0; k < order.size(); ++k) columns[k] = stored[static_cast<std::size_t>(order[k])];
}

int lanes_for(long long entries, long long rows) {
  int lanes = 1;
  while (lanes < 32 && lanes * rows < entries) lanes *= 2;
  return lanes;
}

Dim3 Launch::grid(long long columns) const {
  return rows == 0 ? Dim3{1, 1, 1} : blocks_for(lanes * rows * columns);
}
Dim3 Launch::block() const { return {rows == 0 ? kThreadsOfOneCta : kThreads, 1, 1}; }

Schedule::Schedule(const Structure& structure, bool upper, int lanes, Stream stream) {
  const std::vector<int> level_of_row = levels_of(structure, upper);
  const int count =
      level_of_row.empty() ? 0 : 1 + *std::max_element(level_of_row.begin(), level_of_row.end());
  std::vector<int> starts(static_cast<std::size_t>(count) + 1), rows(level_of_row.size());
  for (const int level : level_of_row) ++starts[static_cast<std::size_t>(level) + 1];
  for (std::size_t level = 1; level < starts.size(); ++level) starts[level] += starts[level - 1];
  std::vector<int> next = starts;
  for (std::size_t row = 0; row < level_of_row.size(); ++row)
    rows[static_cast<std::size_t>(next[static_cast<std::size_t>(level_of_row[row])]++)] =
        static_cast<int>(row);
  rows_ = uploaded(rows, stream);
  starts_ = uploaded(starts, stream);
  levels.rows = rows_.as<int>();
  levels.starts = starts_.as<int>();
  levels.upper = upper ? 1 : 0;
  for (int level = 0; level < count; ++level) {
    const long long size =
        starts[static_cast<std::size_t>(level) + 1] - starts[static_cast<std::size_t>(level)];
    const bool small = size * lanes <= kThreadsOfOneCta;
    if (small && !launches.empty() && launches.back().rows == 0) {
      launches.back().last = level;
    } else {
      launches.push_back({level, level, small ? 0 : size, lanes});
    }
  }
}

}  // namespace lockstep::libraries::sparse
