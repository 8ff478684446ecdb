// Structures of CUDA 13's driver API that several programs use, without the headers of CUDA; and their
// checks.
#pragma once

#include <cstddef>
#include <cstdio>

using Word = unsigned long long;  // CUdeviceptr

struct Kernel {
  void* function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
  void **arguments = nullptr, **extra = nullptr;
  void *kernel = nullptr, *context = nullptr;
};
struct Fill {
  Word to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct Side {
  std::size_t x = 0, y = 0, z = 0, level = 0;
  int type = 0;
  const void* host = nullptr;
  Word device = 0;
  void *array = nullptr, *reserved = nullptr;
  std::size_t pitch = 0, height = 0;
};
struct DriverCopy {
  Side from, to;
  std::size_t width = 0, height = 1, depth = 1;
};
struct Side2D {
  std::size_t x = 0, y = 0;
  int type = 0;
  const void* host = nullptr;
  Word device = 0;
  void* array = nullptr;
  std::size_t pitch = 0;
};
struct DriverCopy2D {
  Side2D from, to;
  std::size_t width, height;
};
struct HostNode {
  void (*call)(void*);
  void* data;
};

inline int failures = 0;

inline void check(bool fine, const char* what) {
  if (fine) return;
  std::printf("FAIL: %s\n", what);
  ++failures;
}
