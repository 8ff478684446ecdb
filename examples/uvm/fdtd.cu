// Regular: waves in the plane by finite differences in time, three managed fields and the wave that is driven
// in (1200: 18 MB), three kernels a step. Usage: fdtd [n [steps]]
#include <vector>

#include "../check.hpp"

// ex has n rows of n + 1 values, ey n + 1 rows of n, hz n rows of n.
struct Fields {
  float *ex, *ey, *hz;
  int n;
};

__host__ __device__ inline void step_ey(const Fields& f, float driven, int x, int y) {
  const int i = y * f.n + x;
  f.ey[i] = y == 0 ? driven : f.ey[i] - 0.5f * (f.hz[i] - f.hz[i - f.n]);
}

__host__ __device__ inline void step_ex(const Fields& f, int x, int y) {
  const int i = y * f.n + x, e = i + y;
  if (x > 0) f.ex[e] -= 0.5f * (f.hz[i] - f.hz[i - 1]);
}

__host__ __device__ inline void step_hz(const Fields& f, int x, int y) {
  const int i = y * f.n + x, e = i + y;
  f.hz[i] -= 0.7f * ((f.ex[e + 1] - f.ex[e]) + (f.ey[i + f.n] - f.ey[i]));
}

__global__ void electric_y(const float* driven, float* ex, float* ey, float* hz, int n, int t) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) step_ey({ex, ey, hz, n}, y == 0 ? driven[t] : 0.0f, x, y);
}

__global__ void electric_x(float* ex, float* ey, float* hz, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) step_ex({ex, ey, hz, n}, x, y);
}

__global__ void magnetic(float* ex, float* ey, float* hz, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) step_hz({ex, ey, hz, n}, x, y);
}

static void step(const Fields& f, float driven) {
  for (int y = 0; y < f.n; ++y)
    for (int x = 0; x < f.n; ++x) step_ey(f, driven, x, y);
  for (int y = 0; y < f.n; ++y)
    for (int x = 0; x < f.n; ++x) step_ex(f, x, y);
  for (int y = 0; y < f.n; ++y)
    for (int x = 0; x < f.n; ++x) step_hz(f, x, y);
}

static bool close(const float* found, const std::vector<float>& expected) {
  bool good = true;
  for (std::size_t i = 0; i < expected.size(); ++i)  // fused or not
    good = good && std::fabs(found[i] - expected[i]) <= 1e-3f * std::fabs(expected[i]) + 1e-3f;
  return good;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1200, 1), steps = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::size_t wide = static_cast<std::size_t>(n) * (n + 1), count = static_cast<std::size_t>(n) * n;
  float* driven;
  Fields f{nullptr, nullptr, nullptr, n};
  CHECK(cudaMallocManaged(&driven, static_cast<std::size_t>(steps) * sizeof(float)));
  CHECK(cudaMallocManaged(&f.ex, wide * sizeof(float)));
  CHECK(cudaMallocManaged(&f.ey, wide * sizeof(float)));
  CHECK(cudaMallocManaged(&f.hz, count * sizeof(float)));
  Random random;
  for (int t = 0; t < steps; ++t) driven[t] = static_cast<float>(t);
  for (std::size_t i = 0; i < wide; ++i) {
    f.ex[i] = static_cast<float>(random() % 16);
    f.ey[i] = static_cast<float>(random() % 16);
  }
  for (std::size_t i = 0; i < count; ++i) f.hz[i] = static_cast<float>(random() % 16);
  std::vector<float> ex(f.ex, f.ex + wide), ey(f.ey, f.ey + wide), hz(f.hz, f.hz + count);
  const dim3 threads(32, 8), blocks((n + 31) / 32, (n + 7) / 8);
  for (int t = 0; t < steps; ++t) {
    electric_y<<<blocks, threads>>>(driven, f.ex, f.ey, f.hz, n, t);
    electric_x<<<blocks, threads>>>(f.ex, f.ey, f.hz, n);
    magnetic<<<blocks, threads>>>(f.ex, f.ey, f.hz, n);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int t = 0; t < steps; ++t) step({ex.data(), ey.data(), hz.data(), n}, static_cast<float>(t));
  return verdict(close(f.ex, ex) && close(f.ey, ey) && close(f.hz, hz));
}
