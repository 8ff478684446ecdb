#include "libraries/sparse/sort.hpp"

#include "libraries/sparse/context.hpp"

namespace lockstep::libraries::sparse {
namespace {

constexpr int kDigitBits = 4;
constexpr int kDigits = 1 << kDigitBits;
constexpr long long kKeysOfBlock = 1024;

std::size_t bytes_for(long long count) { return static_cast<std::size_t>(count) * sizeof(int); }

}  // namespace

void require_int(long long count) {
  if (count >= 2147483647) refuse("cusparse: a conversion of 2^31 entries or rows");
}

Sorted sort_indices(const Indices& indices, long long count, long long limit, Stream stream, bool lasting) {
  require_int(count);
  require_int(limit);
  Sorted start{Memory(bytes_for(count), stream, lasting), Memory(bytes_for(count), stream, lasting)};
  kernels_of("structure")
      .launch("lockstep_sparse_keys", blocks_for(count), {kThreads, 1, 1}, 0, stream, indices, count,
              start.keys.as<int>(), start.order.as<int>());
  sort_further(start, count, limit, stream, lasting);
  return start;
}

void sort_further(Sorted& start, long long count, long long limit, Stream stream, bool lasting) {
  if (count < 2) return;
  Kernels& kernels = kernels_of("structure");
  Sorted other{Memory(bytes_for(count), stream, lasting), Memory(bytes_for(count), stream, lasting)};
  const auto blocks = static_cast<unsigned>((count + kKeysOfBlock - 1) / kKeysOfBlock);
  const Memory counts(bytes_for(static_cast<long long>(kDigits) * blocks), stream, false);
  const Dim3 grid{blocks, 1, 1}, block{kThreads, 1, 1};
  const int keys = static_cast<int>(count);
  for (int shift = 0; shift < 31 && (limit - 1) >> shift != 0; shift += kDigitBits) {
    const int* const from = start.keys.as<int>();
    kernels.launch("lockstep_sparse_sort_count", grid, block, 0, stream, from, keys, shift, counts.as<int>());
    enqueue_prefix_sums(counts.as<int>(), static_cast<long long>(kDigits) * blocks, stream);
    kernels.launch("lockstep_sparse_sort_place", grid, block, 0, stream, from, start.order.as<int>(), keys,
                   shift, counts.as<int>(), other.keys.as<int>(), other.order.as<int>());
    std::swap(start, other);
  }
}

void enqueue_offsets(const Indices& sorted, long long count, long long rows, int base, int* offsets,
                     Stream stream) {
  require_int(count);
  kernels_of("structure")
      .launch("lockstep_sparse_offsets", blocks_for(rows + 1), {kThreads, 1, 1}, 0, stream, sorted, count,
              rows, base, offsets);
}

void enqueue_expansion(const Indices& offsets, long long rows, long long count, int base, int* result,
                       Stream stream) {
  require_int(count);
  require_int(rows);
  kernels_of("structure")
      .launch("lockstep_sparse_expand", blocks_for(count), {kThreads, 1, 1}, 0, stream, offsets, rows, count,
              base, result);
}

void enqueue_prefix_sums(int* counts, long long count, Stream stream) {
  const int number = static_cast<int>(count);
  kernels_of("structure")
      .launch("lockstep_sparse_sort_scan", {1, 1, 1}, {kThreads, 1, 1}, 0, stream, counts, number);
}

int int_at(const int* place, Stream stream) {
  int number = 0;
  check(runtime().cudaMemcpyAsync(&number, place, sizeof number, kDeviceToHost, stream), "copying a number");
  check(runtime().cudaStreamSynchronize(stream), "copying a number");
  return number;
}

}  // namespace lockstep::libraries::sparse
