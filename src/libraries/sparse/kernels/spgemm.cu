// Products of two sparse matrices: all products of two entries, sorted by their place, are added up.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

__device__ long long own_thread() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }

template <class T>
__device__ void add_products(const ProductEntries& c, Scalar<T> alpha, const T* a, const T* b, Scalar<T> beta,
                             T* values) {
  const long long k = own_thread();
  if (k >= c.count) return;
  T sum = zero<T>();
  for (int p = c.starts[k]; p < c.starts[k + 1]; ++p) sum = sum + a[c.a_places[p]] * b[c.b_places[p]];
  store(values[k], value_of(alpha), sum, value_of(beta));
}

}  // namespace

/// counts[k]: how many products entry k of A takes part in; the last one is 0.
extern "C" __global__ void lockstep_sparse_count_products(Indices a_columns, long long entries,
                                                          Indices b_offsets, int* counts,
                                                          unsigned long long* total) {
  const long long k = own_thread();
  int count = 0;
  if (k < entries) {
    const long long row = at(a_columns, k);
    count = static_cast<int>(at(b_offsets, row + 1) - at(b_offsets, row));
  }
  if (k <= entries) counts[k] = count;
  const int sum = summed(count, 32);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(total, static_cast<unsigned long long>(sum));
}

/// Of each product: its row and its column, and where its factors are.
extern "C" __global__ void lockstep_sparse_expand_products(Rows a, Rows b, long long entries,
                                                           const int* product_offsets, long long products,
                                                           int* rows, int* columns, int* a_places,
                                                           int* b_places) {
  const long long p = own_thread();
  if (p >= products) return;
  const int k = lower_bound({product_offsets, 0, 0}, entries + 1, p + 1) - 1;
  const long long b_place = at(b.offsets, at(a.columns, k)) + (p - product_offsets[k]);
  rows[p] = lower_bound(a.offsets, a.count + 1, k + 1) - 1;
  columns[p] = static_cast<int>(at(b.columns, b_place));
  a_places[p] = k;
  b_places[p] = static_cast<int>(b_place);
}

/// heads[p]: 1 where sorted product p is the first one at its place; the last head is 0.
extern "C" __global__ void lockstep_sparse_product_heads(const int* rows, const int* columns,
                                                         long long products, int* heads) {
  const long long p = own_thread();
  if (p > products) return;
  heads[p] = p < products && (p == 0 || rows[p] != rows[p - 1] || columns[p] != columns[p - 1]) ? 1 : 0;
}

/// `before`: prefix sums of the heads.
extern "C" __global__ void lockstep_sparse_collect_heads(const int* rows, const int* columns,
                                                         long long products, const int* before,
                                                         int* entry_rows, int* entry_columns, int* starts) {
  const long long p = own_thread();
  if (p > products) return;
  if (p == products) {
    starts[before[p]] = static_cast<int>(products);
  } else if (before[p] != before[p + 1]) {
    entry_rows[before[p]] = rows[p];
    entry_columns[before[p]] = columns[p];
    starts[before[p]] = static_cast<int>(p);
  }
}

#define X(suffix, T)                                                                          \
  extern "C" __global__ void lockstep_sparse_add_products_##suffix(                           \
      ProductEntries c, Scalar<T> alpha, const T* a, const T* b, Scalar<T> beta, T* values) { \
    add_products<T>(c, alpha, a, b, beta, values);                                            \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
