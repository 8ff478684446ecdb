#include "libraries/sparse/gathered.hpp"

#include "libraries/sparse/context.hpp"

namespace lockstep::libraries::sparse {
namespace {

template <class T>
T* moved(T* data, long long elements, std::size_t bytes) {
  return data == nullptr ? nullptr : static_cast<char*>(data) + elements * static_cast<long long>(bytes);
}

/// One of a batch.
SparseMatrix one_of(const SparseMatrix& matrix, int which) {
  SparseMatrix one = matrix;
  const auto width = [](int index_type) -> std::size_t { return index_type == kIndex64 ? 8 : 4; };
  one.first = moved(matrix.first, which * matrix.first_stride, width(matrix.first_type));
  one.second = moved(matrix.second, which * matrix.second_stride, width(matrix.second_type));
  one.values = moved(matrix.values, which * matrix.second_stride, bytes_of(matrix.type));
  return one;
}

std::size_t ints(long long count) { return static_cast<std::size_t>(count) * sizeof(int); }

}  // namespace

Gathered::Gathered(const SparseMatrix& matrix, int operation, int which, Stream stream, bool lasting) {
  const SparseMatrix one = matrix.batch > 1 ? one_of(matrix, which) : matrix;
  const bool transposed = operation != kAsIs;
  rows.values = one.values;
  rows.count = one.rows_after(operation);
  rows.conjugate = operation == kConjugateTransposed && is_complex(one.type);
  if (one.format == kCoo) {
    from_coordinates(one, transposed, stream, lasting);
  } else {
    from_offsets(one, transposed != (one.format == kCsc), stream, lasting);
  }
}

void Gathered::from_offsets(const SparseMatrix& matrix, bool transposed, Stream stream, bool lasting) {
  rows.offsets = matrix.first_view();
  rows.columns = matrix.second_view();
  if (!transposed) return;
  const long long stored = matrix.format == kCsr ? matrix.rows : matrix.columns;
  sorted_ = sort_indices(rows.columns, matrix.entries, rows.count, stream, lasting);
  expanded_ = Memory(ints(matrix.entries), stream, lasting);
  enqueue_expansion(rows.offsets, stored, matrix.entries, 0, expanded_.as<int>(), stream);
  offsets_ = Memory(ints(rows.count + 1), stream, lasting);
  enqueue_offsets({sorted_.keys.as<int>(), 0, 0}, matrix.entries, rows.count, 0, offsets_.as<int>(), stream);
  rows.offsets = {offsets_.as<int>(), 0, 0};
  rows.columns = {expanded_.as<int>(), 0, 0};
  rows.order = sorted_.order.as<int>();
}

void Gathered::from_coordinates(const SparseMatrix& matrix, bool transposed, Stream stream, bool lasting) {
  Indices sorted = matrix.first_view();
  rows.columns = matrix.second_view();
  if (transposed) {
    sorted_ = sort_indices(rows.columns, matrix.entries, rows.count, stream, lasting);
    sorted = {sorted_.keys.as<int>(), 0, 0};
    rows.columns = matrix.first_view();
    rows.order = sorted_.order.as<int>();
  }
  offsets_ = Memory(ints(rows.count + 1), stream, lasting);
  enqueue_offsets(sorted, matrix.entries, rows.count, 0, offsets_.as<int>(), stream);
  rows.offsets = {offsets_.as<int>(), 0, 0};
}

}  // namespace lockstep::libraries::sparse
