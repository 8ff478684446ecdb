// Features of sm_75: calls, function tables, local and shared memory, textures, atomics, warp operations, printf.
#include <cstdint>
#include <cstdio>

__constant__ float coefficients[8] = {1.0f, 0.5f, 0.25f, -2.0f};
__device__ double accumulated = 1.5;
__device__ int table[2][3] = {{1, -1, 2}, {-2, 3, -3}};
__device__ int* cursor = &table[1][0];
__managed__ unsigned managed_counter = 7;
extern __shared__ float dynamic_shared[];

struct Pair {
  int a;
  double b;
};

__device__ __noinline__ float scale(float x, int i) { return x * coefficients[i & 7]; }
__device__ __noinline__ float shift(float x, int i) { return x + static_cast<float>(i); }
using Function = float (*)(float, int);
__device__ Function functions[] = {scale, shift};
__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void __launch_bounds__(256, 2) calls(float* out, const float* __restrict__ in, Pair pair, int which) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = functions[which](in[i], i) + static_cast<float>(pair.b) + ackermann(1, i & 3) + *cursor;
  if (i == 0) printf("first %f of %d\n", out[0], pair.a);
}

__global__ void shared_memory(float* out) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = out[threadIdx.y * 16 + threadIdx.x];
  dynamic_shared[threadIdx.x] = tile[threadIdx.y][0];
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y] + dynamic_shared[threadIdx.y];
}

__global__ void warps(unsigned* out, unsigned long long* sums, double* reals) {
  const unsigned lane = threadIdx.x & 31, mask = __ballot_sync(0xffffffffu, lane % 3 == 0);
  unsigned v = __shfl_down_sync(0xffffffffu, lane, 4) + __popc(mask) + __clz(lane) + __brev(lane) + __ffs(lane);
  v += __match_any_sync(0xffffffffu, v) + __byte_perm(v, lane, 0x3210) + __vabsdiffu4(v, lane) + __activemask();
  atomicAdd(&out[lane], v);
  atomicCAS(&out[32], 0u, v);
  atomicMax(&out[33], v);
  atomicAdd(&sums[lane], static_cast<unsigned long long>(clock64()));
  atomicAdd(&reals[0], accumulated);
  atomicAdd_system(&managed_counter, 1u);
  __threadfence_block();
  __threadfence_system();
  if (__any_sync(mask, v > 7)) __nanosleep(20);
  asm volatile("{ .reg .pred q; .reg .b32 t<2>; setp.ne.u32 q, %1, 0; @q mov.u32 t1, 017; @!q mov.u32 t1, 0b11; "
               "add.u32 %0, t1, WARP_SZ; }"
               : "=r"(out[34])
               : "r"(v));
}

__global__ void textures(float4* out, cudaTextureObject_t t, cudaSurfaceObject_t s) {
  float4 a = tex2D<float4>(t, 0.5f, threadIdx.x), b = tex1Dfetch<float4>(t, threadIdx.x);
  float4 c = tex3D<float4>(t, 1.f, 2.f, 3.f), d = tex2DLayered<float4>(t, 1.f, 2.f, 3), e = texCubemap<float4>(t, 1.f, 2.f, 3.f);
  surf2Dwrite(a, s, 16 * threadIdx.x, 3);
  out[threadIdx.x] = make_float4(a.x + b.x, c.y, d.z, e.w);
}

__global__ void local_memory(int* out, int n) {
  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = out[i];
  for (int i = 0; i < n; ++i) values[(i * 7) & 31] += values[(i * 5) & 31];
  int sum = 0;
  for (int i = 0; i < n; ++i) sum ^= values[i & 31];
  switch (n) {
    case 0: sum += 3; break;
    case 1: sum *= 7; break;
    case 2: sum -= 11; break;
    case 3: sum /= 13; break;
    case 4: sum %= 17; break;
    case 5: sum <<= 2; break;
    case 6: sum = ~sum; break;
    default: break;
  }
  out[threadIdx.x] = sum;
}

__global__ void mathematics(float* f, double* d, int* n, uint8_t* bytes) {
  const int i = threadIdx.x;
  f[i] = sinf(f[i]) + expf(f[i]) * rsqrtf(f[i]) / sqrtf(fabsf(f[i])) + __fdividef(f[i], 3.f) + fmaf(f[i], 2.f, 1.f);
  d[i] = exp(d[i]) / sqrt(d[i]) + floor(d[i]) + __dadd_ru(d[i], 1.0) + static_cast<double>(n[i]);
  n[i] = static_cast<int>(d[i]) + __mulhi(n[i], 12345) + min(n[i], 7) * max(n[i], -7) + __float2int_rn(f[i]);
  bytes[i] = static_cast<uint8_t>(f[i]);
}
