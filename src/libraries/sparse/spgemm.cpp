// Products of two sparse matrices (SpGEMM, SpGEMMreuse). The products of all pairs of entries that meet are
// sorted by row and column, which gives the structure of C; the sums are taken when C is copied or computed.
#include "libraries/sparse/context.hpp"
#include "libraries/sparse/gathered.hpp"

namespace lockstep::libraries::sparse {
namespace {

/// Sizes of work areas are not 0: a call without a work area is one that asks for its size.
constexpr std::size_t kWorkArea = 256;

/// What is known of a product.
struct ProductPlan {
  const void *a = nullptr, *b = nullptr;
  long long products = -1;  // -1: not counted
  Memory product_offsets;   // where those of each entry of A begin
  Memory rows, columns, starts, a_places, b_places;
  long long entries = -1;  // -1: the structure is not known

  [[nodiscard]] ProductEntries view() const {
    return {starts.as<int>(), a_places.as<int>(), b_places.as<int>(), entries};
  }
};

Memory ints(long long count, Stream stream, bool lasting = false) {
  return {static_cast<std::size_t>(count) * sizeof(int), stream, lasting};
}
Dim3 threads() { return {kThreads, 1, 1}; }

struct SparseProduct {
  const char* what;
  int operation_a, operation_b;
  const void *a, *b, *c;
  int compute_type, algorithm;
  void* plan;

  [[nodiscard]] const SparseMatrix& left() const { return described<SparseMatrix>(a); }
  [[nodiscard]] const SparseMatrix& right() const { return described<SparseMatrix>(b); }
  [[nodiscard]] SparseMatrix& out() const { return described<SparseMatrix>(c); }

  void check() const {
    (void)described<ProductPlan>(plan);
    require_operation(operation_a);
    require_operation(operation_b);
    require(algorithm >= kFirstSpgemm && algorithm <= kLastSpgemm);
    if (operation_a != kAsIs || operation_b != kAsIs) refuse(std::string(what) + ": a transposed matrix");
    require(left().columns == right().rows && left().rows == out().rows && right().columns == out().columns);
    require_same_types(what, {left().type, right().type, out().type, compute_type});
    for (const void* descriptor : {a, b, c}) {
      const auto& matrix = described<SparseMatrix>(descriptor);
      if (matrix.format != kCsr) refuse(std::string(what) + ": a matrix that is not CSR");
      if (matrix.batch != 1) refuse(std::string(what) + ": a batch of matrices");
      require_int(matrix.rows);
      require_int(matrix.columns);
      require_int(matrix.entries);
    }
    with_type(out().type, what, [](auto) {});
  }

  void count(const Context& context, ProductPlan& known) const {
    const Stream stream = context.stream;
    const long long entries = left().entries;
    known.product_offsets = ints(entries + 1, stream, true);
    const Memory total(sizeof(long long), stream, false);
    libraries::check(runtime().cudaMemsetAsync(total.as<void>(), 0, sizeof(long long), stream),
                     "counting products");
    kernels_of("spgemm").launch("lockstep_sparse_count_products", blocks_for(entries + 1), threads(), 0,
                                stream, left().second_view(), entries, right().first_view(),
                                known.product_offsets.as<int>(), total.as<void>());
    enqueue_prefix_sums(known.product_offsets.as<int>(), entries + 1, stream);
    libraries::check(runtime().cudaMemcpyAsync(&known.products, total.as<void>(), sizeof(long long),
                                               kDeviceToHost, stream),
                     "counting products");
    libraries::check(runtime().cudaStreamSynchronize(stream), "counting products");
    known.a = a;
    known.b = b;
    known.entries = -1;
  }

