// Sorting on the device.
#pragma once

#include "libraries/sparse/memory.hpp"
#include "libraries/sparse/views.hpp"

namespace lockstep::libraries::sparse {

/// Numbers from 0, and where each was before.
struct Sorted {
  Memory keys, order;
};

/// Sorts the indices, which are from 0 to limit - 1 after their base; equal ones keep their order.
[[nodiscard]] Sorted sort_indices(const Indices& indices, long long count, long long limit, Stream stream,
                                  bool lasting);
/// The same, of what `start` has.
void sort_further(Sorted& start, long long count, long long limit, Stream stream, bool lasting);

/// offsets[r], from 0 to rows: how many of the sorted indices are less than r, plus `base`.
void enqueue_offsets(const Indices& sorted, long long count, long long rows, int base, int* offsets,
                     Stream stream);
/// result[k]: the row of entry k, plus `base`.
void enqueue_expansion(const Indices& offsets, long long rows, long long count, int base, int* result,
                       Stream stream);

/// Exclusive prefix sums in place.
void enqueue_prefix_sums(int* counts, long long count, Stream stream);
/// The number at a place on the device, for which the stream is waited for.
[[nodiscard]] int int_at(const int* place, Stream stream);

/// Refuses what cannot be counted with 31 bits.
void require_int(long long count);

}  // namespace lockstep::libraries::sparse
