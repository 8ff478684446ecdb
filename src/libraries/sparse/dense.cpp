// Descriptors of vectors and of dense matrices.
#include "libraries/sparse/context.hpp"
#include "libraries/sparse/descriptors.hpp"

namespace lockstep::libraries::sparse {

Dense DenseMatrix::view(int operation, int which) const {
  Dense dense;
  dense.data = values == nullptr
                   ? nullptr
                   : static_cast<char*>(values) + which * stride * static_cast<long long>(bytes_of(type));
  dense.row = order == kByRows ? leading : 1;
  dense.column = order == kByRows ? 1 : leading;
  if (operation != kAsIs) std::swap(dense.row, dense.column);
  dense.conjugate = operation == kConjugateTransposed && is_complex(type);
  return dense;
}

namespace {

bool is_index_type(int type) { return type == kIndex32 || type == kIndex64; }
bool is_base(int base) { return base == 0 || base == 1; }

/// Puts what a descriptor says where the program wants it, if it does.
template <class To, class From>
void put(To* to, From from) {
  if (to != nullptr) *to = static_cast<To>(from);
}

template <class T>
Status destroy(const void* descriptor) {
  return guarded(&status_of, [&] {
    (void)described<T>(descriptor);
    handles<T>().destroy(descriptor);
  });
}

template <class T>
Status get_values(const void* descriptor, void** values) {
  return guarded(&status_of, [&] {
    require(values != nullptr);
    *values = described<T>(descriptor).values;
  });
}

template <class T>
Status set_values(const void* descriptor, void* values) {
  return guarded(&status_of, [&] { described<T>(descriptor).values = values; });
}

Status create_sparse_vector(void** descriptor, std::int64_t size, std::int64_t entries, void* indices,
                            void* values, int index_type, int base, int type) {
  return guarded(&status_of, [&] {
    require(descriptor != nullptr && size >= 0 && entries >= 0 && entries <= size);
    require(entries == 0 || (indices != nullptr && values != nullptr));
    require(is_index_type(index_type) && is_base(base));
    *descriptor =
        handles<SparseVector>().create(SparseVector{size, entries, indices, values, index_type, base, type});
  });
}

Status get_sparse_vector(const void* descriptor, std::int64_t* size, std::int64_t* entries, void** indices,
                         void** values, int* index_type, int* base, int* type) {
  return guarded(&status_of, [&] {
    const auto& vector = described<SparseVector>(descriptor);
    put(size, vector.size);
    put(entries, vector.entries);
    put(indices, vector.indices);
    put(values, vector.values);
    put(index_type, vector.index_type);
    put(base, vector.base);
    put(type, vector.type);
  });
}

Status create_dense_vector(void** descriptor, std::int64_t size, void* values, int type) {
  return guarded(&status_of, [&] {
    require(descriptor != nullptr && size >= 0 && (size == 0 || values != nullptr));
    *descriptor = handles<DenseVector>().create(DenseVector{size, values, type});
  });
}

Status get_dense_vector(const void* descriptor, std::int64_t* size, void** values, int* type) {
  return guarded(&status_of, [&] {
    const auto& vector = described<DenseVector>(descriptor);
    put(size, vector.size);
    put(values, vector.values);
    put(type, vector.type);
  });
}

Status create_dense_matrix(void** descriptor, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                           void* values, int type, int order) {
  return guarded(&status_of, [&] {
    require(descriptor != nullptr && rows >= 0 && columns >= 0);
    require(order == kByRows || order == kByColumns);
    require(leading >= (order == kByRows ? columns : rows));
    require(rows == 0 || columns == 0 || values != nullptr);
    DenseMatrix matrix{rows, columns, leading, values, type, order};
    *descriptor = handles<DenseMatrix>().create(matrix);
  });
}

Status get_dense_matrix(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                        std::int64_t* leading, void** values, int* type, int* order) {
  return guarded(&status_of, [&] {
    const auto& matrix = described<DenseMatrix>(descriptor);
    put(rows, matrix.rows);
    put(columns, matrix.columns);
    put(leading, matrix.leading);
    put(values, matrix.values);
    put(type, matrix.type);
    put(order, matrix.order);
  });
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseCreateSpVec(void** descriptor, std::int64_t size, std::int64_t entries,
                                        void* indices, void* values, int index_type, int base, int type) {
  return create_sparse_vector(descriptor, size, entries, indices, values, index_type, base, type);
}
LOCKSTEP_SPARSE_API cusparseCreateConstSpVec(void** descriptor, std::int64_t size, std::int64_t entries,
                                             void* indices, void* values, int index_type, int base,
                                             int type) {
  return create_sparse_vector(descriptor, size, entries, indices, values, index_type, base, type);
}
LOCKSTEP_SPARSE_API cusparseDestroySpVec(const void* descriptor) { return destroy<SparseVector>(descriptor); }
LOCKSTEP_SPARSE_API cusparseSpVecGet(void* descriptor, std::int64_t* size, std::int64_t* entries,
                                     void** indices, void** values, int* index_type, int* base, int* type) {
  return get_sparse_vector(descriptor, size, entries, indices, values, index_type, base, type);
}
LOCKSTEP_SPARSE_API cusparseConstSpVecGet(void* descriptor, std::int64_t* size, std::int64_t* entries,
                                          void** indices, void** values, int* index_type, int* base,
                                          int* type) {
  return get_sparse_vector(descriptor, size, entries, indices, values, index_type, base, type);
}
LOCKSTEP_SPARSE_API cusparseSpVecGetIndexBase(const void* descriptor, int* base) {
  return get_sparse_vector(descriptor, nullptr, nullptr, nullptr, nullptr, nullptr, base, nullptr);
}
LOCKSTEP_SPARSE_API cusparseSpVecGetValues(void* descriptor, void** values) {
  return get_values<SparseVector>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseConstSpVecGetValues(const void* descriptor, void** values) {
  return get_values<SparseVector>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseSpVecSetValues(void* descriptor, void* values) {
  return set_values<SparseVector>(descriptor, values);
}

LOCKSTEP_SPARSE_API cusparseCreateDnVec(void** descriptor, std::int64_t size, void* values, int type) {
  return create_dense_vector(descriptor, size, values, type);
}
LOCKSTEP_SPARSE_API cusparseCreateConstDnVec(void** descriptor, std::int64_t size, void* values, int type) {
  return create_dense_vector(descriptor, size, values, type);
}
LOCKSTEP_SPARSE_API cusparseDestroyDnVec(const void* descriptor) { return destroy<DenseVector>(descriptor); }
LOCKSTEP_SPARSE_API cusparseDnVecGet(void* descriptor, std::int64_t* size, void** values, int* type) {
  return get_dense_vector(descriptor, size, values, type);
}
LOCKSTEP_SPARSE_API cusparseConstDnVecGet(const void* descriptor, std::int64_t* size, void** values,
                                          int* type) {
  return get_dense_vector(descriptor, size, values, type);
}
LOCKSTEP_SPARSE_API cusparseDnVecGetValues(void* descriptor, void** values) {
  return get_values<DenseVector>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseConstDnVecGetValues(const void* descriptor, void** values) {
  return get_values<DenseVector>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseDnVecSetValues(void* descriptor, void* values) {
  return set_values<DenseVector>(descriptor, values);
}

LOCKSTEP_SPARSE_API cusparseCreateDnMat(void** descriptor, std::int64_t rows, std::int64_t columns,
                                        std::int64_t leading, void* values, int type, int order) {
  return create_dense_matrix(descriptor, rows, columns, leading, values, type, order);
}
LOCKSTEP_SPARSE_API cusparseCreateConstDnMat(void** descriptor, std::int64_t rows, std::int64_t columns,
                                             std::int64_t leading, void* values, int type, int order) {
  return create_dense_matrix(descriptor, rows, columns, leading, values, type, order);
}
LOCKSTEP_SPARSE_API cusparseDestroyDnMat(const void* descriptor) { return destroy<DenseMatrix>(descriptor); }
LOCKSTEP_SPARSE_API cusparseDnMatGet(void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                     std::int64_t* leading, void** values, int* type, int* order) {
  return get_dense_matrix(descriptor, rows, columns, leading, values, type, order);
}
LOCKSTEP_SPARSE_API cusparseConstDnMatGet(const void* descriptor, std::int64_t* rows, std::int64_t* columns,
                                          std::int64_t* leading, void** values, int* type, int* order) {
  return get_dense_matrix(descriptor, rows, columns, leading, values, type, order);
}
LOCKSTEP_SPARSE_API cusparseDnMatGetValues(void* descriptor, void** values) {
  return get_values<DenseMatrix>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseConstDnMatGetValues(const void* descriptor, void** values) {
  return get_values<DenseMatrix>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseDnMatSetValues(void* descriptor, void* values) {
  return set_values<DenseMatrix>(descriptor, values);
}
LOCKSTEP_SPARSE_API cusparseDnMatSetStridedBatch(void* descriptor, int count, std::int64_t stride) {
  return guarded(&status_of, [&] {
    auto& matrix = described<DenseMatrix>(descriptor);
    const long long needed = matrix.leading * (matrix.order == kByRows ? matrix.rows : matrix.columns);
    require(count >= 1 && (stride == 0 || stride >= needed));
    matrix.batch = count;
    matrix.stride = stride;
  });
}
LOCKSTEP_SPARSE_API cusparseDnMatGetStridedBatch(const void* descriptor, int* count, std::int64_t* stride) {
  return guarded(&status_of, [&] {
    const auto& matrix = described<DenseMatrix>(descriptor);
    put(count, matrix.batch);
    put(stride, matrix.stride);
  });
}

}  // namespace lockstep::libraries::sparse
