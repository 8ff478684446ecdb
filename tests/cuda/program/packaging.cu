// A kernel behind a C function NAME, in a program or in a shared object. `twice` is in another file, packaging_device.cu, unless
// ALONE is defined.
__device__ int twice(int);
#ifdef ALONE
__device__ int twice(int x) { return 2 * x; }
#endif

__global__ void fill(int* out) { out[threadIdx.x] = twice(static_cast<int>(threadIdx.x)); }

/// 2 * (0 + 1 + ... + 31) = 992; -1 where CUDA fails.
extern "C" __attribute__((visibility("default"))) int NAME() {
  int *device = nullptr, host[32] = {}, sum = 0;
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return -1;
  fill<<<1, 32>>>(device);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return -1;
  cudaFree(device);
  for (const int x : host) sum += x;
  return sum;
}