  /// Finds the structure of C, and sets its number of entries.
  void find(const Context& context) const {
    check();
    auto& known = described<ProductPlan>(plan);
    if (known.products < 0 || known.a != a || known.b != b) count(context, known);
    require_int(known.products);
    if (known.products == 0) {
      known.entries = 0;
    } else {
      sort_products(context, known);
    }
    out().entries = known.entries;
  }
  void sort_products(const Context& context, ProductPlan& known) const {
    const Stream stream = context.stream;
    const long long products = known.products;
    Kernels& kernels = kernels_of("spgemm");
    const Memory rows = ints(products, stream), columns = ints(products, stream),
                 a_places = ints(products, stream), b_places = ints(products, stream);
    kernels.launch("lockstep_sparse_expand_products", blocks_for(products), threads(), 0, stream,
                   view_of(left()), view_of(right()), left().entries, known.product_offsets.as<int>(),
                   products, rows.as<int>(), columns.as<int>(), a_places.as<int>(), b_places.as<int>());
    Sorted sorted = sort_indices({columns.as<int>(), 0, 0}, products, right().columns, stream, false);
    const Memory sorted_columns = ints(products, stream);
    const int* const by_column = sorted.order.as<int>();
    pick(stream, by_column, rows.as<int>(), products, sorted.keys.as<int>());
    sort_further(sorted, products, left().rows, stream, false);
    const int* const order = sorted.order.as<int>();
    known.a_places = ints(products, stream, true);
    known.b_places = ints(products, stream, true);
    pick(stream, order, columns.as<int>(), products, sorted_columns.as<int>());
    pick(stream, order, a_places.as<int>(), products, known.a_places.as<int>());
    pick(stream, order, b_places.as<int>(), products, known.b_places.as<int>());
    collect(stream, sorted.keys.as<int>(), sorted_columns.as<int>(), known);
  }
  /// The entries of C from the sorted products.
  static void collect(Stream stream, const int* rows, const int* columns, ProductPlan& known) {
    const long long products = known.products;
    Kernels& kernels = kernels_of("spgemm");
    const Memory heads = ints(products + 1, stream);
    kernels.launch("lockstep_sparse_product_heads", blocks_for(products + 1), threads(), 0, stream, rows,
                   columns, products, heads.as<int>());
    enqueue_prefix_sums(heads.as<int>(), products + 1, stream);
    known.entries = int_at(heads.as<int>() + products, stream);
    known.rows = ints(known.entries, stream, true);
    known.columns = ints(known.entries, stream, true);
    known.starts = ints(known.entries + 1, stream, true);
    kernels.launch("lockstep_sparse_collect_heads", blocks_for(products + 1), threads(), 0, stream, rows,
                   columns, products, heads.as<int>(), known.rows.as<int>(), known.columns.as<int>(),
                   known.starts.as<int>());
  }
  static void pick(Stream stream, const int* order, const int* source, long long count, int* result) {
    kernels_of("structure")
        .launch("lockstep_sparse_gather_i", blocks_for(count), threads(), 0, stream, order, count,
                Indices{source, 0, 0}, 0, result);
  }
  static Rows view_of(const SparseMatrix& matrix) {
    Rows rows;
    rows.offsets = matrix.first_view();
    rows.columns = matrix.second_view();
    rows.count = matrix.rows;
    return rows;
  }

