#pragma once

// The discrete Fourier transform by its definition, one axis after the other.
#include <algorithm>
#include <complex>

#include "fft_case.hpp"

using Value = std::complex<double>;

/// `values` is [batch][n0][n1][n2].
inline void transform_axis(std::vector<Value>& values, int length, std::size_t stride, int sign) {
  const auto count = static_cast<std::size_t>(length);
  std::vector<Value> roots(count), line(count);
  for (std::size_t k = 0; k < count; ++k) {
    const long double angle = sign * 6.283185307179586476925286766559L * static_cast<long double>(k) / length;
    roots[k] = {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
  }
  for (std::size_t first = 0; first < values.size(); ++first) {
    if (first / stride % count != 0) continue;
    for (std::size_t j = 0; j < count; ++j) line[j] = values[first + j * stride];
    for (std::size_t k = 0; k < count; ++k) {
      Value sum = 0;
      for (std::size_t j = 0, turn = 0; j < count; ++j) {
        sum += line[j] * roots[turn];
        turn += k;
        if (turn >= count) turn -= count;
      }
      values[first + k * stride] = sum;
    }
  }
}

inline void transform(const Case& c, std::vector<Value>& values, int sign) {
  std::size_t stride = 1;
  for (int d = c.rank - 1; d >= 0; --d) {
    transform_axis(values, c.n[d], stride, sign);
    stride *= static_cast<std::size_t>(c.n[d]);
  }
}

struct Signal {
  std::vector<Value> in, out;
};

inline Signal random_signal(const Case& c, Random& random) {
  Signal signal;
  const auto count = static_cast<std::size_t>(c.points()) * static_cast<std::size_t>(c.batch);
  for (std::size_t i = 0; i < count; ++i)
    signal.in.emplace_back(random.unit(), c.real() ? 0.0 : random.unit());
  signal.out = signal.in;
  transform(c, signal.out, c.kind == Kind::kInverse ? 1 : -1);
  if (c.kind != Kind::kComplexToReal) return signal;
  std::swap(signal.in, signal.out);
  for (Value& value : signal.out) value *= c.points();
  return signal;
}

/// Calls visit(index in [batch][n0][n1][n2], element in the layout) for all that is stored.
template <class Visit>
void for_each_stored(const Case& c, const Places& places, bool complex_side, Visit visit) {
  int n[3] = {1, 1, 1}, extent[3] = {1, 1, 1}, embed[3] = {1, 1, 1};
  for (int d = 0; d < c.rank; ++d) {
    n[3 - c.rank + d] = c.n[d];
    extent[3 - c.rank + d] = c.extent(d, complex_side);
    embed[3 - c.rank + d] = places.embed[d];
  }
  for (int b = 0; b < c.batch; ++b)
    for (int i = 0; i < extent[0]; ++i)
      for (int j = 0; j < extent[1]; ++j)
        for (int k = 0; k < extent[2]; ++k)
          visit(static_cast<std::size_t>(((b * n[0] + i) * n[1] + j) * n[2] + k),
                static_cast<std::size_t>(b * places.distance +
                                         ((i * embed[1] + j) * embed[2] + k) * places.stride));
}

template <class T>
std::vector<T> laid_out(const Case& c, const Places& places, const std::vector<Value>& values, bool complex) {
  std::size_t parts = c.parts(places, complex);
  if (c.in_place) parts = std::max(parts, c.parts(c.out, c.complex_out()));
  std::vector<T> memory(parts, T{7});
  for_each_stored(c, places, complex, [&](std::size_t value, std::size_t at) {
    memory[complex ? 2 * at : at] = static_cast<T>(values[value].real());
    if (complex) memory[2 * at + 1] = static_cast<T>(values[value].imag());
  });
  return memory;
}

struct Difference {
  double largest = 0;  // of the values' root mean square
  bool stray = false;  // something was written that is no part of the result
};

template <class T>
Difference compare(const Case& c, const Signal& signal, const std::vector<T>& result,
                   const std::vector<T>& before) {
  Difference difference;
  double squares = 0;
  for (const Value& value : signal.out) squares += std::norm(value);
  const double scale = std::sqrt(squares / static_cast<double>(signal.out.size()));
  const bool complex = c.complex_out();
  std::vector<bool> own(result.size());
  for_each_stored(c, c.out, complex, [&](std::size_t value, std::size_t at) {
    const std::size_t first = complex ? 2 * at : at;
    const Value got(result[first], complex ? result[first + 1] : signal.out[value].imag());
    own[first] = own[complex ? first + 1 : first] = true;
    const double off = std::abs(got - signal.out[value]) / (scale > 0 ? scale : 1);
    if (!(off <= difference.largest)) difference.largest = off;
  });
  if (c.in_place) return difference;  // the layouts may share what one of them leaves out
  for (std::size_t i = 0; i < result.size(); ++i) difference.stray |= !own[i] && result[i] != before[i];
  return difference;
}
