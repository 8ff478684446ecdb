// Random numbers for tests.
#pragma once

#include <cstdint>
#include <random>

namespace lockstep::test {

/// std::mt19937, whose numbers of 32 bits have a type of 64 where std::uint_fast32_t does.
class Random32 {
 public:
  using result_type = std::uint32_t;
  explicit Random32(std::uint32_t seed) : engine_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffff; }
  result_type operator()() { return static_cast<result_type>(engine_()); }

 private:
  std::mt19937 engine_;
};

}  // namespace lockstep::test
