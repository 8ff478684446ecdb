// Programs of one long kernel, of more than 60 waves of CTAs on a V100. Usage: long_kernels NAME
#include "workloads.cuh"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
constexpr int kThreads = 512, kCtas = 320 * 64;  // 4 CTAs of 512 threads an SM are a wave of 320

__global__ void saxpy(const float* x, float* y) { y[INDEX] += 2 * x[INDEX]; }
void streaming() { saxpy<<<kCtas, kThreads>>>(random_floats(kCtas * kThreads), random_floats(kCtas * kThreads, 2)); }

__global__ void gather(const int* index, const float* from, float* to) { to[INDEX] = from[index[INDEX]]; }
void random_gather() {
  const int n = kCtas * kThreads / 2;
  gather<<<kCtas / 2, kThreads>>>(random_ints(n, 1 << 22), random_floats(1 << 22), random_floats(n));
}

__global__ void escape(int* out, int n) {
  const float cx = -2 + 3.0f * (INDEX % n) / n, cy = -1.5f + 3.0f * (INDEX / n) / n;
  float x = 0, y = 0;
  int i = 0;
  for (; i < 24 && x * x + y * y < 4; ++i) {
    const float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  out[INDEX] = i;
}
void mandelbrot() { escape<<<kCtas, kThreads>>>(random_ints(kCtas * kThreads, 1), 4096); }

__global__ void stencil(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i > n && i < kCtas * kThreads - n) out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
void big_stencil() {
  stencil<<<kCtas, kThreads>>>(random_floats(kCtas * kThreads), random_floats(kCtas * kThreads, 2), 4096);
}

/// Work that grows with the CTA's number.
__global__ void triangle(float* out) {
  float sum = 0;
  for (unsigned i = 0; i < 1 + blockIdx.x * 24 / gridDim.x; ++i) sum += sqrtf(i + threadIdx.x);
  out[INDEX] = sum;
}
void growing() { triangle<<<kCtas, kThreads>>>(random_floats(kCtas * kThreads)); }

/// Two kinds of CTAs, in runs.
__global__ void phases(const float* in, float* out) {
  float sum = in[INDEX];
  if (blockIdx.x / 1500 % 2)
    for (int i = 0; i < 16; ++i) sum = sum * 1.01f + in[(INDEX + i * 4096) % (kCtas * kThreads)];
  else
    for (int i = 0; i < 16; ++i) sum = sum * 1.01f + i;
  out[INDEX] = sum;
}
void two_phases() { phases<<<kCtas, kThreads>>>(random_floats(kCtas * kThreads), random_floats(kCtas * kThreads)); }

__global__ void histogram(const int* value, int* bins) {
  __shared__ int mine[256];
  if (threadIdx.x < 256) mine[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&mine[value[INDEX]], 1);
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
void shared_histogram() {
  histogram<<<kCtas / 2, kThreads>>>(random_ints(kCtas * kThreads / 2, 256), random_ints(256, 1));
}

__global__ void reduce(const float* in, float* out) {
  __shared__ float part[kThreads];
  part[threadIdx.x] = in[INDEX];
  for (int s = kThreads / 2; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
void reduction() { reduce<<<kCtas, kThreads>>>(random_floats(kCtas * kThreads), random_floats(kCtas)); }

int main(int argc, char** argv) {
  static constexpr Program kTable[] = {
      {"streaming", streaming},     {"gather", random_gather}, {"mandelbrot_long", mandelbrot},
      {"stencil", big_stencil},     {"growing", growing},      {"phases", two_phases},
      {"histogram", shared_histogram}, {"reduction", reduction},
  };
  return run_program(kTable, argc, argv);
}
