#pragma once

// A transform that is tried: its kind, sizes and layouts, at random.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "api.hpp"
#include "fft_api.hpp"

enum class Kind { kForward, kInverse, kRealToComplex, kComplexToReal };

/// As cufftPlanMany's arguments.
struct Places {
  int embed[3] = {1, 1, 1};
  int stride = 1;
  int distance = 1;
};

struct Case {
  Kind kind = Kind::kForward;
  int rank = 1;
  int n[3] = {1, 1, 1};
  int batch = 1;
  bool advanced = false;
  bool in_place = false;
  Places in, out;

  [[nodiscard]] bool complex_in() const { return kind != Kind::kRealToComplex; }
  [[nodiscard]] bool complex_out() const { return kind != Kind::kComplexToReal; }
  [[nodiscard]] bool real() const { return !complex_in() || !complex_out(); }
  [[nodiscard]] int points() const { return n[0] * (rank > 1 ? n[1] : 1) * (rank > 2 ? n[2] : 1); }
  /// Elements along dimension d of what is stored at one side of the transform.
  [[nodiscard]] int extent(int d, bool complex_side) const {
    return real() && complex_side && d == rank - 1 ? n[d] / 2 + 1 : n[d];
  }
  /// Real numbers in a buffer with the layout.
  [[nodiscard]] std::size_t parts(const Places& places, bool complex) const {
    std::size_t elements = static_cast<std::size_t>(places.distance) * static_cast<std::size_t>(batch);
    std::size_t inside = static_cast<std::size_t>(places.stride);
    for (int d = 0; d < rank; ++d) inside *= static_cast<std::size_t>(places.embed[d]);
    return (elements + inside) * (complex ? 2 : 1);
  }
  [[nodiscard]] std::string text(std::size_t bytes) const {
    std::string result = bytes == 8 ? "double " : "float ";
    result += std::to_string(static_cast<int>(kind)) + ", sizes";
    for (int d = 0; d < rank; ++d) result += " " + std::to_string(n[d]);
    result += ", batch " + std::to_string(batch) + (in_place ? ", in place" : "");
    for (const Places* places : {&in, &out})
      result +=
          ", stride " + std::to_string(places->stride) + " distance " + std::to_string(places->distance);
    return result + (advanced ? ", advanced" : "");
  }
};

/// The layout that there is without embeds; in place, real rows have room for their results.
inline Places default_places(const Case& c, bool complex_side) {
  Places places;
  places.distance = 1;
  for (int d = 0; d < c.rank; ++d) {
    places.embed[d] = c.extent(d, complex_side);
    if (c.in_place && c.real() && !complex_side && d == c.rank - 1) places.embed[d] = 2 * (c.n[d] / 2 + 1);
    places.distance *= places.embed[d];
  }
  return places;
}

inline Places random_places(const Case& c, bool complex_side, Random& random) {
  Places places;
  places.stride = 1 + random.below(3);
  places.distance = places.stride;
  for (int d = 0; d < c.rank; ++d) {
    places.embed[d] = c.extent(d, complex_side) + random.below(3);
    places.distance *= places.embed[d];
  }
  places.distance += random.below(4);
  if (random.below(4) != 0) return places;
  places.distance = 1;  // the batch is the innermost dimension
  places.stride = c.batch + random.below(2);
  return places;
}

inline int random_length(Random& random, int limit) {
  const int primes[] = {2, 3, 5, 7, 11, 13};
  if (random.below(4) == 0) return 1 + random.below(limit);
  int length = 1;
  for (;;) {
    const int next = length * primes[random.below(random.below(2) == 0 ? 1 : 6)];
    if (next > limit || random.below(12) == 0) return length;
    length = next;
  }
}

inline Case random_case(Random& random) {
  Case c;
  c.kind = static_cast<Kind>(random.below(4));
  c.rank = 1 + random.below(3);
  const int limits[] = {5000, 100, 20};
  for (int d = 0; d < c.rank; ++d) c.n[d] = random_length(random, limits[c.rank - 1]);
  const int most = 6000 / c.points();
  c.batch = 1 + random.below(most < 1 ? 1 : most > 20 ? 20 : most);
  c.in_place = random.below(3) == 0;
  c.advanced = random.below(2) == 0;
  c.in = c.advanced ? random_places(c, c.complex_in(), random) : default_places(c, c.complex_in());
  c.out = c.advanced ? random_places(c, c.complex_out(), random) : default_places(c, c.complex_out());
  if (c.advanced && c.in_place && !c.real() && random.below(2) == 0) c.out = c.in;
  return c;
}
