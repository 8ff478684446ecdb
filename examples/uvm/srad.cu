// Regular: speckle-reducing diffusion of a managed image (1024: 4 MB), two kernels an iteration and five arrays that
// are the device's own. Before each iteration the host reads a corner of the image. Usage: srad [n [iterations]]
#include <algorithm>
#include <cmath>
#include <vector>

#include "../check.hpp"

struct Cell {
  float n, s, w, e, c;
};

__host__ __device__ inline Cell cell(const float* image, int n, int x, int y, float q0) {
  const int i = y * n + x;
  const float j = image[i];
  Cell d;
  d.n = image[y > 0 ? i - n : i] - j;
  d.s = image[y < n - 1 ? i + n : i] - j;
  d.w = image[x > 0 ? i - 1 : i] - j;
  d.e = image[x < n - 1 ? i + 1 : i] - j;
  const float g2 = (d.n * d.n + d.s * d.s + d.w * d.w + d.e * d.e) / (j * j);
  const float l = (d.n + d.s + d.w + d.e) / j;
  const float den = 1.0f + 0.25f * l;
  const float q = (0.5f * g2 - 0.0625f * l * l) / (den * den);
  const float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
  d.c = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
  return d;
}

__global__ void gradients(const float* image, float* north, float* south, float* west, float* east, float* c, int n,
                          float q0) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = y * n + x;
  const Cell d = cell(image, n, x, y, q0);
  north[i] = d.n;
  south[i] = d.s;
  west[i] = d.w;
  east[i] = d.e;
  c[i] = d.c;
}

__global__ void diffuse(float* image, const float* north, const float* south, const float* west, const float* east,
                        const float* c, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = y * n + x;
  const float cs = c[y < n - 1 ? i + n : i], ce = c[x < n - 1 ? i + 1 : i];
  image[i] += 0.125f * (c[i] * north[i] + cs * south[i] + c[i] * west[i] + ce * east[i]);
}

/// Variance over the square of the mean of the corner of 128 x 128 points.
static float roughness(const float* image, int n) {
  const int side = std::min(n, 128);
  float sum = 0, squares = 0;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const float v = image[static_cast<std::size_t>(y) * n + x];
      sum += v;
      squares += v * v;
    }
  const float mean = sum / static_cast<float>(side * side);
  return squares / static_cast<float>(side * side) / (mean * mean) - 1.0f;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1024, 16), iterations = argc > 2 ? std::atoi(argv[2]) : 4;
  const std::size_t count = static_cast<std::size_t>(n) * n;
  float *image, *d[4], *c;
  CHECK(cudaMallocManaged(&image, count * sizeof(float)));
  for (float*& p : d) CHECK(cudaMalloc(&p, count * sizeof(float)));
  CHECK(cudaMalloc(&c, count * sizeof(float)));
  Random random;
  for (std::size_t i = 0; i < count; ++i) image[i] = std::exp(static_cast<float>(random() % 256) / 255.0f);
  std::vector<float> expected(image, image + count);
  const dim3 blocks(n / 16, n / 16), threads(16, 16);
  for (int k = 0; k < iterations; ++k) {
    const float q0 = roughness(image, n);
    gradients<<<blocks, threads>>>(image, d[0], d[1], d[2], d[3], c, n, q0);
    diffuse<<<blocks, threads>>>(image, d[0], d[1], d[2], d[3], c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  std::vector<Cell> cells(count);
  for (int k = 0; k < iterations; ++k) {
    const float q0 = roughness(expected.data(), n);
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) cells[static_cast<std::size_t>(y) * n + x] = cell(expected.data(), n, x, y, q0);
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const int i = y * n + x;
        const Cell& m = cells[i];
        const float cs = cells[y < n - 1 ? i + n : i].c, ce = cells[x < n - 1 ? i + 1 : i].c;
        expected[i] += 0.125f * (m.c * m.n + cs * m.s + m.c * m.w + ce * m.e);
      }
  }
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) good = good && std::fabs(image[i] - expected[i]) <= 1e-3f * expected[i];
  return verdict(good);
}
