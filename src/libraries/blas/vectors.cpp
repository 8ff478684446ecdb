#include "libraries/blas/vectors.hpp"

#include <algorithm>

namespace lockstep::libraries::blas {
namespace {

constexpr unsigned kThreads = 256;

/// As many as keep the device busy, or as there is work for.
unsigned ctas(const Context& context, long long n) {
  constexpr long long kElementsOfThread = 4, kCtasOfMultiprocessor = 4;
  const long long wanted = (n + kThreads * kElementsOfThread - 1) / (kThreads * kElementsOfThread);
  return static_cast<unsigned>(
      std::clamp<long long>(wanted, 1, kCtasOfMultiprocessor * context.multiprocessors));
}

void* first_element(const void* vector, std::int64_t n, std::int64_t inc, std::size_t bytes) {
  auto* const at = static_cast<char*>(const_cast<void*>(vector));
  return inc < 0 && n > 0 ? at + (1 - n) * inc * static_cast<std::int64_t>(bytes) : at;
}

}  // namespace

VectorArguments vectors(const VectorCall& call) {
  VectorArguments v{};
  v.x = first_element(call.x, call.n, call.inc_x, call.x_bytes);
  v.y = first_element(call.y, call.n, call.inc_y, call.y_bytes);
  v.n = std::max<std::int64_t>(0, call.n);
  v.inc_x = call.inc_x;
  v.inc_y = call.inc_y;
  return v;
}

void launch_vector(const Context& context, const std::string& name, const VectorArguments& arguments) {
  if (arguments.n == 0) return;
  kernels_of("vector").launch(("lockstep_blas_" + name).c_str(), {ctas(context, arguments.n)}, {kThreads}, 0,
                              context.stream, arguments);
}

void reduce(const Context& context, const std::string& name, VectorArguments arguments, void* result,
            std::size_t bytes) {
  constexpr std::size_t kPartialBytes = 16;
  require(result != nullptr);
  const unsigned count = ctas(context, arguments.n);
  const Scratch scratch((count + 1) * kPartialBytes, context.stream);
  arguments.partials = static_cast<int>(count);
  arguments.partial = scratch.as<char>() + kPartialBytes;
  arguments.result = context.on_device() ? result : scratch.data();
  Kernels& kernels = kernels_of("reduce");
  const std::string kernel = "lockstep_blas_" + name;
  kernels.launch(kernel.c_str(), {count}, {kThreads}, 0, context.stream, arguments);
  if (count > 1) kernels.launch((kernel + "_end").c_str(), {1}, {kThreads}, 0, context.stream, arguments);
  if (context.on_device()) return;
  check(runtime().cudaMemcpyAsync(result, scratch.data(), bytes, kDeviceToHost, context.stream), "a copy");
  check(runtime().cudaStreamSynchronize(context.stream), "cudaStreamSynchronize");
}

}  // namespace lockstep::libraries::blas