  const ProductPlan& known_product() const {
    check();
    const auto& known = described<ProductPlan>(plan);
    require(known.entries >= 0 && known.a == a && known.b == b && out().entries == known.entries);
    require(out().first != nullptr && (known.entries == 0 || out().second != nullptr));
    return known;
  }
  void write_structure(const Context& context) const {
    const ProductPlan& known = known_product();
    const Stream stream = context.stream;
    Kernels& kernels = kernels_of("dense");
    const long long count = out().rows + 1;
    const Memory offsets = ints(count, stream);
    enqueue_offsets({known.rows.as<int>(), 0, 0}, known.entries, out().rows, 0, offsets.as<int>(), stream);
    kernels.launch("lockstep_sparse_put_indices", blocks_for(count), threads(), 0, stream, offsets.as<int>(),
                   count, out().first_view());
    kernels.launch("lockstep_sparse_put_indices", blocks_for(known.entries), threads(), 0, stream,
                   known.columns.as<int>(), known.entries, out().second_view());
  }
  void write_values(const Context& context, const void* alpha, const void* beta) const {
    const ProductPlan& known = known_product();
    require(known.entries == 0 || out().values != nullptr);
    with_type(out().type, what, [&](auto type) {
      using T = typename decltype(type)::type;
      kernels_of("spgemm").launch(type.name("add_products").c_str(), blocks_for(known.entries), threads(), 0,
                                  context.stream, known.view(), scalar_of<T>(context, alpha), left().values,
                                  right().values, scalar_of<T>(context, beta), out().values);
    });
  }
};

void want(std::size_t* bytes) {
  require(bytes != nullptr);
  *bytes = kWorkArea;
}

SparseProduct product(int op_a, int op_b, const void* a, const void* b, const void* c, int type,
                      int algorithm, void* plan) {
  return {"cusparseSpGEMM", op_a, op_b, a, b, c, type, algorithm, plan};
}
SparseProduct reused(int op_a, int op_b, const void* a, const void* b, const void* c, int algorithm,
                     void* plan) {
  return {"cusparseSpGEMMreuse", op_a, op_b, a, b, c, described<SparseMatrix>(c).type, algorithm, plan};
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseSpGEMM_createDescr(void** plan) {
  return guarded(&status_of, [&] {
    require(plan != nullptr);
    *plan = handles<ProductPlan>().create();
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMM_destroyDescr(void* plan) {
  return guarded(&status_of, [&] {
    (void)described<ProductPlan>(plan);
    handles<ProductPlan>().destroy(plan);
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMM_workEstimation(void* handle, int op_a, int op_b, const void*,
                                                  const void* a, const void* b, const void*, void* c,
                                                  int type, int algorithm, void* plan, std::size_t* bytes,
                                                  void* buffer) {
  return with_context(handle, [&](Context& context) {
    const SparseProduct wanted = product(op_a, op_b, a, b, c, type, algorithm, plan);
    wanted.check();
    want(bytes);
    if (buffer != nullptr) wanted.count(context, described<ProductPlan>(plan));
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMM_getNumProducts(void* plan, std::int64_t* products) {
  return guarded(&status_of, [&] {
    const auto& known = described<ProductPlan>(plan);
    require(products != nullptr && known.products >= 0);
    *products = known.products;
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMM_estimateMemory(void* handle, int op_a, int op_b, const void*,
                                                  const void* a, const void* b, const void*, void* c,
                                                  int type, int algorithm, void* plan, float,
                                                  std::size_t* bytes_here, void* buffer, std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    product(op_a, op_b, a, b, c, type, algorithm, plan).check();
    want(buffer == nullptr ? bytes_here : bytes);
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMM_compute(void* handle, int op_a, int op_b, const void*, const void* a,
                                           const void* b, const void*, void* c, int type, int algorithm,
                                           void* plan, std::size_t* bytes, void* buffer) {
  return with_context(handle, [&](Context& context) {
    const SparseProduct wanted = product(op_a, op_b, a, b, c, type, algorithm, plan);
    wanted.check();
    want(bytes);
    if (buffer != nullptr) wanted.find(context);
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMM_copy(void* handle, int op_a, int op_b, const void* alpha, const void* a,
                                        const void* b, const void* beta, void* c, int type, int algorithm,
                                        void* plan) {
  return with_context(handle, [&](Context& context) {
    const SparseProduct wanted = product(op_a, op_b, a, b, c, type, algorithm, plan);
    wanted.write_structure(context);
    wanted.write_values(context, alpha, beta);
  });
}

LOCKSTEP_SPARSE_API cusparseSpGEMMreuse_workEstimation(void* handle, int op_a, int op_b, const void* a,
                                                       const void* b, void* c, int algorithm, void* plan,
                                                       std::size_t* bytes, void* buffer) {
  return with_context(handle, [&](Context& context) {
    const SparseProduct wanted = reused(op_a, op_b, a, b, c, algorithm, plan);
    wanted.check();
    want(bytes);
    if (buffer != nullptr) wanted.count(context, described<ProductPlan>(plan));
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMMreuse_nnz(void* handle, int op_a, int op_b, const void* a, const void* b,
                                            void* c, int algorithm, void* plan, std::size_t* bytes2,
                                            void* buffer2, std::size_t* bytes3, void* buffer3,
                                            std::size_t* bytes4, void* buffer4) {
  return with_context(handle, [&](Context& context) {
    const SparseProduct wanted = reused(op_a, op_b, a, b, c, algorithm, plan);
    wanted.check();
    for (std::size_t* bytes : {bytes2, bytes3, bytes4}) want(bytes);
    if (buffer2 != nullptr && buffer3 != nullptr && buffer4 != nullptr) wanted.find(context);
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMMreuse_copy(void* handle, int op_a, int op_b, const void* a, const void* b,
                                             void* c, int algorithm, void* plan, std::size_t* bytes,
                                             void* buffer) {
  return with_context(handle, [&](Context& context) {
    want(bytes);
    const SparseProduct wanted = reused(op_a, op_b, a, b, c, algorithm, plan);
    if (buffer != nullptr) wanted.write_structure(context);
  });
}
LOCKSTEP_SPARSE_API cusparseSpGEMMreuse_compute(void* handle, int op_a, int op_b, const void* alpha,
                                                const void* a, const void* b, const void* beta, void* c,
                                                int type, int algorithm, void* plan) {
  return with_context(handle, [&](Context& context) {
    product(op_a, op_b, a, b, c, type, algorithm, plan).write_values(context, alpha, beta);
  });
}

}  // namespace lockstep::libraries::sparse
