// Declarations of batches.cpp.
#pragma once

#include <cstddef>

#include "driver_types.hpp"
#include "runtime_types.hpp"

struct Location {
  int type, id;
};
/// cudaMemcpyAttributes.
struct CopyAttributes {
  int access_order;
  Location from, to;
  unsigned flags;
};
/// cudaMemcpy3DOperand.
struct Operand {
  int type;
  union {
    struct {
      void* address;
      std::size_t row, layer;
      Location place;
    } pointer;
    struct {
      void* array;
      Position at;
    } array;
  };
};
/// cudaMemcpy3DBatchOp.
struct BatchCopy {
  Operand from, to;
  Extent extent;
  int access_order;
  unsigned flags;
};

extern "C" {
int cudaGetSymbolAddress(void**, const void*);
int cudaGetSymbolSize(std::size_t*, const void*);
int cudaMallocArray(void**, const Format*, std::size_t, std::size_t, unsigned);
int cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, void*);
int cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int, void*);
int cudaMemcpyToSymbolAsync(const void*, const void*, std::size_t, std::size_t, int, void*);
int cudaMemcpyFromSymbolAsync(void*, const void*, std::size_t, std::size_t, int, void*);
int cudaMemcpyToArray(void*, std::size_t, std::size_t, const void*, std::size_t, int);
int cudaMemcpyToArrayAsync(void*, std::size_t, std::size_t, const void*, std::size_t, int, void*);
int cudaMemcpyFromArray(void*, void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpyFromArrayAsync(void*, void*, std::size_t, std::size_t, std::size_t, int, void*);
int cudaMemcpyArrayToArray(void*, std::size_t, std::size_t, void*, std::size_t, std::size_t, std::size_t,
                           int);
int cudaMemcpy2DFromArrayAsync(void*, std::size_t, void*, std::size_t, std::size_t, std::size_t, std::size_t,
                               int, void*);
int cudaMemcpyBatchAsync(void* const*, const void* const*, const std::size_t*, std::size_t,
                         const CopyAttributes*, const std::size_t*, std::size_t, void*);
int cudaMemcpy3DBatchAsync(std::size_t, const BatchCopy*, unsigned long long, void*);
int cuMemcpyAsync(Word, Word, std::size_t, void*);
int cuMemcpyHtoDAsync_v2(Word, const void*, std::size_t, void*);
int cuMemcpyDtoHAsync_v2(void*, Word, std::size_t, void*);
int cuMemcpyDtoDAsync_v2(Word, Word, std::size_t, void*);
int cuMemcpyAtoA_v2(void*, std::size_t, void*, std::size_t, std::size_t);
int cuMemcpyAtoD_v2(Word, void*, std::size_t, std::size_t);
int cuMemcpyDtoA_v2(void*, std::size_t, Word, std::size_t);
int cuMemcpyAtoH_v2(void*, void*, std::size_t, std::size_t);
int cuMemcpyAtoHAsync_v2(void*, void*, std::size_t, std::size_t, void*);
int cuMemcpyHtoAAsync_v2(void*, std::size_t, const void*, std::size_t, void*);
int cuMemcpyBatchAsync_v2(void**, void**, const std::size_t*, std::size_t, const CopyAttributes*,
                          const std::size_t*, std::size_t, void*);
int cuMemcpy3DBatchAsync_v2(std::size_t, const BatchCopy*, unsigned long long, void*);
}
