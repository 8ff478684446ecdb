// The distributions, on the host and in kernels: from kWords words a group of kValues values.
#pragma once

#include <math.h>

#include "libraries/rand/generators.hpp"

namespace lockstep::libraries::rand {

/// What is asked for.
struct Job {
  void* out;
  Long count;  // values
  double mean;
  double deviation;
  /// Poisson: the probabilities of at most first, first + 1, ...
  const double* cumulative;
  Word first;
  Word entries;
};

/// Above 0, up to 1.
LOCKSTEP_RAND_BOTH inline float uniform(Word word) { return static_cast<float>(word) * 0x1p-32F + 0x1p-33F; }
LOCKSTEP_RAND_BOTH inline double uniform(Word high, Word low) {
  return static_cast<double>(((Long{high} << 21) ^ (low >> 11)) + 1) * 0x1p-53;
}

/// The sine and the cosine of `turns` full turns.
LOCKSTEP_RAND_BOTH inline void turn(float turns, float& sine, float& cosine) {
#ifdef __CUDA_ARCH__
  sincospif(2 * turns, &sine, &cosine);
#else
  sine = static_cast<float>(sin(6.283185307179586 * static_cast<double>(turns)));
  cosine = static_cast<float>(cos(6.283185307179586 * static_cast<double>(turns)));
#endif
}
LOCKSTEP_RAND_BOTH inline void turn(double turns, double& sine, double& cosine) {
#ifdef __CUDA_ARCH__
  sincospi(2 * turns, &sine, &cosine);
#else
  sine = sin(6.283185307179586 * turns);
  cosine = cos(6.283185307179586 * turns);
#endif
}

/// Box and Muller's pair of independent standard normal numbers.
LOCKSTEP_RAND_BOTH inline void normal_pair(const Word* words, float (&values)[2]) {
  const float radius = sqrtf(-2.0F * logf(uniform(words[0])));
  turn(uniform(words[1]), values[0], values[1]);
  for (float& value : values) value *= radius;
}
LOCKSTEP_RAND_BOTH inline void normal_pair(const Word* words, double (&values)[2]) {
  const double radius = sqrt(-2.0 * log(uniform(words[0], words[1])));
  turn(uniform(words[2], words[3]), values[0], values[1]);
  for (double& value : values) value *= radius;
}

struct Bits {
  using Value = Word;
  static constexpr int kWords = 1, kValues = 1;
  LOCKSTEP_RAND_BOTH static void make(const Job&, const Word* words, Value* values) { values[0] = words[0]; }
};

template <class T>
struct Uniform {
  using Value = T;
  static constexpr int kWords = sizeof(T) / 4, kValues = 1;
  LOCKSTEP_RAND_BOTH static void make(const Job&, const Word* words, Value* values) {
    if constexpr (kWords == 1) {
      values[0] = uniform(words[0]);
    } else {
      values[0] = uniform(words[0], words[1]);
    }
  }
};

template <class T, bool kExponential>
struct Normal {
  using Value = T;
  static constexpr int kWords = sizeof(T) / 2, kValues = 2;
  LOCKSTEP_RAND_BOTH static void make(const Job& job, const Word* words, Value* values) {
    T pair[2];
    normal_pair(words, pair);
    for (int i = 0; i < 2; ++i) {
      const T value = static_cast<T>(job.mean) + static_cast<T>(job.deviation) * pair[i];
      values[i] = kExponential ? static_cast<T>(exp(value)) : value;
    }
  }
};

/// By inversion: the smallest value whose cumulative probability is not below a uniform number.
struct Poisson {
  using Value = Word;
  static constexpr int kWords = 2, kValues = 1;
  LOCKSTEP_RAND_BOTH static Word of(const Job& job, double wanted) {
    Word low = 0, high = job.entries - 1;
    while (low < high) {
      const Word middle = low + (high - low) / 2;
      if (job.cumulative[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return job.first + low;
  }
  LOCKSTEP_RAND_BOTH static void make(const Job& job, const Word* words, Value* values) {
    values[0] = of(job, uniform(words[0], words[1]));
  }
};

/// A normal number, rounded, where the mean is large.
struct RoundedNormal {
  using Value = Word;
  static constexpr int kWords = 4, kValues = 2;
  LOCKSTEP_RAND_BOTH static Word of(const Job& job, double normal) {
    const double value = floor(job.mean + job.deviation * normal + 0.5);
    return value <= 0 ? 0 : value >= 4294967295.0 ? 0xffffffffU : static_cast<Word>(value);
  }
  LOCKSTEP_RAND_BOTH static void make(const Job& job, const Word* words, Value* values) {
    double pair[2];
    normal_pair(words, pair);
    for (int i = 0; i < 2; ++i) values[i] = of(job, pair[i]);
  }
};

using UniformFloat = Uniform<float>;
using UniformDouble = Uniform<double>;
using NormalFloat = Normal<float, false>;
using NormalDouble = Normal<double, false>;
using LogNormalFloat = Normal<float, true>;
using LogNormalDouble = Normal<double, true>;

/// X(name, distribution)
#define LOCKSTEP_RAND_DISTRIBUTIONS(X)  \
  X(bits, Bits)                         \
  X(uniform, UniformFloat)              \
  X(uniform_double, UniformDouble)      \
  X(normal, NormalFloat)                \
  X(normal_double, NormalDouble)        \
  X(log_normal, LogNormalFloat)         \
  X(log_normal_double, LogNormalDouble) \
  X(poisson, Poisson)                   \
  X(poisson_normal, RoundedNormal)

}  // namespace lockstep::libraries::rand
