// What kernels with bulk tensor copies take: a map's bytes, and coordinates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/tensor_map.hpp"

namespace lockstep::exec::test {

/// Where a tile begins.
struct At {
  std::int32_t c[5];
};

struct MapBytes {
  alignas(64) std::byte bytes[kTensorMapBytes];
};

inline MapBytes packed(const TensorMap& map) {
  MapBytes out;
  map.pack(out.bytes);
  return out;
}

}  // namespace lockstep::exec::test
