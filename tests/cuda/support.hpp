// What several tests of this folder share: PTX files, and images built byte by byte.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "paths.hpp"

namespace lockstep::cuda {

inline const std::string kVectorAddPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx/vector_add.ptx";
inline const std::string kMultiGpuPtx =
    std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/multi_gpu.ptx";
inline const std::string kTimingPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/timing.ptx";

using Bytes = std::vector<std::byte>;

/// `value` at a place of the image, which grows as far as it needs to.
template <class T>
void put(Bytes& image, std::size_t at, T value) {
  if (image.size() < at + sizeof value) image.resize(at + sizeof value);
  std::memcpy(image.data() + at, &value, sizeof value);
}

}  // namespace lockstep::cuda
