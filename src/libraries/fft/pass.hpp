#pragma once

/// One launch of the FFT kernel: what the host (schedule.cpp) and the kernel (kernels.cu) agree on.
namespace lockstep::libraries::fft {

/// Division of numbers below 2^31 by `value` with a multiplication (see divisor()).
struct Divisor {
  unsigned value = 1;
  unsigned multiplier = 0;  // 0: the value is a power of two
  unsigned shift = 0;
};

enum class Element : unsigned {
  kComplex,
  kReal,       // read with an imaginary part of zero; of what is written only the real part
  kHermitian,  // read only: the elements above the middle are the conjugates of those below
};

/// One digit of a line's number, the fastest first. The lines of a pass are all one-dimensional transforms
/// that it does.
struct Digit {
  Divisor count;
  unsigned in_index = 0;    // what the digit adds to the index along the axis ...
  unsigned out_index = 0;   // ... and to that of the result
  unsigned twiddle = 0;     // 1: the digit is the factor of the twiddles' exponent
  long long in_stride = 0;  // what it adds to the address, in elements
  long long out_stride = 0;
};

/// A Stockham stage: `butterflies` of `radix` elements each, over transforms of `span` elements that are
/// done.
struct Stage {
  unsigned radix = 2;
  unsigned root_step = 1;
  Divisor butterflies;
  Divisor span;
};

struct Pass {
  static constexpr unsigned kDigits = 5;
  static constexpr unsigned kStages = 12;
  /// Twiddles of exponent e are low[e % kLowTwiddles] * high[e / kLowTwiddles].
  static constexpr unsigned kLowTwiddles = 1024;
  /// In shared memory a place is left out after these elements: 128 bytes of complex numbers of T.
  template <class T>
  static constexpr unsigned kSpread = 128 / (2 * sizeof(T));

  Divisor length;       // of each transform
  Divisor block_lines;  // lines of a CTA
  unsigned pitch = 0;   // of a line in shared memory
  unsigned lines = 0;
  unsigned digits = 0;
  unsigned stages = 0;
  Element in_element = Element::kComplex;
  Element out_element = Element::kComplex;
  unsigned axis_length = 0;  // of the whole axis, for Hermitian input
  unsigned in_count = 0;     // elements of the axis from here on are read as zero
  unsigned out_count = 0;    // and are not written
  unsigned in_step = 0;      // from one element of a line to the next, in indices along the axis
  unsigned out_step = 0;
  long long in_stride = 0;  // from one index along the axis to the next, in elements
  long long out_stride = 0;
  bool conjugate_in = false;
  bool conjugate_out = false;
  bool in_by_line = false;  // neighbouring threads read neighbouring lines rather than neighbouring elements
  bool out_by_line = false;
  const void* in = nullptr;
  void* out = nullptr;
  const void* roots = nullptr;       // exp(-2 pi i k / length)
  const void* in_factors = nullptr;  // by index along the axis, or null
  const void* out_factors = nullptr;
  const void* twiddles_low = nullptr;  // or null
  const void* twiddles_high = nullptr;
  Digit digit[kDigits];
  Stage stage[kStages];
};

/// Where a line lies; kept in shared memory before the elements.
struct LinePlace {
  long long in = 0;
  long long out = 0;
  unsigned in_index = 0;
  unsigned out_index = 0;
  unsigned twiddle = 0;
  unsigned unused = 0;
};

}  // namespace lockstep::libraries::fft
