// cuRAND's generators compared with published values and with their definitions, and the distributions with
// their moments.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <sstream>
#include <vector>

#include "rand_reference.hpp"
#include "rand_sobol.hpp"
#include "rand_support.hpp"

namespace {

constexpr unsigned kStreams = 16384;  // docs/libraries.md

constexpr curandRngType_t kTypes[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                                      CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MT19937};

struct Generator {
  curandGenerator_t handle = nullptr;
  bool host;

  explicit Generator(curandRngType_t type, unsigned long long seed, unsigned long long offset = 0,
                     bool on_host = false)
      : host(on_host) {
    const auto status =
        host ? curandCreateGeneratorHost(&handle, type) : curandCreateGenerator(&handle, type);
    expect(status == CURAND_STATUS_SUCCESS, "a generator is made");
    expect(curandSetPseudoRandomGeneratorSeed(handle, seed) == CURAND_STATUS_SUCCESS, "a seed");
    expect(curandSetGeneratorOffset(handle, offset) ==
               (type == CURAND_RNG_PSEUDO_MT19937 ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_SUCCESS),
           "an offset");
  }
  ~Generator() {
    expect(curandDestroyGenerator(handle) == CURAND_STATUS_SUCCESS, "a generator is destroyed");
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  template <class T, class Generate>
  std::vector<T> get(std::size_t count, Generate generate) {
    return generated<T>(handle, host, count, generate);
  }
  std::vector<unsigned> words(std::size_t count) { return get<unsigned>(count, curandGenerate); }
  std::vector<float> uniform(std::size_t count) { return get<float>(count, curandGenerateUniform); }
  std::vector<double> uniform_double(std::size_t count) {
    return get<double>(count, curandGenerateUniformDouble);
  }
};

auto normal(double mean, double deviation) {
  return [=](curandGenerator_t on, float* out, std::size_t count) {
    return curandGenerateNormal(on, out, count, static_cast<float>(mean), static_cast<float>(deviation));
  };
}
auto normal_double(double mean, double deviation) {
  return [=](curandGenerator_t on, double* out, std::size_t count) {
    return curandGenerateNormalDouble(on, out, count, mean, deviation);
  };
}
auto log_normal(double mean, double deviation) {
  return [=](curandGenerator_t on, float* out, std::size_t count) {
    return curandGenerateLogNormal(on, out, count, static_cast<float>(mean), static_cast<float>(deviation));
  };
}
auto log_normal_double(double mean, double deviation) {
  return [=](curandGenerator_t on, double* out, std::size_t count) {
    return curandGenerateLogNormalDouble(on, out, count, mean, deviation);
  };
}
auto poisson(double mean) {
  return [=](curandGenerator_t on, unsigned* out, std::size_t count) {
    return curandGeneratePoisson(on, out, count, mean);
  };
}

/// The known answers of Random123: counter and key of zeros, of ones, of the digits of pi.
void check_philox(Random& random) {
  constexpr std::uint32_t kOnes = 0xffffffffU;
  struct {
    Philox input;
    std::uint32_t result[4];
  } known[] = {
      {{{0, 0, 0, 0}, {0, 0}}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{{kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (auto& answer : known) {
    answer.input.run();
    expect(std::equal(answer.result, answer.result + 4, answer.input.counter),
           "the reference's Philox4x32-10");
  }
  expect(Generator(CURAND_RNG_PSEUDO_PHILOX4_32_10, 0).words(4) ==
             std::vector<unsigned>({0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}),
         "Philox4x32-10 of zeros");
  for (int i = 0; i < 6; ++i) {
    const unsigned long long seed = random.next(), offset = random.next() >> random.below(60);
    const auto words = Generator(CURAND_RNG_PSEUDO_PHILOX4_32_10, seed, offset).words(1001);
    bool same = true;
    for (std::size_t k = 0; k < words.size(); ++k) {
      const unsigned long long block = (offset + k) / 4;
      Philox one{{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
      one.run();
      same = same && words[k] == one.counter[(offset + k) % 4];
    }
    expect(same, "Philox4x32-10 with a seed and an offset");
  }
}

/// Stream 0 is the published sequence; an offset is the same as as many numbers left out.
void check_streams(Random& random) {
  const auto words = Generator(CURAND_RNG_PSEUDO_XORWOW, 0).words(40 * kStreams);
  Xorwow published;
  bool same = true;
  for (std::size_t k = 0; k < 40; ++k) same = same && words[k * kStreams] == published.next();
  expect(words[0] == 246875399 && same, "XORWOW's first stream");
  const double known[] = {0.1270111501, 0.3185275653, 0.3091860155};
  const auto mrg = Generator(CURAND_RNG_PSEUDO_MRG32K3A, 0).uniform(2 * kStreams + 1);
  for (std::size_t k = 0; k < 3; ++k)
    expect(std::abs(mrg[k * kStreams] - known[k]) < 1e-7, "MRG32k3a's first stream");
  for (const curandRngType_t type : kTypes) {
    if (type == CURAND_RNG_PSEUDO_MT19937) continue;  // has no offsets
    const unsigned long long seed = random.next();
    const auto all = Generator(type, seed).words(9 * kStreams);
    for (int i = 0; i < 4; ++i) {
      const auto skipped = static_cast<std::size_t>(random.below(8 * kStreams));
      const auto rest = Generator(type, seed, skipped).words(500);
      expect(std::equal(rest.begin(), rest.end(), all.begin() + static_cast<long>(skipped)), "an offset");
    }
  }
}

/// As the standard library's; numbers of several words may begin in one block of the state and end in the
/// next.
void check_twister(Random& random) {
  const auto words = Generator(CURAND_RNG_PSEUDO_MT19937, 5489).words(10000);
  expect(words.back() == 4123659995U, "the 10000th number, which the C++ standard names");
  for (const bool on_host : {false, true}) {
    const auto seed = static_cast<unsigned>(random.next());
    std::mt19937 published(seed);
    Generator generator(CURAND_RNG_PSEUDO_MT19937, seed, 0, on_host);
    for (const std::size_t count : std::vector<std::size_t>{1, 623, 1, 700, 301}) {
      const auto found = generator.words(count);
      expect(std::all_of(found.begin(), found.end(), [&](unsigned word) { return word == published(); }),
             "MT19937");
      const auto doubles = generator.uniform_double(count);
      expect(std::all_of(doubles.begin(), doubles.end(),
                         [&](double value) {
                           const unsigned long long high = published(), low = published();
                           return value ==
                                  static_cast<double>(((high << 21) ^ (low >> 11)) + 1) / 9007199254740992.0;
                         }),
             "MT19937's numbers in double precision");
    }
  }
  // A seed of more than 32 bits is an array of two.
  unsigned state[624] = {19650218U};
  for (unsigned i = 1; i < 624; ++i) state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  const unsigned key[] = {0x12345U, 0x23456U};
  unsigned i = 1, j = 0;
  for (int k = 624; k > 0; --k) {
    state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525U)) + key[j] + j;
    ++i, ++j;
    if (i >= 624) state[0] = state[623], i = 1;
    if (j >= 2) j = 0;
  }
  for (int k = 623; k > 0; --k) {
    state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941U)) - i;
    ++i;
    if (i >= 624) state[0] = state[623], i = 1;
  }
  state[0] = 0x80000000U;
  std::stringstream text;  // the state, as the standard library reads it
  for (const unsigned word : state) text << word << ' ';
  text << 624;  // libstdc++: how many are used
  std::mt19937 published;
  text >> published;
  const auto found = Generator(CURAND_RNG_PSEUDO_MT19937, (0x23456ULL << 32) + 0x12345).words(2000);
  expect(std::all_of(found.begin(), found.end(), [&](unsigned word) { return word == published(); }),
         "MT19937 with a seed of 64 bits");
}

/// Several calls give what one call gives; the host's generator gives what the device's gives.
void check_calls(Random& random) {
  for (const curandRngType_t type : kTypes) {
    const unsigned long long seed = random.next(),
                             offset = type == CURAND_RNG_PSEUDO_MT19937
                                          ? 0
                                          : static_cast<unsigned long long>(random.below(100000));
    Generator once(type, seed, offset), often(type, seed, offset), host(type, seed, offset, true);
    const auto all = once.words(30000);
    std::vector<unsigned> pieces;
    while (pieces.size() < all.size()) {
      const std::size_t left = all.size() - pieces.size();
      const auto piece = often.words(std::min(left, static_cast<std::size_t>(random.below(9000))));
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    expect(pieces == all, "several calls");
    expect(host.words(30000) == all, "the host's words");
    expect(once.uniform(777) == host.uniform(777), "the host's uniform numbers");
    expect(once.uniform_double(778) == host.uniform_double(778),
           "the host's uniform numbers in double precision");
    const auto close = [](const auto& a, const auto& b, double limit) {
      return std::equal(a.begin(), a.end(), b.begin(),
                        [&](double x, double y) { return std::abs(x - y) <= limit * (1 + std::abs(x)); });
    };
    expect(close(once.get<float>(1000, normal(1, 2)), host.get<float>(1000, normal(1, 2)), 1e-5),
           "the host's normal");
    expect(close(once.get<double>(1000, log_normal_double(1, 2)),
                 host.get<double>(1000, log_normal_double(1, 2)), 1e-12),
           "the host's log-normal numbers");
    expect(once.get<unsigned>(999, poisson(7)) == host.get<unsigned>(999, poisson(7)),
           "the host's Poisson numbers");
    expect(once.words(10) == host.words(10), "all have used the same numbers");
  }
}

/// The first four moments against a sum over many values; `limit`: standard errors that are allowed.
template <class T>
void check_moments(const std::vector<T>& values, double mean, double variance, double skewness,
                   double kurtosis, const char* what) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0, cubes = 0;
  for (const T value : values) {
    const double x = (static_cast<double>(value) - mean) / std::sqrt(variance);
    sum += x;
    squares += x * x;
    cubes += x * x * x;
  }
  const double limit = 4.5 / std::sqrt(count);
  expect(std::abs(sum / count) < limit, what);
  expect(std::abs(squares / count - 1) < limit * std::sqrt(kurtosis - 1), what);
  expect(std::abs(cubes / count - skewness) < limit * 4 * std::sqrt(kurtosis), what);
}

double poisson_probability(double mean, unsigned value) {
  return std::exp(value * std::log(mean) - mean - std::lgamma(value + 1.0));
}

void check_distributions(Random& random) {
  constexpr std::size_t kCount = 100000;
  for (const curandRngType_t type : kTypes) {
    Generator generator(type, random.next());
    const auto uniform = generator.uniform(kCount);
    check_moments(uniform, 0.5, 1.0 / 12, 0, 1.8, "uniform numbers");
    expect(*std::min_element(uniform.begin(), uniform.end()) > 0 &&
               *std::max_element(uniform.begin(), uniform.end()) <= 1,
           "uniform numbers are above 0, up to 1");
    check_moments(generator.uniform_double(kCount), 0.5, 1.0 / 12, 0, 1.8,
                  "uniform numbers in double precision");
    check_moments(generator.get<float>(kCount, normal(3, 2)), 3, 4, 0, 3, "normal numbers");
    check_moments(generator.get<double>(kCount, normal_double(-3, 0.5)), -3, 0.25, 0, 3,
                  "normal numbers in double");
    auto logs = generator.get<float>(kCount, log_normal(0.5, 0.25));
    for (float& value : logs) value = std::log(value);
    check_moments(logs, 0.5, 0.0625, 0, 3, "log-normal numbers");
    auto double_logs = generator.get<double>(kCount, log_normal_double(-2, 3));
    for (double& value : double_logs) value = std::log(value);
    check_moments(double_logs, -2, 9, 0, 3, "log-normal numbers in double precision");
    for (const double mean : {0.1, 3.0, 64.0, 3999.0, 5000.0})
      check_moments(generator.get<unsigned>(kCount, poisson(mean)), mean, mean, 1 / std::sqrt(mean),
                    3 + 1 / mean, "Poisson numbers");
    std::vector<double> counts(12);
    for (const unsigned value : generator.get<unsigned>(kCount, poisson(3)))
      counts[std::min(value, 11U)] += 1;
    for (unsigned value = 0; value < 11; ++value) {
      const double expected = kCount * poisson_probability(3, value);
      expect(std::abs(counts[value] - expected) < 4.5 * std::sqrt(expected),
             "how often a Poisson number comes");
    }
  }
}

void check_refusals() {
  curandGenerator_t handle = nullptr;
  float* memory = nullptr;
  unsigned* words = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), 64);
  expect(curandCreateGenerator(&handle, static_cast<curandRngType_t>(7)) == CURAND_STATUS_TYPE_ERROR,
         "type 7");
  expect(curandGenerateUniform(nullptr, memory, 1) == CURAND_STATUS_NOT_INITIALIZED, "no generator");
  Generator generator(CURAND_RNG_PSEUDO_DEFAULT, 1);
  expect(curandGenerateUniform(generator.handle, memory, 0) == CURAND_STATUS_SUCCESS, "no numbers");
  expect(curandGenerateUniform(generator.handle, nullptr, 3) == CURAND_STATUS_OUT_OF_RANGE, "no memory");
  expect(curandGenerateNormal(generator.handle, memory, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE,
         "half a pair");
  expect(curandGenerateLongLong(generator.handle, nullptr, 1) == CURAND_STATUS_TYPE_ERROR, "64 bits");
  expect(curandGeneratePoisson(generator.handle, words, 1, 0) == CURAND_STATUS_OUT_OF_RANGE, "a mean of 0");
  expect(curandSetGeneratorOrdering(generator.handle, CURAND_ORDERING_PSEUDO_BEST) == CURAND_STATUS_SUCCESS,
         "an order");
  expect(curandSetGeneratorOrdering(generator.handle, CURAND_ORDERING_QUASI_DEFAULT) ==
             CURAND_STATUS_OUT_OF_RANGE,
         "an order of quasirandom numbers");
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  expect(curandSetStream(generator.handle, stream) == CURAND_STATUS_SUCCESS, "a stream");
  expect(curandGenerateUniform(generator.handle, memory, 16) == CURAND_STATUS_SUCCESS, "numbers in a stream");
  expect(cudaStreamSynchronize(stream) == 0, "a stream's end");
  cudaFree(memory);
}

}  // namespace

int main() {
  Random random{20260801};
  check_refusals();
  check_philox(random);
  check_streams(random);
  check_twister(random);
  check_calls(random);
  check_distributions(random);
  check_sobol(random);
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
