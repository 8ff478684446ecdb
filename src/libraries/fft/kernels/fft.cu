// The kernel that does all of an FFT's work: a CTA reads some lines (one-dimensional transforms) into shared
// memory, transforms them there by Stockham stages and writes them; transforms that do not fit take several
// passes.
#include "butterflies.cuh"
#include "libraries/fft/pass.hpp"

namespace lockstep::libraries::fft {
namespace {

__device__ unsigned quotient(unsigned value, const Divisor& by) {
  return (by.multiplier == 0 ? value : __umulhi(value, by.multiplier)) >> by.shift;
}

/// Where an element of a line is in shared memory: one place in 128 bytes is left out, so that strides of
/// powers of two meet all banks.
template <class T>
__device__ unsigned spread(unsigned element) {
  return element + element / Pass::kSpread<T>;
}

__device__ LinePlace place_of(const Pass& pass, unsigned line) {
  LinePlace place;
  for (unsigned d = 0; d < pass.digits; ++d) {
    const Digit& digit = pass.digit[d];
    const unsigned rest = quotient(line, digit.count);
    const unsigned value = line - rest * digit.count.value;
    place.in += value * digit.in_stride;
    place.out += value * digit.out_stride;
    place.in_index += value * digit.in_index;
    place.out_index += value * digit.out_index;
    place.twiddle += value * digit.twiddle;
    line = rest;
  }
  return place;
}

template <class T>
__device__ Complex<T> read(const Pass& pass, const LinePlace& place, unsigned element) {
  unsigned index = place.in_index + element * pass.in_step;
  if (index >= pass.in_count) return {0, 0};
  Complex<T> value;
  if (pass.in_element == Element::kReal) {
    value = {static_cast<const T*>(pass.in)[place.in + index * pass.in_stride], 0};
  } else {
    const bool mirrored = pass.in_element == Element::kHermitian && index > pass.axis_length / 2;
    const unsigned stored = mirrored ? pass.axis_length - index : index;
    value = static_cast<const Complex<T>*>(pass.in)[place.in + stored * pass.in_stride];
    if (mirrored != pass.conjugate_in) value.y = -value.y;
  }
  if (pass.in_factors) value = times(value, __ldg(static_cast<const Complex<T>*>(pass.in_factors) + index));
  return value;
}

template <class T>
__device__ void write(const Pass& pass, const LinePlace& place, unsigned element, Complex<T> value) {
  const unsigned index = place.out_index + element * pass.out_step;
  if (index >= pass.out_count) return;
  if (pass.twiddles_low) {
    const unsigned exponent = place.twiddle * element;
    value = times(value,
                  __ldg(static_cast<const Complex<T>*>(pass.twiddles_low) + exponent % Pass::kLowTwiddles));
    value = times(value,
                  __ldg(static_cast<const Complex<T>*>(pass.twiddles_high) + exponent / Pass::kLowTwiddles));
  }
  if (pass.out_factors) value = times(value, __ldg(static_cast<const Complex<T>*>(pass.out_factors) + index));
  if (pass.conjugate_out) value.y = -value.y;
  const long long at = place.out + index * pass.out_stride;
  if (pass.out_element == Element::kReal) {
    static_cast<T*>(pass.out)[at] = value.x;
  } else {
    static_cast<Complex<T>*>(pass.out)[at] = value;
  }
}

template <int R, class T>
__device__ void run_stage(const Pass& pass, const Stage& stage, const Complex<T>* from, Complex<T>* to,
                          unsigned lines) {
  const unsigned butterflies = stage.butterflies.value;
  const unsigned span = stage.span.value;
  const auto* roots = static_cast<const Complex<T>*>(pass.roots);
  for (unsigned i = threadIdx.x; i < lines * butterflies; i += blockDim.x) {
    const unsigned line = quotient(i, stage.butterflies);
    const unsigned butterfly = i - line * butterflies;
    const unsigned block = quotient(butterfly, stage.span);
    const unsigned k = butterfly - block * span;
    const Complex<T>* source = from + line * pass.pitch;
    Complex<T> v[R];
#pragma unroll
    for (int t = 0; t < R; ++t) v[t] = source[spread<T>(butterfly + t * butterflies)];
    if (span > 1) {
#pragma unroll
      for (int t = 1; t < R; ++t) v[t] = times(v[t], __ldg(roots + k * t * stage.root_step));
    }
    transform<R, T>(v);
    Complex<T>* target = to + line * pass.pitch;
    const unsigned first = block * span * R + k;
#pragma unroll
    for (int t = 0; t < R; ++t) target[spread<T>(first + t * span)] = v[t];
  }
}

/// `kWide`: also the radices that need many registers.
template <bool kWide, class T>
__device__ void run_any_stage(const Pass& pass, const Stage& stage, const Complex<T>* from, Complex<T>* to,
                              unsigned lines) {
  if constexpr (kWide) {
    if (stage.radix == 11) return run_stage<11, T>(pass, stage, from, to, lines);
    if (stage.radix == 13) return run_stage<13, T>(pass, stage, from, to, lines);
  }
  switch (stage.radix) {
    case 2:
      return run_stage<2, T>(pass, stage, from, to, lines);
    case 3:
      return run_stage<3, T>(pass, stage, from, to, lines);
    case 4:
      return run_stage<4, T>(pass, stage, from, to, lines);
    case 5:
      return run_stage<5, T>(pass, stage, from, to, lines);
    case 7:
      return run_stage<7, T>(pass, stage, from, to, lines);
    default:
      return run_stage<8, T>(pass, stage, from, to, lines);
  }
}

/// Calls `visit(line, element)` for all elements of the CTA's lines, neighbouring threads with neighbouring
/// ones.
template <class Visit>
__device__ void for_each_element(const Pass& pass, bool by_line, unsigned lines, Visit visit) {
  for (unsigned i = threadIdx.x; i < pass.block_lines.value * pass.length.value; i += blockDim.x) {
    const Divisor& inner = by_line ? pass.block_lines : pass.length;
    const unsigned slow = quotient(i, inner);
    const unsigned fast = i - slow * inner.value;
    const unsigned line = by_line ? fast : slow;
    if (line < lines) visit(line, by_line ? slow : fast);
  }
}

template <bool kWide, class T>
__device__ void run_pass(const Pass& pass) {
  extern __shared__ double2 shared_memory[];
  const unsigned most = pass.block_lines.value;
  auto* places = reinterpret_cast<LinePlace*>(shared_memory);
  auto* from = reinterpret_cast<Complex<T>*>(places + most);
  Complex<T>* to = from + most * pass.pitch;
  const unsigned first = blockIdx.x * most;
  const unsigned lines = min(most, pass.lines - first);
  for (unsigned i = threadIdx.x; i < lines; i += blockDim.x) places[i] = place_of(pass, first + i);
  __syncthreads();
  for_each_element(pass, pass.in_by_line, lines, [&](unsigned line, unsigned element) {
    from[line * pass.pitch + spread<T>(element)] = read<T>(pass, places[line], element);
  });
  for (unsigned s = 0; s < pass.stages; ++s) {
    __syncthreads();
    run_any_stage<kWide, T>(pass, pass.stage[s], from, to, lines);
    Complex<T>* const result = to;
    to = from;
    from = result;
  }
  __syncthreads();
  for_each_element(pass, pass.out_by_line, lines, [&](unsigned line, unsigned element) {
    write<T>(pass, places[line], element, from[line * pass.pitch + spread<T>(element)]);
  });
}

}  // namespace
}  // namespace lockstep::libraries::fft

#define LOCKSTEP_FFT_KERNEL(name, wide, type)                            \
  extern "C" __global__ __launch_bounds__(256) void lockstep_fft_##name( \
      const __grid_constant__ lockstep::libraries::fft::Pass pass) {     \
    lockstep::libraries::fft::run_pass<wide, type>(pass);                \
  }
LOCKSTEP_FFT_KERNEL(pass_f, false, float)
LOCKSTEP_FFT_KERNEL(pass_d, false, double)
LOCKSTEP_FFT_KERNEL(wide_pass_f, true, float)
LOCKSTEP_FFT_KERNEL(wide_pass_d, true, double)
