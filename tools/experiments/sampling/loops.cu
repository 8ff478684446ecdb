// Programs of many launches: the loops of well-known kinds of programs, at small sizes. Usage: loops NAME
#include "workloads.cuh"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void stencil5(const float* in, float* out, const float* power, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, i = y * n + x;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 4 * in[i]) + (power ? 0.1f * power[i] : 0);
}
void iterate_stencil(int n, int steps, bool with_power) {
  float *a = random_floats(n * n), *b = random_floats(n * n, 2), *p = with_power ? random_floats(n * n, 3) : nullptr;
  for (int s = 0; s < steps; ++s, std::swap(a, b))
    stencil5<<<dim3((n + 31) / 32, (n + 3) / 4), dim3(32, 4)>>>(a, b, p, n);
}
void jacobi() { iterate_stencil(192, 1200, false); }
void hotspot() { iterate_stencil(128, 1500, true); }

__global__ void srad_coefficient(const float* j, float* c, int n) {
  const int i = INDEX;
  if (i >= n * n) return;
  const int x = i % n, y = i / n;
  const float v = j[i] + 0.01f, dn = j[y ? i - n : i] - v, ds = j[y < n - 1 ? i + n : i] - v, dw = j[x ? i - 1 : i] - v,
              de = j[x < n - 1 ? i + 1 : i] - v;
  const float g = (dn * dn + ds * ds + dw * dw + de * de) / (v * v), l = (dn + ds + dw + de) / v;
  c[i] = 1 / (1 + (0.5f * g - l * l / 16) / ((1 + l / 4) * (1 + l / 4)));
}
__global__ void srad_update(float* j, const float* c, int n) {
  const int i = INDEX;
  if (i < n * n) j[i] += 0.1f * c[i] * (c[i / n < n - 1 ? i + n : i] - c[i % n < n - 1 ? i + 1 : i]);
}
void srad() {
  const int n = 128;
  float *j = random_floats(n * n), *c = random_floats(n * n, 2);
  for (int s = 0; s < 600; ++s) {
    srad_coefficient<<<blocks(n * n), 128>>>(j, c, n);
    srad_update<<<blocks(n * n), 128>>>(j, c, n);
  }
}

__global__ void fan1(float* m, const float* a, int n, int t) {
  const int i = INDEX;
  if (i < n - 1 - t) m[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / (a[n * t + t] + 2);
}
__global__ void fan2(const float* m, float* a, int n, int t) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n - 1 - t && y < n - t) a[n * (x + 1 + t) + y + t] -= m[n * (x + 1 + t) + t] * a[n * t + y + t];
}
void gaussian() {
  const int n = 560;
  float *m = random_floats(n * n), *a = random_floats(n * n, 2);
  for (int t = 0; t < n - 1; ++t) {
    fan1<<<blocks(n, 256), 256>>>(m, a, n, t);
    const int left = (n - t + 15) / 16;
    fan2<<<dim3(left, left), dim3(16, 16)>>>(m, a, n, t);
  }
}

