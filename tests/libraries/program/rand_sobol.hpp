#pragma once

// Sobol's sequence by the properties that it was published with, and its distributions by their definitions.
#include <algorithm>
#include <cmath>

#include "rand_support.hpp"

constexpr unsigned kSobolDimensions = 40;  // docs/libraries.md

struct Sobol {
  curandGenerator_t handle = nullptr;
  bool host;

  explicit Sobol(unsigned dimensions, unsigned long long offset = 0, bool on_host = false) : host(on_host) {
    const auto type = CURAND_RNG_QUASI_SOBOL32;
    expect((host ? curandCreateGeneratorHost(&handle, type) : curandCreateGenerator(&handle, type)) ==
               CURAND_STATUS_SUCCESS,
           "a quasirandom generator is made");
    expect(curandSetQuasiRandomGeneratorDimensions(handle, dimensions) == CURAND_STATUS_SUCCESS,
           "dimensions");
    expect(curandSetGeneratorOffset(handle, offset) == CURAND_STATUS_SUCCESS, "an offset");
  }
  ~Sobol() { expect(curandDestroyGenerator(handle) == CURAND_STATUS_SUCCESS, "a generator is destroyed"); }
  Sobol(const Sobol&) = delete;
  Sobol& operator=(const Sobol&) = delete;

  std::vector<unsigned> words(std::size_t count) {
    return generated<unsigned>(handle, host, count, curandGenerate);
  }
};

/// Three dimensions of the first points, as Joe and Kuo print them.
inline void check_published_points() {
  constexpr std::size_t kPoints = 10;
  const double published[3][kPoints] = {{0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125, 0.1875, 0.6875},
                                        {0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625, 0.3125, 0.8125},
                                        {0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375, 0.9375, 0.4375}};
  const auto words = Sobol(3).words(3 * kPoints);
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t i = 0; i < kPoints; ++i)
      expect(std::ldexp(static_cast<double>(words[d * kPoints + i]), -32) == published[d][i],
             "published points");
}

/// Dimension 1: the digits of the index' Gray code the other way round.
inline void check_van_der_corput() {
  const auto words = Sobol(1).words(5000);
  bool same = true;
  for (unsigned i = 0; i < words.size(); ++i) {
    unsigned mirrored = 0;
    for (unsigned bit = 0; bit < 32; ++bit) mirrored |= ((i ^ i >> 1) >> bit & 1U) << (31 - bit);
    same = same && words[i] == mirrored;
  }
  expect(same, "van der Corput's sequence");
}

/// In each dimension, of 2^k points in a row that begin at a multiple of 2^k, each interval of 1/2^k has one.
inline void check_intervals(Random& random) {
  constexpr unsigned kBits = 9, kPoints = 1U << kBits;
  const auto words = Sobol(kSobolDimensions, static_cast<unsigned long long>(random.below(1 << 20)) * kPoints)
                         .words(std::size_t{kSobolDimensions} * kPoints);
  for (unsigned d = 0; d < kSobolDimensions; ++d) {
    std::vector<bool> seen(kPoints);
    for (unsigned i = 0; i < kPoints; ++i) seen[words[d * kPoints + i] >> (32 - kBits)] = true;
    expect(std::find(seen.begin(), seen.end(), false) == seen.end(), "each interval has a point");
  }
}

/// The direction numbers: points whose index has a Gray code of one bit. [bit][dimension]
inline std::vector<std::vector<unsigned>> direction_numbers() {
  std::vector<std::vector<unsigned>> numbers;
  for (unsigned bit = 0; bit < 32; ++bit)
    numbers.push_back(Sobol(kSobolDimensions, (2ULL << bit) - 1).words(kSobolDimensions));
  return numbers;
}

/// Sobol's property A, which these direction numbers have: the highest bits of the first 2^d points of d
/// dimensions are all different, that is, the matrix of the direction numbers' highest bits has full rank.
inline void check_property_a(const std::vector<std::vector<unsigned>>& numbers) {
  for (unsigned size = 1; size <= 32; ++size) {
    std::vector<unsigned> rows(size);
    for (unsigned bit = 0; bit < size; ++bit)
      for (unsigned d = 0; d < size; ++d) rows[bit] |= (numbers[bit][d] >> 31) << d;
    unsigned rank = 0;
    for (unsigned d = 0; d < size; ++d) {
      const auto pivot =
          std::find_if(rows.begin() + rank, rows.end(), [d](unsigned row) { return row >> d & 1U; });
      if (pivot == rows.end()) break;
      std::iter_swap(rows.begin() + rank, pivot);
      for (unsigned i = rank + 1; i < size; ++i)
        if ((rows[i] >> d & 1U) != 0) rows[i] ^= rows[rank];
      ++rank;
    }
    expect(rank == size, "property A");
  }
}

