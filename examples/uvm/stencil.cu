// Regular: steps of heat on a square plate, three managed arrays (1024: 12 MB), two steps per launch in the
// manner of a pyramid: a block of 16 x 16 threads finishes the inner 12 x 12 points. Usage: stencil [n [launches]]
#include <cstring>
#include <utility>
#include <vector>

#include "../check.hpp"

constexpr int kBlock = 16, kSteps = 2, kInner = kBlock - 2 * kSteps;

__host__ __device__ inline float next(float t, float up, float down, float left, float right, float power) {
  return t + 0.125f * (((up + down) + (left + right)) - 4.0f * t) + power;
}

__global__ void heat(const float* power, const float* from, float* to, int n) {
  __shared__ float t[kBlock][kBlock], t2[kBlock][kBlock];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kInner - kSteps + tx, y = static_cast<int>(blockIdx.y) * kInner - kSteps + ty;
  const bool inside = x >= 0 && y >= 0 && x < n && y < n;
  float p = 0;
  t[ty][tx] = 0;
  if (inside) {
    t[ty][tx] = from[y * n + x];
    p = power[y * n + x];
  }
  __syncthreads();
  const int up = y > 0 ? ty - 1 : ty, down = y < n - 1 ? ty + 1 : ty;
  const int left = x > 0 ? tx - 1 : tx, right = x < n - 1 ? tx + 1 : tx;
  const bool first = inside && tx >= 1 && ty >= 1 && tx < kBlock - 1 && ty < kBlock - 1;
  if (first) t2[ty][tx] = next(t[ty][tx], t[up][tx], t[down][tx], t[ty][left], t[ty][right], p);
  __syncthreads();
  const bool second = inside && tx >= 2 && ty >= 2 && tx < kBlock - 2 && ty < kBlock - 2;
  if (second) to[y * n + x] = next(t2[ty][tx], t2[up][tx], t2[down][tx], t2[ty][left], t2[ty][right], p);
}

static void step(const std::vector<float>& power, const std::vector<float>& from, std::vector<float>& to, int n) {
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int i = y * n + x;
      to[i] = next(from[i], from[y > 0 ? i - n : i], from[y < n - 1 ? i + n : i], from[x > 0 ? i - 1 : i],
                   from[x < n - 1 ? i + 1 : i], power[i]);
    }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1024, 1), launches = argc > 2 ? std::atoi(argv[2]) : 4;
  const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
  float *power, *a, *b;
  CHECK(cudaMallocManaged(&a, bytes));
  CHECK(cudaMallocManaged(&b, bytes));
  CHECK(cudaMallocManaged(&power, bytes));
  Random random;
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(random() % 4096);
    power[i] = static_cast<float>(random() % 16);
  }
  std::vector<float> p(power, power + count), field(a, a + count), other(count);
  const dim3 blocks((n + kInner - 1) / kInner, (n + kInner - 1) / kInner), threads(kBlock, kBlock);
  for (int l = 0; l < launches; ++l) {
    heat<<<blocks, threads>>>(power, a, b, n);
    std::swap(a, b);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int s = 0; s < launches * kSteps; ++s) {
    step(p, field, other, n);
    std::swap(field, other);
  }
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    const float error = std::fabs(a[i] - field[i]);  // fused or not
    good = good && error <= 1e-3f * std::fabs(field[i]) + 1e-3f;
  }
  return verdict(good);
}
