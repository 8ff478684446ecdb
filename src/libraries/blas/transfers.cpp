// cublasSetMatrix and its relatives: copies between host and device.
#include "libraries/blas/entries.hpp"

namespace lockstep::libraries::blas {
namespace {

struct Transfer {
  std::int64_t rows, columns, bytes;  // of an element
  const void* from;
  std::int64_t from_ld;
  void* to;
  std::int64_t to_ld;
  int kind;
};

/// `enqueue` takes what cudaMemcpy2D takes.
template <class Enqueue>
Status transfer(const Transfer& t, Enqueue enqueue) {
  return guarded(&status_of, [&] {
    require(t.rows >= 0 && t.columns >= 0 && t.bytes > 0 && t.from_ld >= t.rows && t.to_ld >= t.rows);
    require(t.from_ld > 0 && t.to_ld > 0);
    if (t.rows == 0 || t.columns == 0) return;
    const auto bytes = [&](std::int64_t n) { return static_cast<std::size_t>(n * t.bytes); };
    if (enqueue(t.to, bytes(t.to_ld), t.from, bytes(t.from_ld), bytes(t.rows),
                static_cast<std::size_t>(t.columns), t.kind) != 0)
      throw Error(Failure::kInvalidValue);
  });
}
Status now(const Transfer& t) {
  return transfer(t, [](auto... arguments) { return runtime().cudaMemcpy2D(arguments...); });
}
Status later(const Transfer& t, Stream stream) {
  return transfer(t, [&](auto... arguments) { return runtime().cudaMemcpy2DAsync(arguments..., stream); });
}
/// A vector is a matrix of one row.
Transfer of_vector(std::int64_t n, std::int64_t bytes, const void* from, std::int64_t from_inc, void* to,
                   std::int64_t to_inc, int kind) {
  return {1, n, bytes, from, from_inc, to, to_inc, kind};
}

}  // namespace

#define LOCKSTEP_TRANSFERS(direction, kind, suffix, Int)                                                     \
  LOCKSTEP_LIBRARY_API Status cublas##direction##Vector##suffix(Int n, Int bytes, const void* from,          \
                                                                Int from_inc, void* to, Int to_inc) {        \
    return now(of_vector(n, bytes, from, from_inc, to, to_inc, kind));                                       \
  }                                                                                                          \
  LOCKSTEP_LIBRARY_API Status cublas##direction##VectorAsync##suffix(                                        \
      Int n, Int bytes, const void* from, Int from_inc, void* to, Int to_inc, Stream stream) {               \
    return later(of_vector(n, bytes, from, from_inc, to, to_inc, kind), stream);                             \
  }                                                                                                          \
  LOCKSTEP_LIBRARY_API Status cublas##direction##Matrix##suffix(                                             \
      Int rows, Int columns, Int bytes, const void* from, Int from_ld, void* to, Int to_ld) {                \
    return now({rows, columns, bytes, from, from_ld, to, to_ld, kind});                                      \
  }                                                                                                          \
  LOCKSTEP_LIBRARY_API Status cublas##direction##MatrixAsync##suffix(                                        \
      Int rows, Int columns, Int bytes, const void* from, Int from_ld, void* to, Int to_ld, Stream stream) { \
    return later({rows, columns, bytes, from, from_ld, to, to_ld, kind}, stream);                            \
  }

LOCKSTEP_TRANSFERS(Set, kHostToDevice, , std::int32_t)
LOCKSTEP_TRANSFERS(Set, kHostToDevice, _64, std::int64_t)
LOCKSTEP_TRANSFERS(Get, kDeviceToHost, , std::int32_t)
LOCKSTEP_TRANSFERS(Get, kDeviceToHost, _64, std::int64_t)

}  // namespace lockstep::libraries::blas
