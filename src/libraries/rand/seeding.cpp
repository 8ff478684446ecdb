#include "libraries/rand/seeding.hpp"

#include <algorithm>
#include <array>

namespace lockstep::libraries::rand {
namespace {

/// Words to vary a published state with; all 0 for seed 0 (the last step of SplitMix64).
Word mixed(Long seed, Word which) {
  Long value = seed * (0x9e3779b97f4a7c15ULL + 2 * which);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<Word>((value ^ (value >> 31)) >> 32);
}

/// Some steps of xorwow: what becomes of each bit of the shift register.
class XorwowLeap {
 public:
  static XorwowLeap one_step() {
    XorwowLeap leap;
    for (std::size_t bit = 0; bit < kBits; ++bit) {
      Xorwow state{};
      state.v[bit / 32] = Word{1} << bit % 32;
      state.next();
      std::copy(std::begin(state.v), std::end(state.v), leap.images_[bit].begin());
    }
    leap.weyl_ = Xorwow::kWeyl;
    return leap;
  }
  [[nodiscard]] Xorwow after(const Xorwow& state) const {
    Register source{}, result{};
    std::copy(std::begin(state.v), std::end(state.v), source.begin());
    result = image(source);
    Xorwow later{};
    std::copy(result.begin(), result.end(), std::begin(later.v));
    later.d = state.d + weyl_;
    return later;
  }
  [[nodiscard]] XorwowLeap twice() const {
    XorwowLeap leap;
    for (std::size_t bit = 0; bit < kBits; ++bit) leap.images_[bit] = image(images_[bit]);
    leap.weyl_ = 2 * weyl_;
    return leap;
  }

 private:
  static constexpr std::size_t kBits = 160;
  using Register = std::array<Word, 5>;

  [[nodiscard]] Register image(const Register& source) const {
    Register result{};
    for (std::size_t bit = 0; bit < kBits; ++bit)
      if ((source[bit / 32] >> bit % 32 & 1) != 0)
        for (std::size_t i = 0; i < result.size(); ++i) result[i] ^= images_[bit][i];
    return result;
  }

  std::array<Register, kBits> images_{};
  Word weyl_ = 0;
};

/// Some steps of MRG32k3a: a matrix for each of its two recurrences.
class MrgLeap {
 public:
  static MrgLeap one_step() {
    MrgLeap leap;
    leap.first_ = {{{0, 1, 0}, {0, 0, 1}, {Mrg32k3a::kModulus1 - Mrg32k3a::kA13, Mrg32k3a::kA12, 0}}};
    leap.second_ = {{{0, 1, 0}, {0, 0, 1}, {Mrg32k3a::kModulus2 - Mrg32k3a::kA23, 0, Mrg32k3a::kA21}}};
    return leap;
  }
  [[nodiscard]] Mrg32k3a after(const Mrg32k3a& state) const {
    Mrg32k3a later{};
    apply(first_, state.first, later.first, Mrg32k3a::kModulus1);
    apply(second_, state.second, later.second, Mrg32k3a::kModulus2);
    return later;
  }
  [[nodiscard]] MrgLeap twice() const {
    MrgLeap leap;
    leap.first_ = square(first_, Mrg32k3a::kModulus1);
    leap.second_ = square(second_, Mrg32k3a::kModulus2);
    return leap;
  }

 private:
  using Matrix = std::array<std::array<Long, 3>, 3>;

  static void apply(const Matrix& matrix, const Word (&from)[3], Word (&to)[3], Long modulus) {
    for (std::size_t row = 0; row < 3; ++row) {
      Long sum = 0;
      for (std::size_t i = 0; i < 3; ++i) sum = (sum + matrix[row][i] * from[i] % modulus) % modulus;
      to[row] = static_cast<Word>(sum);
    }
  }
  static Matrix square(const Matrix& matrix, Long modulus) {
    Matrix result{};
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t column = 0; column < 3; ++column)
        for (std::size_t i = 0; i < 3; ++i)
          result[row][column] =
              (result[row][column] + matrix[row][i] * matrix[i][column] % modulus) % modulus;
    return result;
  }

  Matrix first_{}, second_{};
};

/// The streams are 2^spacing steps apart.
template <class Leap, class State>
std::vector<State> streams_from(State state, unsigned spacing, Long offset) {
  Leap leap = Leap::one_step();
  for (Long steps = offset / kStreams; steps != 0; steps /= 2, --spacing) {
    if (steps % 2 != 0) state = leap.after(state);
    leap = leap.twice();
  }
  for (; spacing > 0; --spacing) leap = leap.twice();
  std::vector<State> streams(kStreams);
  for (Word stream = 0; stream < kStreams; ++stream, state = leap.after(state)) {
    streams[stream] = state;
    if (stream < offset % kStreams) streams[stream].next();
  }
  return streams;
}

}  // namespace

std::vector<Xorwow> xorwow_streams(Long seed, Long offset) {
  Xorwow state{{123456789, 362436069, 521288629, 88675123, 5783321}, 6615241};
  for (Word i = 0; i < 5; ++i) state.v[i] ^= mixed(seed, i);
  state.d += mixed(seed, 5);
  if (std::all_of(std::begin(state.v), std::end(state.v), [](Word word) { return word == 0; }))
    state.v[0] = 1;
  return streams_from<XorwowLeap>(state, 67, offset);
}

std::vector<Mrg32k3a> mrg32k3a_streams(Long seed, Long offset) {
  constexpr Long kPublished = 12345;  // from 1, as no part may be all zeros
  Mrg32k3a state{};
  for (Word i = 0; i < 3; ++i) {
    state.first[i] = static_cast<Word>(1 + (kPublished - 1 + mixed(seed, i)) % (Mrg32k3a::kModulus1 - 1));
    state.second[i] =
        static_cast<Word>(1 + (kPublished - 1 + mixed(seed, 3 + i)) % (Mrg32k3a::kModulus2 - 1));
  }
  return streams_from<MrgLeap>(state, 76, offset);
}

std::vector<Word> twister_block(Long seed) {
  constexpr Word kCount = Twister::kWords;
  std::vector<Word> block(kCount);
  const auto initialize = [&](Word with) {
    block[0] = with;
    for (Word i = 1; i < kCount; ++i) block[i] = 1812433253U * (block[i - 1] ^ (block[i - 1] >> 30)) + i;
  };
  if (seed >> 32 == 0) {
    initialize(static_cast<Word>(seed));
    return block;
  }
  const Word key[] = {static_cast<Word>(seed), static_cast<Word>(seed >> 32)};
  initialize(19650218U);
  Word i = 1;
  const auto advance = [&] {
    if (++i < kCount) return;
    block[0] = block[kCount - 1];
    i = 1;
  };
  for (Word k = 0; k < kCount; ++k, advance())
    block[i] = (block[i] ^ ((block[i - 1] ^ (block[i - 1] >> 30)) * 1664525U)) + key[k % 2] + k % 2;
  for (Word k = 0; k < kCount - 1; ++k, advance())
    block[i] = (block[i] ^ ((block[i - 1] ^ (block[i - 1] >> 30)) * 1566083941U)) - i;
  block[0] = 0x80000000U;
  return block;
}

}  // namespace lockstep::libraries::rand
