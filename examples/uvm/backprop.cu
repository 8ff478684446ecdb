// Streaming with a reduction, like the training step of a neural network's layer: partial sums of input times
// weight over blocks of 16 inputs and 16 hidden units, which also lets the weights decay, then, after the host has
// waited, an update of all of them (131056 inputs: 18 MB managed). Usage: backprop [inputs]
#include <vector>

#include "../check.hpp"

constexpr int kHidden = 16, kRow = kHidden + 1;

__global__ void forward(const float* input, float* weights, float* sums) {
  __shared__ float node[16], product[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * 16 + ty + 1;
  if (tx == 0) node[ty] = input[row];
  __syncthreads();
  const float weight = 0.5f * weights[row * kRow + tx + 1];
  product[ty][tx] = weight * node[ty];
  weights[row * kRow + tx + 1] = weight;
  for (int half = 8; half > 0; half /= 2) {
    __syncthreads();
    if (ty < half) product[ty][tx] += product[ty + half][tx];
  }
  if (ty == 0) sums[blockIdx.x * kHidden + tx] = product[0][tx];
}

__global__ void adjust(const float* delta, const float* input, float* weights, float* before) {
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * 16 + ty + 1, i = row * kRow + tx + 1;
  const float change = 0.25f * delta[tx + 1] * input[row] + 0.25f * before[i];
  weights[i] += change;
  before[i] = change;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 131056, 16);
  const std::size_t cells = static_cast<std::size_t>(n + 1) * kRow;
  float *input, *weights, *sums, *delta, *before;
  CHECK(cudaMallocManaged(&input, (n + 1) * sizeof(float)));
  CHECK(cudaMallocManaged(&weights, cells * sizeof(float)));
  CHECK(cudaMallocManaged(&sums, n / 16 * kHidden * sizeof(float)));
  CHECK(cudaMallocManaged(&delta, kRow * sizeof(float)));
  CHECK(cudaMallocManaged(&before, cells * sizeof(float)));
  Random random;
  for (int i = 0; i <= n; ++i) input[i] = static_cast<float>(random() % 8);
  for (std::size_t i = 0; i < cells; ++i) {  // small whole numbers: sums are exact in any order
    weights[i] = static_cast<float>(random() % 8);
    before[i] = static_cast<float>(random() % 8 * 4);
  }
  for (int i = 0; i < kRow; ++i) delta[i] = static_cast<float>(4 * i);
  std::vector<float> w(weights, weights + cells), old(before, before + cells);
  const dim3 threads(16, 16);
  forward<<<n / 16, threads>>>(input, weights, sums);
  CHECK(cudaDeviceSynchronize());
  adjust<<<n / 16, threads>>>(delta, input, weights, before);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  bool good = true;
  for (int row = 1; row <= n; ++row)
    for (int j = 1; j < kRow; ++j) {
      const std::size_t i = static_cast<std::size_t>(row) * kRow + j;
      good = good && weights[i] == 0.5f * w[i] + (0.25f * delta[j] * input[row] + 0.25f * old[i]);
    }
  for (int b = 0; b < n / 16; ++b)
    for (int j = 1; j < kRow; ++j) {
      float sum = 0;
      for (int r = 1; r <= 16; ++r) sum += 0.5f * w[static_cast<std::size_t>(b * 16 + r) * kRow + j] * input[b * 16 + r];
      good = good && sums[b * kHidden + j - 1] == sum;
    }
  return verdict(good);
}
