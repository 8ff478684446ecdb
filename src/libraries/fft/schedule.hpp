// From a transform of any length and layout to the passes that do it. No launches here.
#pragma once

#include <cstddef>
#include <vector>

#include "libraries/fft/pass.hpp"

namespace lockstep::libraries::fft {

enum class Kind { kComplex, kRealToComplex, kComplexToReal };

/// Distances in elements of what is there (real or complex), by dimension; the last dimension is the
/// innermost.
struct Layout {
  static constexpr int kDimensions = 4;
  long long stride[kDimensions] = {};  // batch, then the three axes
};

struct Problem {
  Kind kind = Kind::kComplex;
  bool twice = false;  // double precision
  long long size[Layout::kDimensions] = {1, 1, 1,
                                         1};  // batch, then the three axes; those that are not there are 1
  Layout in, out;
};

enum class Factors { kRoots, kLowTwiddles, kHighTwiddles, kChirp, kSpectrum, kFinalChirp };

/// A table in device memory: `of` is the transform's length; `padded` that of the convolution by which it is
/// done, where it has large prime factors (Bluestein).
struct Table {
  Factors factors = Factors::kRoots;
  unsigned of = 0;
  unsigned padded = 0;
  bool operator<(const Table& other) const;
};

enum class Place { kInput, kOutput, kWork0, kWork1 };

struct Step {
  Pass pass;  // without its addresses
  Place from = Place::kInput;
  Place to = Place::kOutput;
  Table roots, in_factors, out_factors, low_twiddles, high_twiddles;  // `of` is 0 where there are none
  bool begins_axis = false;  // an inverse transform turns over conjugate_in here ...
  bool ends_axis = false;    // ... and conjugate_out here
  bool wide = false;         // has stages of a radix of 11 or 13
  unsigned threads = 0;
  unsigned blocks = 0;
  unsigned shared_bytes = 0;
};

struct Schedule {
  std::vector<Step> steps;
  std::size_t work_elements = 0;  // complex ones, of each of the two work areas
  int work_areas = 0;
};

/// `through_work`: where result and input are the same memory with different layouts. Throws Error where the
/// problem is too large (kNotSupported).
[[nodiscard]] Schedule make_schedule(const Problem& problem, bool through_work);

/// The table's values, real and imaginary parts in turn.
[[nodiscard]] std::vector<double> make_table(const Table& table);

[[nodiscard]] Divisor divisor(unsigned value);

}  // namespace lockstep::libraries::fft
