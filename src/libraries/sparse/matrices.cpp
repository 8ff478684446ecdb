// Descriptors of sparse matrices.
#include "libraries/sparse/context.hpp"
#include "libraries/sparse/descriptors.hpp"

namespace lockstep::libraries::sparse {
namespace {

bool is_index_type(int type) { return type == kIndex32 || type == kIndex64; }

template <class To, class From>
void put(To* to, From from) {
  if (to != nullptr) *to = static_cast<To>(from);
}

Status create_matrix(void** descriptor, const SparseMatrix& matrix) {
  return guarded(&status_of, [&] {
    require(descriptor != nullptr && matrix.rows >= 0 && matrix.columns >= 0 && matrix.entries >= 0);
    require(is_index_type(matrix.first_type) && is_index_type(matrix.second_type));
    require(matrix.base == 0 || matrix.base == 1);
    require(matrix.entries == 0 ||
            (matrix.first != nullptr && matrix.second != nullptr && matrix.values != nullptr));
    *descriptor = handles<SparseMatrix>().create(matrix);
  });
}

/// Where a program wants what a descriptor says; none of it has to be wanted.
struct Wanted {
  std::int64_t *rows, *columns, *entries;
  void **first, **second, **values;
  int *first_type, *second_type, *base, *type;
};

Status get_matrix(const void* descriptor, int format, const Wanted& wanted) {
  return guarded(&status_of, [&] {
    const auto& matrix = described<SparseMatrix>(descriptor);
    require(matrix.format == format);
    put(wanted.rows, matrix.rows);
    put(wanted.columns, matrix.columns);
    put(wanted.entries, matrix.entries);
    put(wanted.first, matrix.first);
    put(wanted.second, matrix.second);
    put(wanted.values, matrix.values);
    put(wanted.first_type, matrix.first_type);
    put(wanted.second_type, matrix.second_type);
    put(wanted.base, matrix.base);
    put(wanted.type, matrix.type);
  });
}

Status set_pointers(const void* descriptor, int format, void* first, void* second, void* values) {
  return guarded(&status_of, [&] {
    auto& matrix = described<SparseMatrix>(descriptor);
    require(matrix.format == format);
    require(matrix.entries == 0 || (first != nullptr && second != nullptr && values != nullptr));
    matrix.first = first;
    matrix.second = second;
    matrix.values = values;
  });
}

Status set_batch(const void* descriptor, int format, int count, long long first_stride,
                 long long second_stride) {
  return guarded(&status_of, [&] {
    auto& matrix = described<SparseMatrix>(descriptor);
    require(matrix.format == format && count >= 1 && first_stride >= 0 && second_stride >= 0);
    matrix.batch = count;
    matrix.first_stride = first_stride;
    matrix.second_stride = second_stride;
  });
}

int* attribute_of(SparseMatrix& matrix, int attribute) {
  require(attribute == kFillMode || attribute == kDiagonalType);
  return attribute == kFillMode ? &matrix.fill_mode : &matrix.diagonal_type;
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseCreateCsr(void** descriptor, std::int64_t rows, std::int64_t columns,
                                      std::int64_t entries, void* offsets, void* indices, void* values,
                                      int offset_type, int index_type, int base, int type) {
  return create_matrix(descriptor, SparseMatrix{kCsr, rows, columns, entries, offsets, indices, values,
                                                offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCreateConstCsr(void** descriptor, std::int64_t rows, std::int64_t columns,
                                           std::int64_t entries, void* offsets, void* indices, void* values,
                                           int offset_type, int index_type, int base, int type) {
  return create_matrix(descriptor, SparseMatrix{kCsr, rows, columns, entries, offsets, indices, values,
                                                offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCsrGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                   std::int64_t* entries, void** offsets, void** indices, void** values,
                                   int* offset_type, int* index_type, int* base, int* type) {
  return get_matrix(descriptor, kCsr,
                    {rows, columns, entries, offsets, indices, values, offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseConstCsrGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                        std::int64_t* entries, void** offsets, void** indices, void** values,
                                        int* offset_type, int* index_type, int* base, int* type) {
  return get_matrix(descriptor, kCsr,
                    {rows, columns, entries, offsets, indices, values, offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCsrSetPointers(void* descriptor, void* offsets, void* indices, void* values) {
  return set_pointers(descriptor, kCsr, offsets, indices, values);
}
LOCKSTEP_SPARSE_API cusparseCreateCsc(void** descriptor, std::int64_t rows, std::int64_t columns,
                                      std::int64_t entries, void* offsets, void* indices, void* values,
                                      int offset_type, int index_type, int base, int type) {
  return create_matrix(descriptor, SparseMatrix{kCsc, rows, columns, entries, offsets, indices, values,
                                                offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCreateConstCsc(void** descriptor, std::int64_t rows, std::int64_t columns,
                                           std::int64_t entries, void* offsets, void* indices, void* values,
                                           int offset_type, int index_type, int base, int type) {
  return create_matrix(descriptor, SparseMatrix{kCsc, rows, columns, entries, offsets, indices, values,
                                                offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCscGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                   std::int64_t* entries, void** offsets, void** indices, void** values,
                                   int* offset_type, int* index_type, int* base, int* type) {
  return get_matrix(descriptor, kCsc,
                    {rows, columns, entries, offsets, indices, values, offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseConstCscGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                        std::int64_t* entries, void** offsets, void** indices, void** values,
                                        int* offset_type, int* index_type, int* base, int* type) {
  return get_matrix(descriptor, kCsc,
                    {rows, columns, entries, offsets, indices, values, offset_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCscSetPointers(void* descriptor, void* offsets, void* indices, void* values) {
  return set_pointers(descriptor, kCsc, offsets, indices, values);
}
LOCKSTEP_SPARSE_API cusparseCreateCoo(void** descriptor, std::int64_t rows, std::int64_t columns,
                                      std::int64_t entries, void* row_indices, void* column_indices,
                                      void* values, int index_type, int base, int type) {
  return create_matrix(descriptor, SparseMatrix{kCoo, rows, columns, entries, row_indices, column_indices,
                                                values, index_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCreateConstCoo(void** descriptor, std::int64_t rows, std::int64_t columns,
                                           std::int64_t entries, void* row_indices, void* column_indices,
                                           void* values, int index_type, int base, int type) {
  return create_matrix(descriptor, SparseMatrix{kCoo, rows, columns, entries, row_indices, column_indices,
                                                values, index_type, index_type, base, type});
}
LOCKSTEP_SPARSE_API cusparseCooGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                   std::int64_t* entries, void** row_indices, void** column_indices,
                                   void** values, int* index_type, int* base, int* type) {
  return get_matrix(
      descriptor, kCoo,
      {rows, columns, entries, row_indices, column_indices, values, index_type, nullptr, base, type});
}
LOCKSTEP_SPARSE_API cusparseConstCooGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                        std::int64_t* entries, void** row_indices, void** column_indices,
                                        void** values, int* index_type, int* base, int* type) {
  return get_matrix(
      descriptor, kCoo,
      {rows, columns, entries, row_indices, column_indices, values, index_type, nullptr, base, type});
}
LOCKSTEP_SPARSE_API cusparseCooSetPointers(void* descriptor, void* row_indices, void* column_indices,
                                           void* values) {
  return set_pointers(descriptor, kCoo, row_indices, column_indices, values);
}

LOCKSTEP_SPARSE_API cusparseDestroySpMat(const void* descriptor) {
  return guarded(&status_of, [&] {
    (void)described<SparseMatrix>(descriptor);
    handles<SparseMatrix>().destroy(descriptor);
  });
}
LOCKSTEP_SPARSE_API cusparseSpMatGetFormat(const void* descriptor, int* format) {
  return guarded(&status_of, [&] { put(format, described<SparseMatrix>(descriptor).format); });
}
LOCKSTEP_SPARSE_API cusparseSpMatGetIndexBase(const void* descriptor, int* base) {
  return guarded(&status_of, [&] { put(base, described<SparseMatrix>(descriptor).base); });
}
LOCKSTEP_SPARSE_API cusparseSpMatGetValues(void* descriptor, void** values) {
  return guarded(&status_of, [&] { put(values, described<SparseMatrix>(descriptor).values); });
}
LOCKSTEP_SPARSE_API cusparseConstSpMatGetValues(const void* descriptor, void** values) {
  return guarded(&status_of, [&] { put(values, described<SparseMatrix>(descriptor).values); });
}
LOCKSTEP_SPARSE_API cusparseSpMatSetValues(void* descriptor, void* values) {
  return guarded(&status_of, [&] { described<SparseMatrix>(descriptor).values = values; });
}
LOCKSTEP_SPARSE_API cusparseSpMatGetSize(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                         std::int64_t* entries) {
  return guarded(&status_of, [&] {
    const auto& matrix = described<SparseMatrix>(descriptor);
    put(rows, matrix.rows);
    put(columns, matrix.columns);
    put(entries, matrix.entries);
  });
}
LOCKSTEP_SPARSE_API cusparseSpMatGetStridedBatch(const void* descriptor, int* count) {
  return guarded(&status_of, [&] { put(count, described<SparseMatrix>(descriptor).batch); });
}
LOCKSTEP_SPARSE_API cusparseCooSetStridedBatch(void* descriptor, int count, std::int64_t stride) {
  return set_batch(descriptor, kCoo, count, stride, stride);
}
LOCKSTEP_SPARSE_API cusparseCsrSetStridedBatch(void* descriptor, int count, std::int64_t offset_stride,
                                               std::int64_t entry_stride) {
  return set_batch(descriptor, kCsr, count, offset_stride, entry_stride);
}

LOCKSTEP_SPARSE_API cusparseSpMatGetAttribute(const void* descriptor, int attribute, void* data,
                                              std::size_t bytes) {
  return guarded(&status_of, [&] {
    require(data != nullptr && bytes == sizeof(int));
    *static_cast<int*>(data) = *attribute_of(described<SparseMatrix>(descriptor), attribute);
  });
}
LOCKSTEP_SPARSE_API cusparseSpMatSetAttribute(void* descriptor, int attribute, void* data,
                                              std::size_t bytes) {
  return guarded(&status_of, [&] {
    require(data != nullptr && bytes == sizeof(int));
    const int value = *static_cast<int*>(data);
    require(value == 0 || value == 1);
    *attribute_of(described<SparseMatrix>(descriptor), attribute) = value;
  });
}

}  // namespace lockstep::libraries::sparse
