// Incomplete LU and Cholesky factors without fill-in (csrilu02, csric02).
#include <algorithm>
#include <climits>
#include <type_traits>

#include "libraries/sparse/context.hpp"
#include "libraries/sparse/descriptors.hpp"
#include "libraries/sparse/legacy.hpp"
#include "libraries/sparse/schedule.hpp"
#include "libraries/sparse/sort.hpp"

namespace lockstep::libraries::sparse {
namespace {

constexpr int kWarp = 32;

/// What the analysis has found, and what else is known of the factors.
struct Factors {
  Schedule schedule;
  long long rows = -1;  // -1: there has been no analysis
  int base = 0;
  int missing = INT_MAX;  // the first row without a diagonal
  Memory zero_pivot;      // the first row with a zero on the diagonal, or INT_MAX
  bool factored = false;
  int boosted = 0;
  int boost_mode = kOnHost;
  const void *tolerance = nullptr, *boost_value = nullptr;
  double host_tolerance = 0, host_value = 0;
};
struct LuFactors : Factors {};
struct CholeskyFactors : Factors {};

struct Problem {
  int rows, entries;
  const void* description;
  void* values;
  const int *offsets, *columns;

  [[nodiscard]] Pattern pattern() const {
    return {offsets, columns, described<MatrixDescription>(description).base};
  }
  void check() const {
    require(rows >= 0 && entries >= 0);
    require(rows == 0 || offsets != nullptr);
    require(entries == 0 || (values != nullptr && columns != nullptr));
    const int type = described<MatrixDescription>(description).type;
    if (type != kGeneral) refuse("cusparse: incomplete factors of a matrix of type " + std::to_string(type));
  }
  void analyse(const Context& context, Factors& factors) const {
    check();
    factors.rows = -1;
    const Pattern a = pattern();
    Rows view;
    view.offsets = {a.offsets, 0, a.base};
    view.columns = {a.columns, 0, a.base};
    view.count = rows;
    factors.missing = INT_MAX;
    factors.schedule = {};
    if (rows != 0) {
      const Structure structure(view, entries, context.stream);
      factors.schedule = Schedule(structure, false, kWarp, context.stream);
      factors.missing = first_without_diagonal(structure);
    }
    if (factors.zero_pivot.as<int>() == nullptr)
      factors.zero_pivot = Memory(sizeof(int), context.stream, true);
    factors.rows = rows;
    factors.base = a.base;
    factors.factored = false;
  }
  [[nodiscard]] static int first_without_diagonal(const Structure& structure) {
    for (long long row = 0; row < structure.rows(); ++row) {
      const auto begin = structure.offsets[static_cast<std::size_t>(row)],
                 end = structure.offsets[static_cast<std::size_t>(row) + 1];
      bool found = false;
      for (long long k = begin; k < end; ++k)
        found = found || structure.columns[static_cast<std::size_t>(k)] == row;
      if (!found) return static_cast<int>(row);
    }
    return INT_MAX;
  }
  /// Calls `launch_one(launch, zero_pivot)` for all levels.
  template <class LaunchOne>
  void factor(const Context& context, Factors& factors, LaunchOne&& launch_one) const {
    check();
    require(factors.rows == rows && factors.base == pattern().base);
    int* const zero_pivot = factors.zero_pivot.as<int>();
    constexpr int kEachByte = 0x7f;  // larger than any row that there is memory for
    libraries::check(runtime().cudaMemsetAsync(zero_pivot, kEachByte, sizeof(int), context.stream),
                     "setting a pivot's place");
    for (const Launch& launch : factors.schedule.launches) launch_one(launch, zero_pivot);
    factors.factored = true;
  }
};

template <class T>
Boost<T> boost_of(const Factors& factors) {
  if (factors.boosted == 0) return {};
  if (factors.boost_mode == kOnDevice)
    return {1,
            {static_cast<const double*>(factors.tolerance), 0},
            {static_cast<const T*>(factors.boost_value), T{}}};
  return {1, {nullptr, factors.host_tolerance}, {nullptr, static_cast<T>(factors.host_value)}};
}

template <class T>
constexpr const char* kSuffix = std::is_same_v<T, float> ? "s" : "d";

template <class T>
void enqueue(const Context& context, const Problem& problem, LuFactors& factors) {
  const Boost<T> boost = boost_of<T>(factors);
  const Pattern a = problem.pattern();
  problem.factor(context, factors, [&](const Launch& launch, int* zero_pivot) {
    kernels_of("incomplete")
        .launch(Type<T>{kSuffix<T>}.name("ilu").c_str(), launch.grid(1), launch.block(), 0, context.stream, a,
                problem.values, factors.schedule.levels, launch.first, launch.last, boost, zero_pivot);
  });
}
template <class T>
void enqueue(const Context& context, const Problem& problem, CholeskyFactors& factors) {
  const Pattern a = problem.pattern();
  problem.factor(context, factors, [&](const Launch& launch, int* zero_pivot) {
    kernels_of("incomplete")
        .launch(Type<T>{kSuffix<T>}.name("ic").c_str(), launch.grid(1), launch.block(), 0, context.stream, a,
                problem.values, factors.schedule.levels, launch.first, launch.last, zero_pivot);
  });
}

template <class T>
Status create(void** factors) {
  return guarded(&status_of, [&] {
    require(factors != nullptr);
    *factors = handles<T>().create();
  });
}
template <class T>
Status destroy(const void* factors) {
  return guarded(&status_of, [&] {
    (void)described<T>(factors);
    handles<T>().destroy(factors);
  });
}

template <class T>
Status size_for(const void* handle, const Problem& problem, const void* factors, int* bytes) {
  return with_context(handle, [&](Context&) {
    problem.check();
    (void)described<T>(factors);
    require(bytes != nullptr);
    *bytes = 0;
  });
}
template <class T>
Status analyse(const void* handle, const Problem& problem, const void* factors, int policy) {
  return with_context(handle, [&](Context& context) {
    require(policy == 0 || policy == 1);
    problem.analyse(context, described<T>(factors));
  });
}
template <class T, class Kind>
Status factor(const void* handle, const Problem& problem, const void* factors, int policy) {
  return with_context(handle, [&](Context& context) {
    require(policy == 0 || policy == 1);
    enqueue<T>(context, problem, described<Kind>(factors));
  });
}

template <class T>
Status zero_pivot(const void* handle, const void* info, int* position) {
  bool found = false;
  const Status status = with_context(handle, [&](Context& context) {
    require(position != nullptr);
    const auto& factors = described<T>(info);
    check(runtime().cudaDeviceSynchronize(), "waiting for factors");
    int row = INT_MAX;
    if (factors.factored)
      check(runtime().cudaMemcpy(&row, factors.zero_pivot.template as<int>(), sizeof row, kDeviceToHost),
            "copying a pivot's place");
    row = std::min(row, factors.missing);
    found = row < factors.rows;
    const int place = found ? row + factors.base : -1;
    if (context.pointer_mode == kOnHost) {
      *position = place;
    } else {
      check(runtime().cudaMemcpy(position, &place, sizeof place, kHostToDevice), "copying a pivot's place");
    }
  });
  return status == kSuccess && found ? kZeroPivot : status;
}

template <class T>
Status boost(const void* handle, const void* info, int enabled, const double* tolerance, const T* value) {
  return with_context(handle, [&](Context& context) {
    auto& factors = described<LuFactors>(info);
    require(enabled == 0 || (tolerance != nullptr && value != nullptr));
    factors.boosted = enabled != 0 ? 1 : 0;
    factors.boost_mode = context.pointer_mode;
    factors.tolerance = tolerance;
    factors.boost_value = value;
    if (enabled == 0 || context.pointer_mode == kOnDevice) return;
    factors.host_tolerance = *tolerance;
    factors.host_value = static_cast<double>(*value);
  });
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseCreateCsrilu02Info(void** info) { return create<LuFactors>(info); }
LOCKSTEP_SPARSE_API cusparseDestroyCsrilu02Info(void* info) { return destroy<LuFactors>(info); }
LOCKSTEP_SPARSE_API cusparseXcsrilu02_zeroPivot(void* handle, void* info, int* position) {
  return zero_pivot<LuFactors>(handle, info, position);
}
LOCKSTEP_SPARSE_API cusparseCreateCsric02Info(void** info) { return create<CholeskyFactors>(info); }
LOCKSTEP_SPARSE_API cusparseDestroyCsric02Info(void* info) { return destroy<CholeskyFactors>(info); }
LOCKSTEP_SPARSE_API cusparseXcsric02_zeroPivot(void* handle, void* info, int* position) {
  return zero_pivot<CholeskyFactors>(handle, info, position);
}

/// The entries of one kind of factors for one type of values.
#define X(letter, T, name, Kind)                                                                            \
  LOCKSTEP_SPARSE_API cusparse##letter##name##_bufferSize(                                                  \
      void* handle, int rows, int entries, const void* description, T* values, const int* offsets,          \
      const int* columns, void* info, int* bytes) {                                                         \
    return size_for<Kind>(handle, {rows, entries, description, values, offsets, columns}, info, bytes);     \
  }                                                                                                         \
  LOCKSTEP_SPARSE_API cusparse##letter##name##_analysis(                                                    \
      void* handle, int rows, int entries, const void* description, const T* values, const int* offsets,    \
      const int* columns, void* info, int policy, void*) {                                                  \
    return analyse<Kind>(handle, {rows, entries, description, const_cast<T*>(values), offsets, columns},    \
                         info, policy);                                                                     \
  }                                                                                                         \
  LOCKSTEP_SPARSE_API cusparse##letter##name(void* handle, int rows, int entries, const void* description,  \
                                             T* values, const int* offsets, const int* columns, void* info, \
                                             int policy, void*) {                                           \
    return factor<T, Kind>(handle, {rows, entries, description, values, offsets, columns}, info, policy);   \
  }
X(S, float, csrilu02, LuFactors)
X(D, double, csrilu02, LuFactors)
X(S, float, csric02, CholeskyFactors)
X(D, double, csric02, CholeskyFactors)
#undef X

LOCKSTEP_SPARSE_API cusparseScsrilu02_numericBoost(void* handle, void* info, int enabled, double* tolerance,
                                                   float* value) {
  return boost(handle, info, enabled, tolerance, value);
}
LOCKSTEP_SPARSE_API cusparseDcsrilu02_numericBoost(void* handle, void* info, int enabled, double* tolerance,
                                                   double* value) {
  return boost(handle, info, enabled, tolerance, value);
}

}  // namespace lockstep::libraries::sparse
