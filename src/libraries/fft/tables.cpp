#include <cmath>
#include <complex>
#include <tuple>

#include "libraries/fft/schedule.hpp"

namespace lockstep::libraries::fft {
namespace {

using Value = std::complex<double>;

/// exp(-2 pi i numerator / denominator)
Value root(unsigned long long numerator, unsigned long long denominator) {
  const long double angle =
      -6.283185307179586476925286766559L * static_cast<long double>(numerator % denominator) / denominator;
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

/// exp(-pi i k^2 / length)
Value chirp(unsigned long long k, unsigned length) { return root(k * k % (2ULL * length), 2ULL * length); }

/// Of a power of two, in place.
void transform(std::vector<Value>& values) {
  const std::size_t count = values.size();
  for (std::size_t i = 1, reversed = 0; i < count; ++i) {
    std::size_t bit = count / 2;
    for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
    reversed ^= bit;
    if (i < reversed) std::swap(values[i], values[reversed]);
  }
  for (std::size_t span = 1; span < count; span *= 2) {
    std::vector<Value> roots(span);
    for (std::size_t k = 0; k < span; ++k) roots[k] = root(k, 2 * span);
    for (std::size_t block = 0; block < count; block += 2 * span)
      for (std::size_t k = 0; k < span; ++k) {
        const Value odd = values[block + span + k] * roots[k];
        values[block + span + k] = values[block + k] - odd;
        values[block + k] += odd;
      }
  }
}

/// Of the chirp with which a signal is convolved.
std::vector<Value> spectrum(const Table& table) {
  std::vector<Value> values(table.padded);
  for (unsigned k = 0; k < table.of; ++k)
    values[k] = values[(table.padded - k) % table.padded] = std::conj(chirp(k, table.of));
  transform(values);
  return values;
}

std::size_t count_of(const Table& table) {
  switch (table.factors) {
    case Factors::kLowTwiddles:
      return Pass::kLowTwiddles;
    case Factors::kHighTwiddles:
      return table.of / Pass::kLowTwiddles + 1;
    default:
      return table.of;
  }
}

Value value_of(const Table& table, std::size_t k) {
  switch (table.factors) {
    case Factors::kHighTwiddles:
      return root(k * Pass::kLowTwiddles, table.of);
    case Factors::kChirp:
      return chirp(k, table.of);
    case Factors::kFinalChirp:
      return std::conj(chirp(k, table.of)) / static_cast<double>(table.padded);
    default:
      return root(k, table.of);
  }
}

}  // namespace

bool Table::operator<(const Table& other) const {
  return std::tie(factors, of, padded) < std::tie(other.factors, other.of, other.padded);
}

std::vector<double> make_table(const Table& table) {
  std::vector<Value> values;
  if (table.factors == Factors::kSpectrum) {
    values = spectrum(table);
  } else {
    for (std::size_t k = 0; k < count_of(table); ++k) values.push_back(value_of(table, k));
  }
  std::vector<double> parts;
  parts.reserve(2 * values.size());
  for (const Value& value : values) {
    parts.push_back(value.real());
    parts.push_back(value.imag());
  }
  return parts;
}

}  // namespace lockstep::libraries::fft
