// cudaMemcpy3DBatchAsync of both APIs: copies one after the other, which is one of the orders that are
// allowed.
#include <algorithm>
#include <cstdint>
#include <span>

#include "cuda/array.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// cudaMemcpy3DOperand, CUmemcpy3DOperand.
struct Operand {
  int type;  // 1 pointer, 2 array
  union {
    struct {
      void* address;
      std::size_t row, layer;  // elements of a row, rows of a layer; 0: those of the extent
      abi::MemLocation place;  // a hint
    } pointer;
    struct {
      void* array;
      abi::Pos at;
    } array;
  };
};
static_assert(sizeof(Operand) == 40);
/// cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP.
struct BatchCopy {
  Operand from, to;
  abi::Extent extent;  // elements: of the array's texels where there is one, else bytes
  int access_order;
  unsigned flags;
};
static_assert(sizeof(BatchCopy) == 112);

enum { kPointerOperand = 1, kArrayOperand };

CopyEnd end_of(Runtime& rt, const Operand& operand, const abi::Extent& extent, std::size_t unit) {
  if (operand.type == kArrayOperand) {
    const Array& a = rt.arrays.at(operand.array.array);
    const abi::Pos& at = operand.array.at;
    require(a.texel_bytes == unit && a.has_box(at, extent));
    return a.part(at.x * unit, at.y, at.z);
  }
  require(operand.type == kPointerOperand);
  const auto& p = operand.pointer;
  require(std::max(p.row, extent.width) <= SIZE_MAX / unit);
  const std::size_t row = (p.row != 0 ? p.row : extent.width) * unit;
  const std::size_t layer = p.layer != 0 ? p.layer : extent.height;
  require(row >= extent.width * unit && layer >= extent.height);
  return linear(p.address, row, slice_of(row, layer));
}

Copy copy_of(Runtime& rt, const BatchCopy& c) {
  std::size_t unit = 1;
  for (const Operand* operand : {&c.from, &c.to})
    if (operand->type == kArrayOperand) unit = rt.arrays.at(operand->array.array).texel_bytes;
  require(!is_empty(c.extent.width, c.extent.height, c.extent.depth));
  return {end_of(rt, c.to, c.extent, unit),
          end_of(rt, c.from, c.extent, unit),
          c.extent.width * unit,
          c.extent.height,
          c.extent.depth,
          abi::kDefault};
}

/// All or none of them: each is looked at first.
int copy_batch(std::size_t count, const BatchCopy* copies, unsigned long long flags, abi::Stream stream) {
  return api([&](Runtime& rt) {
    require(count > 0 && copies != nullptr && flags == 0);
    std::vector<Copy> all;
    for (const BatchCopy& copy : std::span(copies, count)) all.push_back(copy_of(rt, copy));
    for (const Copy& copy : all) rt.submit(stream, copy);
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaMemcpy3DBatchAsync(std::size_t count, const BatchCopy* copies, unsigned long long flags,
                                         abi::Stream s) {
  return copy_batch(count, copies, flags, s);
}
LOCKSTEP_CUDA_API cuMemcpy3DBatchAsync_v2(std::size_t count, const void* copies, unsigned long long flags,
                                          void* stream) {
  return driver([&] {
    return copy_batch(count, static_cast<const BatchCopy*>(copies), flags, static_cast<abi::Stream>(stream));
  });
}

}  // namespace lockstep::cuda