struct Graph {
  int nodes, *first, *edge;
  static Graph make(int nodes, int degree, bool skewed) {
    Random random;
    std::vector<int> first{0}, edge;
    for (int v = 0; v < nodes; ++v) {
      const int d = skewed ? 1 + static_cast<int>(random.below(2 * degree)) * (random.below(16) ? 1 : 8) / 2 : degree;
      for (int e = 0; e < d; ++e) edge.push_back(static_cast<int>(random.below(nodes)));
      first.push_back(static_cast<int>(edge.size()));
    }
    return {nodes, device(first), device(edge)};
  }
};
__global__ void bfs_level(Graph g, int* level, int depth, int* more) {
  const int v = INDEX;
  if (v >= g.nodes || level[v] != depth) return;
  for (int e = g.first[v]; e < g.first[v + 1]; ++e)
    if (level[g.edge[e]] < 0) level[g.edge[e]] = depth + 1, *more = 1;
}
void bfs() {
  const Graph g = Graph::make(8192, 3, true);
  int *level = random_ints(g.nodes, 1), *more = random_ints(1, 1);
  for (int source = 0; source < 100; ++source) {
    CHECK(cudaMemset(level, 0xff, g.nodes * sizeof(int)));
    CHECK(cudaMemset(level + source * 7, 0, sizeof(int)));
    for (int depth = 0, go = 1; go; ++depth) {
      CHECK(cudaMemset(more, 0, sizeof(int)));
      bfs_level<<<blocks(g.nodes), 128>>>(g, level, depth, more);
      CHECK(cudaMemcpy(&go, more, sizeof go, cudaMemcpyDeviceToHost));
    }
  }
}
__global__ void relax(Graph g, const int* weight, int* distance, int* more) {
  const int v = INDEX;
  if (v >= g.nodes) return;
  for (int e = g.first[v]; e < g.first[v + 1]; ++e)
    if (distance[v] + weight[e] < atomicMin(&distance[g.edge[e]], distance[v] + weight[e])) *more = 1;
}
void sssp() {
  const Graph g = Graph::make(4096, 4, true);
  int *weight = random_ints(200000, 100), *distance = random_ints(g.nodes, 1), *more = random_ints(1, 1);
  for (int source = 0; source < 12; ++source) {
    CHECK(cudaMemset(distance, 0x3f, g.nodes * sizeof(int)));
    CHECK(cudaMemset(distance + source * 7, 0, sizeof(int)));
    for (int round = 0, go = 1; go && round < 30; ++round) {
      CHECK(cudaMemset(more, 0, sizeof(int)));
      relax<<<blocks(g.nodes), 128>>>(g, weight, distance, more);
      CHECK(cudaMemcpy(&go, more, sizeof go, cudaMemcpyDeviceToHost));
    }
  }
}
__global__ void gather_ranks(Graph g, const float* rank, float* next) {
  const int v = INDEX;
  if (v >= g.nodes) return;
  float sum = 0;
  for (int e = g.first[v]; e < g.first[v + 1]; ++e) sum += rank[g.edge[e]];
  next[v] = 0.15f + 0.2f * sum;
}
void pagerank() {
  const Graph g = Graph::make(8192, 6, true);
  float *rank = random_floats(g.nodes), *next = random_floats(g.nodes, 2);
  for (int i = 0; i < 200; ++i, std::swap(rank, next)) gather_ranks<<<blocks(g.nodes), 128>>>(g, rank, next);
}

__global__ void floyd_step(int* d, int n, int k) {
  const int i = INDEX;
  if (i < n * n) d[i] = min(d[i], d[i / n * n + k] + d[k * n + i % n]);
}
void floyd() {
  const int n = 256;
  int* d = random_ints(n * n, 1000);
  for (int k = 0; k < n; ++k) floyd_step<<<blocks(n * n, 256), 256>>>(d, n, k);
}

__global__ void wavefront(int* score, const int* similar, int n, int diagonal) {
  const int block = blockIdx.x, by = diagonal < n / 16 ? block : block + diagonal - n / 16 + 1, bx = diagonal - by;
  const int t = threadIdx.x;
  for (int s = 0; s < 31; ++s) {
    const int x = t, y = s - t;
    if (y >= 0 && y < 16) {
      const int i = (by * 16 + y + 1) * (n + 1) + bx * 16 + x + 1;
      score[i] = max(score[i - n - 2] + similar[i], max(score[i - 1], score[i - n - 1]) - 1);
    }
    __syncwarp();
  }
}
void nw() {
  const int n = 640, tiles = n / 16;
  int *score = random_ints((n + 1) * (n + 1), 2), *similar = random_ints((n + 1) * (n + 1), 10);
  for (int pair = 0; pair < 14; ++pair)
    for (int d = 0; d < 2 * tiles - 1; ++d)
      wavefront<<<d < tiles ? d + 1 : 2 * tiles - 1 - d, 16>>>(score, similar, n, d);
}

__global__ void path_row(const int* wall, const int* in, int* out, int n, int row) {
  const int i = INDEX;
  if (i < n) out[i] = wall[row * n + i] + min(in[i], min(in[i ? i - 1 : 0], in[i < n - 1 ? i + 1 : i]));
}
void pathfinder() {
  const int n = 16384, rows = 64;
  int *wall = random_ints(n * rows, 10), *a = random_ints(n, 10), *b = random_ints(n, 10);
  for (int s = 0; s < 1024; ++s, std::swap(a, b)) path_row<<<blocks(n, 256), 256>>>(wall, a, b, n, s % rows);
}

