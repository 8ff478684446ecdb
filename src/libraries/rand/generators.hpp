// The generators, on the host and in kernels: each gives 32 random bits at a time.
#pragma once

#ifdef __CUDACC__
#define LOCKSTEP_RAND_BOTH __host__ __device__
#else
#define LOCKSTEP_RAND_BOTH
#endif

namespace lockstep::libraries::rand {

using Word = unsigned;
using Long = unsigned long long;

/// Stateful generators have this many streams, far apart in the generator's sequence; neighbouring results
/// are from neighbouring streams.
constexpr Word kStreams = 16384;

/// Marsaglia, "Xorshift RNGs", 2003: a xorshift of 160 bits and a Weyl sequence.
struct Xorwow {
  static constexpr Word kWeyl = 362437;
  Word v[5];
  Word d;

  LOCKSTEP_RAND_BOTH Word next() {
    const Word t = v[0] ^ (v[0] >> 2);
    for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
    v[4] = v[4] ^ (v[4] << 4) ^ t ^ (t << 1);
    d += kWeyl;
    return v[4] + d;
  }
};

/// L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators",
/// 1999.
struct Mrg32k3a {
  static constexpr Long kModulus1 = 4294967087, kModulus2 = 4294944443;
  static constexpr Long kA12 = 1403580, kA13 = 810728, kA21 = 527612,
                        kA23 = 1370589;  // kA13, kA23: to be subtracted
  Word first[3];
  Word second[3];

  /// From 1 to kModulus1.
  LOCKSTEP_RAND_BOTH Word next_number() {
    const Long p1 = (kA12 * first[1] + kA13 * (kModulus1 - first[0])) % kModulus1;
    const Long p2 = (kA21 * second[2] + kA23 * (kModulus2 - second[0])) % kModulus2;
    for (int i = 0; i < 2; ++i) {
      first[i] = first[i + 1];
      second[i] = second[i + 1];
    }
    first[2] = static_cast<Word>(p1);
    second[2] = static_cast<Word>(p2);
    return static_cast<Word>(p1 > p2 ? p1 - p2 : p1 + kModulus1 - p2);
  }
  LOCKSTEP_RAND_BOTH Word next() { return static_cast<Word>(((next_number() - Long{1}) << 32) / kModulus1); }
};

/// Matsumoto and Nishimura, "Mersenne twister", 1998: MT19937. Its state is a block of words, each of which
/// gives a word of the sequence.
struct Twister {
  static constexpr int kWords = 624, kDistance = 397;

  /// Word i of the next block: from words i and i + 1, and the one at kDistance from i.
  LOCKSTEP_RAND_BOTH static Word step(Word word, Word next, Word distant) {
    const Word joined = (word & 0x80000000U) | (next & 0x7fffffffU);
    return distant ^ (joined >> 1) ^ (joined % 2 == 1 ? 0x9908b0dfU : 0);
  }
  LOCKSTEP_RAND_BOTH static Word temper(Word word) {
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680U;
    word ^= (word << 15) & 0xefc60000U;
    return word ^ (word >> 18);
  }
};

/// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011: Philox4x32-10 of a counter, with the
/// seed as key.
struct Philox {
  /// Words 4 block to 4 block + 3 of the sequence.
  LOCKSTEP_RAND_BOTH static void block(Long seed, Long block, Word (&words)[4]) {
    Word key[2] = {static_cast<Word>(seed), static_cast<Word>(seed >> 32)};
    words[0] = static_cast<Word>(block);
    words[1] = static_cast<Word>(block >> 32);
    words[2] = words[3] = 0;
    for (int round = 0; round < 10; ++round) {
      const Long product0 = Long{0xD2511F53} * words[0];
      const Long product1 = Long{0xCD9E8D57} * words[2];
      words[0] = static_cast<Word>(product1 >> 32) ^ words[1] ^ key[0];
      words[1] = static_cast<Word>(product1);
      words[2] = static_cast<Word>(product0 >> 32) ^ words[3] ^ key[1];
      words[3] = static_cast<Word>(product0);
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
  }
  /// Words from `position` on.
  LOCKSTEP_RAND_BOTH static void four(Long seed, Long position, Word (&words)[4]) {
    block(seed, position / 4, words);
    const int skipped = static_cast<int>(position % 4);
    if (skipped == 0) return;
    Word later[4];
    block(seed, position / 4 + 1, later);
    Word both[8];
    for (int i = 0; i < 4; ++i) {
      both[i] = words[i];
      both[i + 4] = later[i];
    }
    for (int i = 0; i < 4; ++i)
      words[i] = skipped == 1 ? both[i + 1] : skipped == 2 ? both[i + 2] : both[i + 3];
  }
};

}  // namespace lockstep::libraries::rand
