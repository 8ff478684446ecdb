// Sobol's quasirandom sequence, on the host and in kernels.
#pragma once

#include <math.h>

#include "libraries/rand/distributions.hpp"

namespace lockstep::libraries::rand {

constexpr Word kWordBits = 32;

/// Point `index` of one dimension, in the order of Gray codes (Antonov and Saleev, 1979).
LOCKSTEP_RAND_BOTH inline Word sobol_point(const Word* directions, Word index) {
  Word point = 0;
  for (Word bits = index ^ (index >> 1), i = 0; bits != 0; bits >>= 1, ++i)
    if ((bits & 1) != 0) point ^= directions[i];
  return point;
}

/// The standard normal number that is not exceeded with probability `p`, up to 1/2.
LOCKSTEP_RAND_BOTH inline double normal_quantile(double p) {
#ifdef __CUDA_ARCH__
  return normcdfinv(p);
#else
  // Abramowitz and Stegun 26.2.23, improved by Halley's method.
  const double t = sqrt(-2 * log(p));
  double x =
      (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int i = 0; i < 3; ++i) {
    const double step = (0.5 * erfc(-x * 0.7071067811865476) - p) * 2.5066282746310002 * exp(0.5 * x * x);
    x -= step / (1 + 0.5 * x * step);
  }
  return x;
#endif
}
LOCKSTEP_RAND_BOTH inline float normal_quantile(float p) {
#ifdef __CUDA_ARCH__
  return normcdfinvf(p);
#else
  return static_cast<float>(normal_quantile(static_cast<double>(p)));
#endif
}

/// From 32 bits; both halves are mirror images, so that the tails have the same precision.
template <class T>
LOCKSTEP_RAND_BOTH T normal_of(Word word) {
  const bool upper = word >= 0x80000000U;
  const T lower = static_cast<T>(upper ? ~word : word) * static_cast<T>(0x1p-32) + static_cast<T>(0x1p-33);
  return upper ? -normal_quantile(lower) : normal_quantile(lower);
}

/// The distributions of quasirandom numbers: one word a value, by inversion.
struct QuasiUniformDouble {
  using Value = double;
  static constexpr int kWords = 1, kValues = 1;
  LOCKSTEP_RAND_BOTH static double of(Word word) { return static_cast<double>(word) * 0x1p-32 + 0x1p-33; }
  LOCKSTEP_RAND_BOTH static void make(const Job&, const Word* words, Value* values) {
    values[0] = of(words[0]);
  }
};
template <class T, bool kExponential>
struct QuasiNormal {
  using Value = T;
  static constexpr int kWords = 1, kValues = 1;
  LOCKSTEP_RAND_BOTH static void make(const Job& job, const Word* words, Value* values) {
    const T value = static_cast<T>(job.mean) + static_cast<T>(job.deviation) * normal_of<T>(words[0]);
    values[0] = kExponential ? static_cast<T>(exp(value)) : value;
  }
};
struct QuasiPoisson {
  using Value = Word;
  static constexpr int kWords = 1, kValues = 1;
  LOCKSTEP_RAND_BOTH static void make(const Job& job, const Word* words, Value* values) {
    values[0] = Poisson::of(job, QuasiUniformDouble::of(words[0]));
  }
};
struct QuasiRoundedNormal {
  using Value = Word;
  static constexpr int kWords = 1, kValues = 1;
  LOCKSTEP_RAND_BOTH static void make(const Job& job, const Word* words, Value* values) {
    values[0] = RoundedNormal::of(job, normal_of<double>(words[0]));
  }
};
using QuasiNormalFloat = QuasiNormal<float, false>;
using QuasiNormalDouble = QuasiNormal<double, false>;
using QuasiLogNormalFloat = QuasiNormal<float, true>;
using QuasiLogNormalDouble = QuasiNormal<double, true>;

/// X(name, distribution), with the names of LOCKSTEP_RAND_DISTRIBUTIONS.
#define LOCKSTEP_RAND_QUASI_DISTRIBUTIONS(X) \
  X(bits, Bits)                              \
  X(uniform, UniformFloat)                   \
  X(uniform_double, QuasiUniformDouble)      \
  X(normal, QuasiNormalFloat)                \
  X(normal_double, QuasiNormalDouble)        \
  X(log_normal, QuasiLogNormalFloat)         \
  X(log_normal_double, QuasiLogNormalDouble) \
  X(poisson, QuasiPoisson)                   \
  X(poisson_normal, QuasiRoundedNormal)

}  // namespace lockstep::libraries::rand
