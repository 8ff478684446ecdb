// Givens' rotations: how they are found, on the host and in kernels, and what kernels apply; read by nvcc,
// too.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define LOCKSTEP_BLAS_BOTH __host__ __device__
#else
#define LOCKSTEP_BLAS_BOTH
#endif

namespace lockstep::libraries::blas {

/// rotg: what it reads and writes. In complex numbers all but c have two parts.
struct GivensArguments {
  void *a, *b, *c, *s;
};
/// rotmg
struct ModifiedGivensArguments {
  void *d1, *d2, *x1;
  const void* y1;
  void* param;
};
/// rotm: the flag and elements of H in device memory, or by value.
struct ApplyModifiedArguments {
  void *x, *y;
  long long n, inc_x, inc_y;
  const void* param;  // nullptr: by value
  double h[5];
};

/// (c s; -s c) (a; b) = (r; 0): a := r, b := z, from which c and s can be found again.
template <class T>
LOCKSTEP_BLAS_BOTH void find_rotation(T& a, T& b, T& c, T& s) {
  const T size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b, scale = size_a + size_b;
  if (scale == 0) {
    c = 1, s = 0, a = 0, b = 0;
    return;
  }
  const T u = a / scale, v = b / scale;
  T r = scale * std::sqrt(u * u + v * v);
  if ((size_a > size_b ? a : b) < 0) r = -r;
  c = a / r, s = b / r;
  b = size_a > size_b ? s : c != 0 ? 1 / c : 1;
  a = r;
}
/// Of complex numbers: (c s; -s' c) (a; b) = (r; 0), with a real c.
template <class T>
LOCKSTEP_BLAS_BOTH void find_complex_rotation(T* a, const T* b, T& c, T* s) {
  const T size_a = std::hypot(a[0], a[1]), size_b = std::hypot(b[0], b[1]);
  if (size_a == 0) {
    c = 0, s[0] = 1, s[1] = 0, a[0] = b[0], a[1] = b[1];
    return;
  }
  const T size = std::hypot(size_a, size_b), re = a[0] / size_a, im = a[1] / size_a;
  c = size_a / size;
  s[0] = (re * b[0] + im * b[1]) / size, s[1] = (im * b[0] - re * b[1]) / size;
  a[0] = re * size, a[1] = im * size;
}

/// H of the modified rotation that makes (sqrt(d1) x1, sqrt(d2) y1) have no second component. param: the
/// flag, h11, h21, h12, h22, of which those are written that the flag does not imply.
template <class T>
struct ModifiedRotation {
  T d1, d2, x1, flag, h11, h21, h12, h22;

  /// One row of H, and what it scales, by powers of two until d is neither large nor small.
  LOCKSTEP_BLAS_BOTH void scale(T& d, T* x, T& first, T& second) {
    constexpr T kFactor = 4096, kLarge = kFactor * kFactor, kSmall = 1 / kLarge;
    while (d != 0 && d - d == 0) {
      const T size = d < 0 ? -d : d;
      if (size > kSmall && size < kLarge) return;
      if (flag == 0) h11 = h22 = 1;
      if (flag > 0) h21 = -1, h12 = 1;
      flag = -1;
      const bool small = size <= kSmall;
      const T by = small ? 1 / kFactor : kFactor;
      d = small ? d * kLarge : d / kLarge;
      if (x != nullptr) *x *= by;
      first *= by, second *= by;
    }
  }
  LOCKSTEP_BLAS_BOTH void clear() {
    flag = -1;
    h11 = h21 = h12 = h22 = d1 = d2 = x1 = 0;
  }
  LOCKSTEP_BLAS_BOTH void find(T y1) {
    h11 = h21 = h12 = h22 = 0;
    if (d1 < 0) return clear();
    const T p2 = d2 * y1, p1 = d1 * x1, q2 = p2 * y1, q1 = p1 * x1;
    if (p2 == 0) {
      flag = -2;
      return;
    }
    if ((q1 < 0 ? -q1 : q1) > (q2 < 0 ? -q2 : q2)) {
      h21 = -y1 / x1, h12 = p2 / p1;
      const T u = 1 - h12 * h21;
      if (!(u > 0)) return clear();
      flag = 0, d1 /= u, d2 /= u, x1 *= u;
    } else {
      if (q2 < 0) return clear();
      flag = 1, h11 = p1 / p2, h22 = x1 / y1;
      const T u = 1 + h11 * h22, kept = d2 / u;
      d2 = d1 / u, d1 = kept, x1 = y1 * u;
    }
    scale(d1, &x1, h11, h12);
    scale(d2, nullptr, h21, h22);
  }
  LOCKSTEP_BLAS_BOTH void write(T* param) const {
    param[0] = flag;
    if (flag == -1 || flag == 1) param[1] = h11, param[4] = h22;
    if (flag == -1 || flag == 0) param[2] = h21, param[3] = h12;
  }
};
template <class T>
LOCKSTEP_BLAS_BOTH void find_modified_rotation(const ModifiedGivensArguments& g) {
  T &d1 = *static_cast<T*>(g.d1), &d2 = *static_cast<T*>(g.d2), &x1 = *static_cast<T*>(g.x1);
  ModifiedRotation<T> rotation{d1, d2, x1, 0, 0, 0, 0, 0};
  rotation.find(*static_cast<const T*>(g.y1));
  d1 = rotation.d1, d2 = rotation.d2, x1 = rotation.x1;
  rotation.write(static_cast<T*>(g.param));
}

}  // namespace lockstep::libraries::blas
