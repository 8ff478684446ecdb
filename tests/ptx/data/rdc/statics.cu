static __device__ int secret = 7;
template <class T>
__device__ __noinline__ T twice(T x) {
  return x + x;
}
__global__ void second(float* out) { out[0] = twice(out[0]) + secret; }