__global__ void bitonic_step(int* v, int j, int k) {
  const int i = INDEX, other = i ^ j;
  if (other <= i) return;
  const int a = v[i], b = v[other];
  if ((a > b) == ((i & k) == 0)) v[i] = b, v[other] = a;
}
void bitonic() {
  const int n = 1 << 14;
  for (int array = 0; array < 6; ++array) {
    int* v = random_ints(n, 1 << 20, array);
    for (int k = 2; k <= n; k *= 2)
      for (int j = k / 2; j > 0; j /= 2) bitonic_step<<<n / 128, 128>>>(v, j, k);
  }
}

__global__ void spmv(Graph g, const float* value, const float* x, float* y) {
  const int v = INDEX;
  if (v >= g.nodes) return;
  float sum = 4 * x[v];
  for (int e = g.first[v]; e < g.first[v + 1]; ++e) sum += 0.1f * value[e] * x[g.edge[e]];
  y[v] = sum;
}
__global__ void dot(const float* a, const float* b, float* sum, int n) {
  __shared__ float part[128];
  part[threadIdx.x] = INDEX < n ? a[INDEX] * b[INDEX] : 0;
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void axpy(float a, const float* x, float* y, int n) {
  if (INDEX < n) y[INDEX] += a * x[INDEX];
}
void conjugate_gradient() {
  const Graph g = Graph::make(8192, 5, false);
  float *value = random_floats(g.nodes * 5), *x = random_floats(g.nodes), *r = random_floats(g.nodes, 2),
        *p = random_floats(g.nodes, 3), *q = random_floats(g.nodes, 4), *sum = random_floats(1);
  const int b = blocks(g.nodes);
  for (int i = 0; i < 220; ++i) {
    spmv<<<b, 128>>>(g, value, p, q);
    dot<<<b, 128>>>(p, q, sum, g.nodes);
    axpy<<<b, 128>>>(0.01f, p, x, g.nodes);
    axpy<<<b, 128>>>(-0.01f, q, r, g.nodes);
    dot<<<b, 128>>>(r, r, sum, g.nodes);
  }
}

__global__ void assign(const float* point, const float* centre, int* owner, int n, int k) {
  if (INDEX >= n) return;
  float best = 1e30f;
  for (int c = 0; c < k; ++c) {
    float d = 0;
    for (int f = 0; f < 4; ++f) d += (point[f * n + INDEX] - centre[c * 4 + f]) * (point[f * n + INDEX] - centre[c * 4 + f]);
    if (d < best) best = d, owner[INDEX] = c;
  }
}
__global__ void move_centres(const float* point, const int* owner, float* centre, int n) {
  if (INDEX < n) atomicAdd(&centre[owner[INDEX] * 4 + INDEX % 4], 1e-4f * point[INDEX]);
}
void kmeans() {
  const int n = 8192, k = 8;
  float *point = random_floats(4 * n), *centre = random_floats(4 * k, 2);
  int* owner = random_ints(n, k);
  for (int i = 0; i < 160; ++i) {
    assign<<<blocks(n), 128>>>(point, centre, owner, n, k);
    move_centres<<<blocks(n), 128>>>(point, owner, centre, n);
  }
}

void reductions() {
  const int most = 1 << 17;
  float *a = random_floats(most), *sum = random_floats(1);
  Random random;
  for (int i = 0; i < 500; ++i) {
    const int n = 256 << random.below(10);
    dot<<<blocks(n), 128>>>(a, a, sum, n);
  }
}
__global__ void scan_step(const float* in, float* out, int n, int distance) {
  if (INDEX < n) out[INDEX] = in[INDEX] + (INDEX >= distance ? in[INDEX - distance] : 0);
}
void scan() {
  const int n = 1 << 15;
  float *a = random_floats(n), *b = random_floats(n);
  for (int i = 0; i < 30; ++i)
    for (int d = 1; d < n; d *= 2, std::swap(a, b)) scan_step<<<n / 256, 256>>>(a, b, n, d);
}
__global__ void fft_stage(float2* v, int n, int half) {
  if (INDEX >= n / 2) return;
  const int k = INDEX % half, i = INDEX / half * 2 * half + k;
  float s, c;
  __sincosf(-3.14159265f * k / half, &s, &c);
  const float2 a = v[i], b = v[i + half], t = {b.x * c - b.y * s, b.x * s + b.y * c};
  v[i] = {a.x + t.x, a.y + t.y};
  v[i + half] = {a.x - t.x, a.y - t.y};
}
void fft() {
  const int n = 1 << 15;
  auto* v = reinterpret_cast<float2*>(random_floats(2 * n));
  for (int i = 0; i < 30; ++i)
    for (int half = 1; half < n; half *= 2) fft_stage<<<n / 512, 256>>>(v, n, half);
}
__global__ void forces(const float4* body, float4* next, int n) {
  __shared__ float4 tile[128];
  const float4 me = body[INDEX];
  float3 f = {0, 0, 0};
  for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = body[t + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
      const float w = tile[j].w * rsqrtf(x * x + y * y + z * z + 0.01f);
      f.x += w * x, f.y += w * y, f.z += w * z;
    }
    __syncthreads();
  }
  next[INDEX] = {me.x + 1e-5f * f.x, me.y + 1e-5f * f.y, me.z + 1e-5f * f.z, me.w};
}
void nbody() {
  const int n = 512;
  auto *a = reinterpret_cast<float4*>(random_floats(4 * n)), *b = reinterpret_cast<float4*>(random_floats(4 * n));
  for (int i = 0; i < 120; ++i, std::swap(a, b)) forces<<<n / 128, 128>>>(a, b, n);
}
__global__ void gemm(const float* a, const float* b, float* c, int n, int k) {
  c[place_in_product(n)] = fmaxf(element_of_product(a, b, n, k) * 0.01f, 0);
}
void layers() {
  constexpr int kWidth[] = {64, 128, 128, 64, 32, 64};
  float* activation[7];
  for (float*& a : activation) a = random_floats(64 * 128);
  float* weight = random_floats(128 * 128);
  for (int step = 0; step < 60; ++step)
    for (int l = 0; l + 1 < 6; ++l)
      gemm<<<dim3(kWidth[l + 1] / 16, 4), dim3(16, 16)>>>(activation[l], weight, activation[l + 1], kWidth[l + 1],
                                                          kWidth[l]);
}
__global__ void histogram(const int* value, int* bin, int n, int bins) {
  if (INDEX < n) atomicAdd(&bin[value[INDEX] % bins], 1);
}
void histograms() {
  const int n = 1 << 14;
  int *value = random_ints(n, 1 << 16), *bin = random_ints(1 << 16, 1);
  for (int i = 0; i < 400; ++i) histogram<<<blocks(n), 128>>>(value, bin, n, 1 << (4 + i * 7 % 12));
}
__global__ void escape(int* out, int n, float scale) {
  const float cx = -0.75f + scale * (static_cast<int>(INDEX % n) - n / 2) / n, cy = 0.1f + scale * (static_cast<int>(INDEX / n) - n / 2) / n;
  float x = 0, y = 0;
  int i = 0;
  for (; i < 96 && x * x + y * y < 4; ++i) {
    const float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  out[INDEX] = i;
}
void mandelbrot_zoom() {
  const int n = 96;
  int* out = random_ints(n * n, 1);
  float scale = 3;
  for (int frame = 0; frame < 240; ++frame, scale *= 0.98f) escape<<<n * n / 128, 128>>>(out, n, scale);
}
__global__ void lattice(const float* in, float* out, int n) {
  const int i = INDEX, cells = n * n;
  if (i >= cells) return;
  float f[9], rho = 0;
  constexpr int kX[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kY[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  for (int q = 0; q < 9; ++q) {
    const int x = (i % n - kX[q] + n) % n, y = (i / n - kY[q] + n) % n;
    rho += f[q] = in[q * cells + y * n + x];
  }
  for (int q = 0; q < 9; ++q) out[q * cells + i] = 0.9f * f[q] + 0.1f * rho / 9;
}
void lattice_boltzmann() {
  const int n = 96;
  float *a = random_floats(9 * n * n), *b = random_floats(9 * n * n, 2);
  for (int i = 0; i < 200; ++i, std::swap(a, b)) lattice<<<blocks(n * n), 128>>>(a, b, n);
}
__global__ void life_step(const int* in, int* out, int n) {
  const int i = INDEX, x = i % n, y = i / n;
  if (i >= n * n) return;
  int sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += in[(y + dy + n) % n * n + (x + dx + n) % n];
  out[i] = sum == 3 || (in[i] && sum == 4);
}
void life() {
  const int n = 64;
  int *a = random_ints(n * n, 2), *b = random_ints(n * n, 2);
  for (int i = 0; i < 1500; ++i, std::swap(a, b)) life_step<<<blocks(n * n), 128>>>(a, b, n);
}
__global__ void heat3(const float* in, float* out, int n) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y, i = (z * n + y) * n + x;
  if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return;
  out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n] - 6 * in[i]);
}
void heat() {
  const int n = 32;
  float *a = random_floats(n * n * n), *b = random_floats(n * n * n, 2);
  for (int i = 0; i < 300; ++i, std::swap(a, b)) heat3<<<dim3(n, n), n>>>(a, b, n);
}
__global__ void transpose(const float* in, float* out, int n, bool tiled) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8)
    if (tiled) tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * n + x];
    else out[x * n + y + r] = in[(y + r) * n + x];
  if (!tiled) return;
  __syncthreads();
  for (int r = 0; r < 32; r += 8)
    out[(blockIdx.x * 32 + threadIdx.y + r) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + r];
}
void transposes() {
  const int n = 256;
  float *a = random_floats(n * n), *b = random_floats(n * n);
  for (int i = 0; i < 300; ++i) transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, b, n, i % 3 != 0);
}
void random_sizes() {
  const int most = 1 << 16;
  float *x = random_floats(most), *y = random_floats(most, 2);
  Random random;
  for (int i = 0; i < 800; ++i) {
    const int n = 64 + static_cast<int>(random.below(most - 64) >> random.below(6));
    axpy<<<blocks(n), 128>>>(0.5f, x, y, n);
  }
}
__global__ void haar(const float* in, float* out, int half) {
  if (INDEX >= half) return;
  out[INDEX] = in[2 * INDEX] + in[2 * INDEX + 1];
  out[half + INDEX] = in[2 * INDEX] - in[2 * INDEX + 1];
}
void wavelet() {
  const int n = 1 << 16;
  float *a = random_floats(n), *b = random_floats(n);
  for (int i = 0; i < 40; ++i)
    for (int half = n / 2; half > 32; half /= 2, std::swap(a, b)) haar<<<blocks(half), 128>>>(a, b, half);
}
__global__ void walk(unsigned* state, int* hits, int n, int steps) {
  if (INDEX >= n) return;
  unsigned s = state[INDEX];
  int in = 0;
  for (int i = 0; i < steps; ++i) {
    s = s * 1664525u + 1013904223u;
    const float x = (s >> 16) / 65536.0f, y = (s & 0xffff) / 65536.0f;
    in += x * x + y * y < 1;
  }
  state[INDEX] = s;
  atomicAdd(hits, in);
}
void monte_carlo() {
  const int n = 8192;
  int *state = random_ints(n, 1 << 30), *hits = random_ints(1, 1);
  for (int i = 0; i < 200; ++i) walk<<<blocks(n), 128>>>(reinterpret_cast<unsigned*>(state), hits, n, 20 + i % 5);
}

int main(int argc, char** argv) {
  static constexpr Program kTable[] = {
      {"jacobi", jacobi},           {"hotspot", hotspot},       {"srad", srad},
      {"gaussian", gaussian},       {"bfs", bfs},               {"sssp", sssp},
      {"pagerank", pagerank},       {"floyd", floyd},           {"nw", nw},
      {"pathfinder", pathfinder},   {"bitonic", bitonic},       {"cg", conjugate_gradient},
      {"kmeans", kmeans},           {"reductions", reductions}, {"scan", scan},
      {"fft", fft},                 {"nbody", nbody},           {"layers", layers},
      {"histograms", histograms},   {"mandelbrot", mandelbrot_zoom}, {"lattice", lattice_boltzmann},
      {"life", life},               {"heat", heat},             {"transposes", transposes},
      {"random_sizes", random_sizes}, {"wavelet", wavelet},     {"monte_carlo", monte_carlo},
  };
  return run_program(kTable, argc, argv);
}
