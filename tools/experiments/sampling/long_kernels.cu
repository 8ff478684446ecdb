// Programs of one long kernel, of 100 to 500 waves of CTAs on a tenth of a V100: 10 SMs. Usage: long_kernels NAME
#include "workloads.cuh"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
constexpr int kThreads = 512, kWave = 40;  // 4 CTAs of 512 threads per SM

/// Memory whose content does not matter: without the time of a copy.
float* floats(std::size_t count) {
  float* pointer;
  CHECK(cudaMalloc(&pointer, count * sizeof(float)));
  return pointer;
}

__global__ void saxpy(const float* x, float* y) { y[INDEX] += 2 * x[INDEX]; }
void streaming() {
  const int n = 500 * kWave * kThreads;
  saxpy<<<n / kThreads, kThreads>>>(floats(n), floats(n));
}

__global__ void gather(const int* index, const float* from, float* to) { to[INDEX] = from[index[INDEX]]; }
void random_gather() {
  const int n = 300 * kWave * kThreads;
  gather<<<n / kThreads, kThreads>>>(random_ints(n, 1 << 20), floats(1 << 20), floats(n));
}

/// The part of the table that is read grows, beyond the L2: the rate falls in the kernel.
void growing_gather() {
  const int n = 400 * kWave * kThreads;
  Random random;
  std::vector<int> index(n);
  for (int i = 0; i < n; ++i) index[i] = static_cast<int>(random.below(1024 + i / 32));
  gather<<<n / kThreads, kThreads>>>(device(index), floats(n), floats(n));
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
void mandelbrot() {
  const int n = 2880;  // 405 waves
  escape<<<n * n / kThreads, kThreads>>>(reinterpret_cast<int*>(floats(n * n)), n);
}

__global__ void five_points(const float* in, float* out, int n) {
  const int i = n + INDEX;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
void stencil_of(int waves) {
  const int n = waves * kWave * kThreads, row = 4096;
  five_points<<<n / kThreads, kThreads>>>(floats(n + 2 * row), floats(n + 2 * row), row);
}

void stencil() { stencil_of(400); }
void short_stencil() { stencil_of(100); }

/// Work that grows with the CTA's number.
__global__ void triangle(float* out) {
  float sum = 0;
  for (unsigned i = 0; i < 1 + blockIdx.x * 12 / gridDim.x; ++i) sum += sqrtf(i + threadIdx.x);
  out[INDEX] = sum;
}
void growing() { triangle<<<400 * kWave, kThreads>>>(floats(400 * kWave * kThreads)); }

/// Two kinds of CTAs, in runs.
__global__ void two_kinds(const float* in, float* out, int run, int n) {
  float sum = in[INDEX];
  if (blockIdx.x / run % 2)
    for (int i = 0; i < 8; ++i) sum = sum * 1.01f + in[(INDEX + (i + 1) * 65536) % n];
  else
    for (int i = 0; i < 24; ++i) sum = sum * 1.01f + i;
  out[INDEX] = sum;
}
void phases() {
  const int ctas = 500 * kWave, n = ctas * kThreads;
  two_kinds<<<ctas, kThreads>>>(floats(n), floats(n), 600, n);
}

__global__ void shared_bins(const int* value, int* bins) {
  __shared__ int mine[256];
  if (threadIdx.x < 256) mine[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&mine[value[INDEX]], 1);
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
void histogram() {
  const int n = 500 * kWave * kThreads;
  shared_bins<<<n / kThreads, kThreads>>>(random_ints(n, 256), reinterpret_cast<int*>(floats(256)));
}

__global__ void global_bins(const int* value, int* bins) { atomicAdd(&bins[value[INDEX]], 1); }
void atomics() {
  const int n = 300 * kWave * kThreads;
  global_bins<<<n / kThreads, kThreads>>>(random_ints(n, 4096), reinterpret_cast<int*>(floats(4096)));
}

__global__ void sum_of_block(const float* in, float* out) {
  __shared__ float part[kThreads];
  part[threadIdx.x] = in[INDEX];
  for (int s = kThreads / 2; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
void reduction() {
  const int n = 500 * kWave * kThreads;
  sum_of_block<<<n / kThreads, kThreads>>>(floats(n), floats(n / kThreads));
}

__global__ void multiply(const float* a, const float* b, float* c, int n, int k) {
  c[place_in_product(n)] = element_of_product(a, b, n, k);
}
void gemm_of(int n, int k) {
  multiply<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(floats(n * k), floats(n * k), floats(n * n), n, k);
}
void gemm() { gemm_of(2560, 32); }  // 320 waves
void short_gemm() { gemm_of(1536, 64); }  // 115 waves

__global__ void transpose_tiles(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8) tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * n + x];
  __syncthreads();
  for (int r = 0; r < 32; r += 8)
    out[(blockIdx.x * 32 + threadIdx.y + r) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + r];
}
void transpose() {
  const int n = 6144;  // 461 waves
  transpose_tiles<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(floats(n * n), floats(n * n), n);
}

/// Rows of 0 to 7 entries, a thread each.
__global__ void row_sums(const int* first, const int* column, const float* x, float* y) {
  float sum = 0;
  for (int e = first[INDEX]; e < first[INDEX + 1]; ++e) sum += 0.5f * x[column[e]];
  y[INDEX] = sum;
}
void spmv() {
  const int n = 300 * kWave * kThreads;
  Random random;
  std::vector<int> first = {0};
  for (int i = 0; i < n; ++i) first.push_back(first.back() + static_cast<int>(random.below(8)));
  std::vector<int> column(first.back());
  for (int i = 0, e = 0; i < n; ++i)
    for (; e < first[i + 1]; ++e) column[e] = (i + static_cast<int>(random.below(4096))) % n;
  row_sums<<<n / kThreads, kThreads>>>(device(first), device(column), floats(n), floats(n));
}

int main(int argc, char** argv) {
  static constexpr Program kTable[] = {
      {"streaming", streaming},   {"gather", random_gather}, {"growing_gather", growing_gather}, {"mandelbrot_long", mandelbrot},
      {"stencil", stencil},       {"growing", growing},      {"phases", phases},                 {"histogram", histogram},
      {"atomics", atomics},       {"reduction", reduction},  {"gemm", gemm},                     {"transpose", transpose},
      {"spmv", spmv},             {"short_stencil", short_stencil}, {"short_gemm", short_gemm},
  };
  return run_program(kTable, argc, argv);
}
