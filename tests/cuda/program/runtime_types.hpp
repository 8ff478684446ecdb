// Structures of CUDA 13's runtime API about arrays and copies, without the headers of CUDA.
#pragma once

#include <cstddef>

struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct Copy3D {  // cudaMemcpy3DParms
  void* from_array;
  Position from_at;
  Pitched from;
  void* to_array;
  Position to_at;
  Pitched to;
  Extent extent;
  int kind;
};
struct Format {  // cudaChannelFormatDesc
  int x, y, z, w, kind;
};
