// What a cuSPARSE handle is, and how the entries use it.
#pragma once

#include <complex>
#include <string>
#include <string_view>

#include "libraries/common/driver.hpp"
#include "libraries/common/handles.hpp"
#include "libraries/common/kernels.hpp"
#include "libraries/sparse/abi.hpp"
#include "libraries/sparse/views.hpp"

namespace lockstep::libraries::sparse {

struct Context {
  Context();
  int device = 0;
  Stream stream = nullptr;
  int pointer_mode = kOnHost;
};

/// Calls `body` with what `handle` is, on its device.
template <class Body>
Status with_context(const void* handle, Body&& body) {
  return guarded(&status_of, [&] {
    Context& context = handles<Context>().get(handle);
    const OnDevice on(context.device);
    body(context);
  });
}

/// PTX of this folder, and its kernels.
[[nodiscard]] std::string_view embedded_ptx(std::string_view file);
[[nodiscard]] Kernels& kernels_of(const std::string& file);

/// Enough CTAs of kThreads for one thread each.
constexpr unsigned kThreads = 256;
[[nodiscard]] Dim3 blocks_for(long long threads);

template <class T>
[[nodiscard]] Scalar<T> scalar_of(const Context& context, const void* pointer) {
  require(pointer != nullptr);
  if (context.pointer_mode == kOnDevice) return {static_cast<const T*>(pointer), T{}};
  return {nullptr, *static_cast<const T*>(pointer)};
}

/// A type of values, as kernels' names end.
template <class T>
struct Type {
  using type = T;
  const char* suffix;

  [[nodiscard]] std::string name(const char* kernel) const {
    return std::string("lockstep_sparse_") + kernel + "_" + suffix;
  }
};

/// Calls `body` with the type of values that `type` stands for; `what` asks for it.
template <class Body>
void with_type(int type, const char* what, Body&& body) {
  switch (type) {
    case kFloat:
      return body(Type<float>{"s"});
    case kDouble:
      return body(Type<double>{"d"});
    case kComplexFloat:
      return body(Type<std::complex<float>>{"c"});
    case kComplexDouble:
      return body(Type<std::complex<double>>{"z"});
    default:
      refuse(std::string(what) + ": values of type " + std::to_string(type));
  }
}

/// Refuses types that differ, `which` names them.
void require_same_types(const char* what, std::initializer_list<int> types);

[[nodiscard]] std::size_t bytes_of(int value_type);

[[nodiscard]] inline bool is_complex(int value_type) {
  return value_type == kComplexFloat || value_type == kComplexDouble;
}
inline void require_operation(int operation) {
  require(operation >= kAsIs && operation <= kConjugateTransposed);
}

}  // namespace lockstep::libraries::sparse
