// c = a + b through CUDA's driver API: a host program that needs no CUDA compiler, for machines without CUDA.
// Usage: vector_add PTX [elements]; PTX is ../ptx/vector_add.ptx. Prints PASS or FAIL.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "driver.hpp"

namespace {

std::string read_file(const char* path) {
  std::ifstream file(path);
  if (!file) fail("the PTX file cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

CUdeviceptr upload(const std::vector<float>& data) {
  CUdeviceptr pointer = 0;
  check(cuMemAlloc_v2(&pointer, data.size() * sizeof(float)));
  check(cuMemcpyHtoD_v2(pointer, data.data(), data.size() * sizeof(float)));
  return pointer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) fail("usage: vector_add PTX [elements]");
  int n = argc > 2 ? std::atoi(argv[2]) : 163840;
  if (n <= 0) fail("the number of elements must be positive");
  const std::string ptx = read_file(argv[1]);

  void *context = nullptr, *module = nullptr, *add = nullptr;
  int device = 0;
  check(cuInit(0));
  check(cuDeviceGet(&device, 0));
  check(cuCtxCreate_v2(&context, 0, device));
  check(cuModuleLoadData(&module, ptx.c_str()));
  check(cuModuleGetFunction(&add, module, "_Z3addPKfS0_Pfi"));

  const auto size = static_cast<std::size_t>(n);
  std::vector<float> a(size), b(size), c(size);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * static_cast<float>(i % 1000);
  }
  CUdeviceptr da = upload(a), db = upload(b), dc = upload(c);
  void* parameters[] = {&da, &db, &dc, &n};
  check(cuLaunchKernel(add, (static_cast<unsigned>(n) + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, parameters,
                       nullptr));
  check(cuMemcpyDtoH_v2(c.data(), dc, size * sizeof(float)));
  for (const CUdeviceptr pointer : {da, db, dc}) check(cuMemFree_v2(pointer));
  check(cuCtxDestroy_v2(context));

  for (std::size_t i = 0; i < size; ++i)
    if (c[i] != a[i] + b[i]) fail("a sum is wrong");
  std::puts("PASS");
}
