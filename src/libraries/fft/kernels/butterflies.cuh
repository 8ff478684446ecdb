#pragma once

// Discrete Fourier transforms of a few elements in registers, forward (exp(-2 pi i / R)).
namespace lockstep::libraries::fft {

template <class T>
struct Vector2;
template <>
struct Vector2<float> {
  using type = float2;
};
template <>
struct Vector2<double> {
  using type = double2;
};
template <class T>
using Complex = typename Vector2<T>::type;

template <class C>
__device__ C operator+(C a, C b) {
  return {a.x + b.x, a.y + b.y};
}
template <class C>
__device__ C operator-(C a, C b) {
  return {a.x - b.x, a.y - b.y};
}
template <class C>
__device__ C times(C a, C b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// -i a
template <class C>
__device__ C turned(C a) {
  return {a.y, -a.x};
}

template <int R>
struct Roots {
  double cosine[R] = {};
  double sine[R] = {};
};

/// cos and sin of 2 pi k / R: of a small part of the angle by their series, then by doubling.
template <int R>
__host__ __device__ constexpr Roots<R> make_roots() {
  Roots<R> roots;
  for (int k = 0; k < R; ++k) {
    const double angle = 6.283185307179586476925286766559 * (2 * k > R ? k - R : k) / R;
    double term = 1;
    for (int power = 0; power < 40; ++power) {
      const double sign = power / 2 % 2 == 0 ? 1.0 : -1.0;
      (power % 2 == 0 ? roots.cosine : roots.sine)[k] += sign * term;
      term *= angle / (power + 1);
    }
  }
  return roots;
}

/// Odd R: the sums and differences of the elements that mirror each other.
template <int R, class T>
__device__ void transform_odd(Complex<T>* v) {
  constexpr Roots<R> roots = make_roots<R>();
  constexpr int half = R / 2;
  Complex<T> sums[half], differences[half];
  Complex<T> total = v[0];
#pragma unroll
  for (int j = 1; j <= half; ++j) {
    sums[j - 1] = v[j] + v[R - j];
    differences[j - 1] = v[j] - v[R - j];
    total = total + sums[j - 1];
  }
#pragma unroll
  for (int k = 1; k <= half; ++k) {
    Complex<T> even = v[0], odd{0, 0};
#pragma unroll
    for (int j = 1; j <= half; ++j) {
      const T cosine = static_cast<T>(roots.cosine[j * k % R]);
      const T sine = static_cast<T>(roots.sine[j * k % R]);
      even.x += cosine * sums[j - 1].x;
      even.y += cosine * sums[j - 1].y;
      odd.x += sine * differences[j - 1].x;
      odd.y += sine * differences[j - 1].y;
    }
    v[k] = {even.x + odd.y, even.y - odd.x};
    v[R - k] = {even.x - odd.y, even.y + odd.x};
  }
  v[0] = total;
}

template <class C>
__device__ void transform2(C& a, C& b) {
  const C sum = a + b;
  b = a - b;
  a = sum;
}

template <class C>
__device__ void transform4(C& a, C& b, C& c, C& d) {
  transform2(a, c);
  transform2(b, d);
  d = turned(d);
  transform2(a, b);
  transform2(c, d);
  const C second = c;
  c = b;
  b = second;
}

template <class T>
__device__ void transform8(Complex<T>* v) {
  constexpr T half = static_cast<T>(0.70710678118654752440084436210485);
  transform4(v[0], v[2], v[4], v[6]);
  transform4(v[1], v[3], v[5], v[7]);
  v[3] = {half * (v[3].x + v[3].y), half * (v[3].y - v[3].x)};
  v[5] = turned(v[5]);
  v[7] = {half * (v[7].y - v[7].x), -half * (v[7].x + v[7].y)};
#pragma unroll
  for (int k = 0; k < 8; k += 2) transform2(v[k], v[k + 1]);
  const Complex<T> result[8] = {v[0], v[2], v[4], v[6], v[1], v[3], v[5], v[7]};
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = result[k];
}

template <int R, class T>
__device__ void transform(Complex<T>* v) {
  if constexpr (R == 2) {
    transform2(v[0], v[1]);
  } else if constexpr (R == 4) {
    transform4(v[0], v[1], v[2], v[3]);
  } else if constexpr (R == 8) {
    transform8<T>(v);
  } else {
    transform_odd<R, T>(v);
  }
}

}  // namespace lockstep::libraries::fft
