// rotg, rotmg (one thread each) and rotm.
#include "libraries/blas/rotation_arguments.hpp"

namespace lockstep::libraries::blas {

template <class T>
__device__ void apply_modified(const ApplyModifiedArguments& g) {
  T h[5];
#pragma unroll
  for (int i = 0; i < 5; ++i)
    h[i] = g.param != nullptr ? static_cast<const T*>(g.param)[i] : static_cast<T>(g.h[i]);
  if (h[0] == -2) return;
  const T h11 = h[0] == 0 ? T(1) : h[1], h22 = h[0] == 0 ? T(1) : h[4];
  const T h21 = h[0] > 0 ? T(-1) : h[2], h12 = h[0] > 0 ? T(1) : h[3];
  T *xs = static_cast<T*>(g.x), *ys = static_cast<T*>(g.y);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < g.n; i += step) {
    T &x = xs[i * g.inc_x], &y = ys[i * g.inc_y];
    const T kept = x;
    x = h11 * kept + h12 * y;
    y = h21 * kept + h22 * y;
  }
}
template <class T>
__device__ void givens(const GivensArguments& g) {
  find_rotation(*static_cast<T*>(g.a), *static_cast<T*>(g.b), *static_cast<T*>(g.c), *static_cast<T*>(g.s));
}
template <class T>
__device__ void complex_givens(const GivensArguments& g) {
  find_complex_rotation(static_cast<T*>(g.a), static_cast<const T*>(g.b), *static_cast<T*>(g.c),
                        static_cast<T*>(g.s));
}

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_ROTATION(name, Arguments, kernel)                                           \
  extern "C" __global__ void __launch_bounds__(256)                                          \
      lockstep_blas_##name(const __grid_constant__ lockstep::libraries::blas::Arguments g) { \
    lockstep::libraries::blas::kernel(g);                                                    \
  }
LOCKSTEP_ROTATION(rotg_f32, GivensArguments, givens<float>)
LOCKSTEP_ROTATION(rotg_f64, GivensArguments, givens<double>)
LOCKSTEP_ROTATION(rotg_c32, GivensArguments, complex_givens<float>)
LOCKSTEP_ROTATION(rotg_c64, GivensArguments, complex_givens<double>)
LOCKSTEP_ROTATION(rotmg_f32, ModifiedGivensArguments, find_modified_rotation<float>)
LOCKSTEP_ROTATION(rotmg_f64, ModifiedGivensArguments, find_modified_rotation<double>)
LOCKSTEP_ROTATION(rotm_f32, ApplyModifiedArguments, apply_modified<float>)
LOCKSTEP_ROTATION(rotm_f64, ApplyModifiedArguments, apply_modified<double>)
