// Device variables by their host symbols.
#include "cuda/api.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

/// A variable is the device's: `own` is the direction between it and the host.
void check_direction(int kind, int own) {
  require(kind == own || kind == abi::kDeviceToDevice || kind == abi::kDefault,
          Status::kErrorInvalidMemcpyDirection);
}

int to_symbol(const void* symbol, const void* from, std::size_t n, std::size_t offset, int kind,
              abi::Stream stream) {
  return api([&](Runtime& rt) {
    std::byte* to = inside_symbol(rt, symbol, offset, n);
    check_direction(kind, abi::kHostToDevice);
    require(from != nullptr || n == 0);
    auto* source = static_cast<std::byte*>(const_cast<void*>(from));
    if (n > 0) rt.submit(stream, Copy{{to, n, n}, {source, n, n}, n, 1, 1, kind});
  });
}

int from_symbol(void* to, const void* symbol, std::size_t n, std::size_t offset, int kind,
                abi::Stream stream) {
  return api([&](Runtime& rt) {
    std::byte* from = inside_symbol(rt, symbol, offset, n);
    check_direction(kind, abi::kDeviceToHost);
    require(to != nullptr || n == 0);
    if (n > 0) rt.submit(stream, Copy{{static_cast<std::byte*>(to), n, n}, {from, n, n}, n, 1, 1, kind});
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t n, std::size_t offset,
                                     int kind) {
  return to_symbol(symbol, from, n, offset, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyToSymbol_ptds(const void* symbol, const void* from, std::size_t n,
                                          std::size_t offset, int kind) {
  return to_symbol(symbol, from, n, offset, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t n,
                                          std::size_t offset, int kind, abi::Stream s) {
  return to_symbol(symbol, from, n, offset, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from, std::size_t n,
                                               std::size_t offset, int kind, abi::Stream s) {
  return to_symbol(symbol, from, n, offset, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t n, std::size_t offset,
                                       int kind) {
  return from_symbol(to, symbol, n, offset, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyFromSymbol_ptds(void* to, const void* symbol, std::size_t n, std::size_t offset,
                                            int kind) {
  return from_symbol(to, symbol, n, offset, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t n, std::size_t offset,
                                            int kind, abi::Stream s) {
  return from_symbol(to, symbol, n, offset, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol, std::size_t n,
                                                 std::size_t offset, int kind, abi::Stream s) {
  return from_symbol(to, symbol, n, offset, kind, s);
}
LOCKSTEP_CUDA_API cudaGetSymbolAddress(void** address, const void* symbol) {
  return api([&](Runtime& rt) {
    require(address != nullptr);
    *address = reinterpret_cast<void*>(rt.modules.variable(symbol).address);
  });
}
LOCKSTEP_CUDA_API cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api([&](Runtime& rt) {
    require(bytes != nullptr);
    *bytes = rt.modules.variable(symbol).bytes;
  });
}

}  // namespace lockstep::cuda