/// Any point is made of direction numbers; calls go on where the one before has ended; the host has the same.
inline void check_points(const std::vector<std::vector<unsigned>>& numbers, Random& random) {
  for (int round = 0; round < 6; ++round) {
    const auto dimensions = static_cast<unsigned>(1 + random.below(kSobolDimensions));
    // Also with an index that goes round.
    const unsigned long long offset = round < 2 ? 0xffffffffU - static_cast<unsigned>(random.below(20000))
                                                : static_cast<unsigned>(random.next());
    Sobol device(dimensions, offset), host(dimensions, offset, true);
    auto index = static_cast<unsigned>(offset);
    for (int call = 0; call < 2; ++call) {
      const auto points =
          static_cast<std::size_t>(1 + random.below(call == 0 ? 700 : 40000 / static_cast<int>(dimensions)));
      const auto words = device.words(points * dimensions);
      bool same = true;
      for (std::size_t i = 0; i < points; ++i, ++index)
        for (unsigned d = 0; d < dimensions; ++d) {
          unsigned wanted = 0;
          for (unsigned bit = 0; bit < 32; ++bit)
            if (((index ^ index >> 1) >> bit & 1U) != 0) wanted ^= numbers[bit][d];
          same = same && words[d * points + i] == wanted;
        }
      expect(same, "points of Sobol's sequence");
      expect(words == host.words(points * dimensions), "the host's points");
    }
  }
}

/// Values by inversion: their distribution function gives the uniform number back.
inline void check_quasi_distributions(Random& random) {
  const unsigned dimensions = 7;
  const std::size_t count = 7 * 300;
  const auto offset = static_cast<unsigned long long>(random.below(1 << 30));
  const auto words = Sobol(dimensions, offset).words(count);
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (const bool host : {false, true}) {
    Sobol on(dimensions, offset, host);
    const auto restart = [&] { curandSetGeneratorOffset(on.handle, offset); };
    const auto uniform = generated<float>(on.handle, host, count, curandGenerateUniform);
    restart();
    const auto uniform_double = generated<double>(on.handle, host, count, curandGenerateUniformDouble);
    restart();
    const auto normal =
        generated<float>(on.handle, host, count, [](auto generator, float* out, std::size_t n) {
          return curandGenerateNormal(generator, out, n, 2, 3);
        });
    restart();
    const auto logs =
        generated<double>(on.handle, host, count, [](auto generator, double* out, std::size_t n) {
          return curandGenerateLogNormalDouble(generator, out, n, -1, 0.5);
        });
    restart();
    const auto poisson =
        generated<unsigned>(on.handle, host, count, [](auto generator, unsigned* out, std::size_t n) {
          return curandGeneratePoisson(generator, out, n, 5);
        });
    bool right = true;
    for (std::size_t i = 0; i < count; ++i) {
      const double p = (words[i] + 0.5) * 0x1p-32;
      right = right && std::abs(static_cast<double>(uniform[i]) - p) < 1e-7 && uniform_double[i] == p;
      right = right && std::abs(below((static_cast<double>(normal[i]) - 2) / 3) - p) < 1e-6;
      right = right && std::abs(below((std::log(logs[i]) + 1) / 0.5) - p) < 1e-12;
      double before = 0, term = std::exp(-5.0);
      for (unsigned k = 0; k < poisson[i]; ++k, term *= 5.0 / k) before += term;
      right = right && before < p + 1e-12 && p <= before + term + 1e-12;
    }
    expect(right, "distributions of quasirandom numbers");
  }
}

inline void check_quasi_refusals() {
  Sobol on(3);
  unsigned* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), 64);
  expect(curandGenerate(on.handle, memory, 10) == CURAND_STATUS_LENGTH_NOT_MULTIPLE,
         "a point that is cut off");
  expect(curandSetPseudoRandomGeneratorSeed(on.handle, 1) == CURAND_STATUS_TYPE_ERROR, "a seed");
  expect(curandGenerateLongLong(on.handle, nullptr, 3) == CURAND_STATUS_TYPE_ERROR, "64 bits");
  expect(curandSetGeneratorOrdering(on.handle, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_SUCCESS,
         "an order");
  expect(curandSetGeneratorOrdering(on.handle, CURAND_ORDERING_PSEUDO_BEST) == CURAND_STATUS_OUT_OF_RANGE,
         "an order of pseudorandom numbers");
  for (const unsigned dimensions : {0U, 20001U})
    expect(curandSetQuasiRandomGeneratorDimensions(on.handle, dimensions) == CURAND_STATUS_OUT_OF_RANGE,
           "dimensions that there are not");
  expect(curandSetQuasiRandomGeneratorDimensions(on.handle, kSobolDimensions + 1) == CURAND_STATUS_TYPE_ERROR,
         "dimensions that are not supported");
  cudaFree(memory);
}

inline void check_sobol(Random& random) {
  check_quasi_refusals();
  check_published_points();
  check_van_der_corput();
  check_intervals(random);
  const auto numbers = direction_numbers();
  check_property_a(numbers);
  check_points(numbers, random);
  check_quasi_distributions(random);
}
