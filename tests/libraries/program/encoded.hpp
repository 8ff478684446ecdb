// Arrays whose type is chosen while the program runs, as cudaDataType_t counts them.
#pragma once

#include <cstdint>
#include <cstring>

#include "support.hpp"

constexpr int kFloat = 0, kDouble = 1, kHalf = 2, kInt8 = 3, kInt32 = 10, kBfloat = 14;

/// One element of a type, as bits: only numbers that the type has are stored.
inline std::uint64_t encode(int type, double x) {
  std::uint64_t bits = 0;
  const auto as = [&]<class T>(T value) { std::memcpy(&bits, &value, sizeof value); };
  if (type == kFloat || type == kBfloat) as(static_cast<float>(x));
  if (type == kBfloat) bits >>= 16;
  if (type == kDouble) as(x);
  if (type == kInt8) as(static_cast<std::int8_t>(x));
  if (type == kInt32) as(static_cast<std::int32_t>(x));
  if (type == kHalf && x != 0) {
    int exponent = 0;
    const double mantissa = std::frexp(std::abs(x), &exponent);  // x = mantissa 2^exponent, at least a half
    bits = static_cast<std::uint64_t>((exponent + 14) << 10) +
           static_cast<std::uint64_t>(std::lround(std::ldexp(mantissa, 11))) - 1024 + (x < 0 ? 0x8000u : 0);
  }
  return bits;
}
inline double decode(int type, std::uint64_t bits) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
  };
  if (type == kFloat) return as(0.0f);
  if (type == kDouble) return as(0.0);
  if (type == kInt8) return as(std::int8_t{});
  if (type == kInt32) return as(std::int32_t{});
  if (type == kBfloat) {
    bits <<= 16;
    return as(0.0f);
  }
  const int exponent = static_cast<int>(bits >> 10 & 31), mantissa = static_cast<int>(bits & 1023);
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}
inline std::size_t bytes_of(int type) {
  return type == kDouble ? 8 : type == kFloat || type == kInt32 ? 4 : type == kInt8 ? 1 : 2;
}

/// Values that all types have exactly, and their sums of products, too: small multiples of a quarter, or
/// integers.
struct Operand {
  int type;
  std::vector<double> values;
  Device<unsigned char> device;

  Operand(int t, std::size_t count) : type(t), values(count), device(count * bytes_of(t)) {
    const bool integers = type == kInt8 || type == kInt32;
    for (double& x : values) x = integers ? random_int(-9, 9) : random_int(-6, 6) / 4.0;
    std::vector<unsigned char> stored(count * bytes_of(type));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = encode(type, values[i]);
      std::memcpy(&stored[i * bytes_of(type)], &bits, bytes_of(type));
    }
    device.set(stored);
  }
  [[nodiscard]] std::vector<double> get() const {
    const auto stored = device.get();
    std::vector<double> found(values.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &stored[i * bytes_of(type)], bytes_of(type));
      found[i] = decode(type, bits);
    }
    return found;
  }
};
