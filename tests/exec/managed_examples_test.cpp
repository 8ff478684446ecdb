// The kernels of examples/uvm, from their PTX, launched as the programs launch them at small sizes and
// checked by the host.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/exec/example_files.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

/// Whole numbers below `limit`.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned limit, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(engine() % limit);
  return values;
}

/// A vector whose places are numbers of type int, as in the programs.
template <class T>
struct Table {
  std::vector<T> all;
  T& operator[](int i) { return all[static_cast<std::size_t>(i)]; }
  const T& operator[](int i) const { return all[static_cast<std::size_t>(i)]; }
};
template <class T>
Table(std::vector<T>) -> Table<T>;

}  // namespace

TEST_CASE("managed examples: triad") {
  Device device(example("uvm/ptx/triad"));
  const auto b = numbers<float>(1000, 1000, 1), c = numbers<float>(1000, 7, 2);
  const Address a = device.zeros<float>(1000);
  device.run("_Z5triadPfPKfS1_fi", {4, 1, 1}, {256, 1, 1},
             Arguments(a, device.array(b), device.array(c), 3.f, 1000));
  const auto found = device.read<float>(a, 1000);
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(found[i] == b[i] + 3.f * c[i]);
}

TEST_CASE("managed examples: random") {
  Device device(example("uvm/ptx/random"));
  const auto places = numbers<unsigned>(600, 100, 3);
  std::vector<std::uint64_t> expected(100);
  for (std::size_t i = 0; i < 600; ++i) expected[places[i]] ^= i;
  const Address table = device.zeros<std::uint64_t>(100);
  device.run("_Z6updatePyPKji", {3, 1, 1}, {256, 1, 1}, Arguments(table, device.array(places), 600));
  CHECK(device.read<std::uint64_t>(table, 100) == expected);
}

TEST_CASE("managed examples: wavefront") {
  constexpr int kTile = 16, kTiles = 3, kColumns = kTile * kTiles + 1;
  Device device(example("uvm/ptx/wavefront"));
  auto similar = Table{numbers<int>(kColumns * kColumns, 21, 4)};
  for (int& s : similar.all) s -= 10;
  Table<int> expected{std::vector<int>(kColumns * kColumns)};
  for (int i = 1; i < kColumns; ++i) expected[i] = expected[i * kColumns] = -10 * i;
  const Address scores = device.array(expected.all), input = device.array(similar.all);
  for (int d = 0; d < 2 * kTiles - 1; ++d) {
    const int x = std::max(0, d - kTiles + 1), y = std::min(d, kTiles - 1);
    device.run("_Z8diagonalPKiPiiii", {static_cast<std::uint32_t>(y - x + 1), 1, 1}, {kTile, 1, 1},
               Arguments(input, scores, kColumns, x, y));
  }
  for (int y = 1; y < kColumns; ++y)
    for (int x = 1; x < kColumns; ++x) {
      const int i = y * kColumns + x;
      expected[i] = std::max(expected[i - kColumns - 1] + similar[i],
                             std::max(expected[i - 1], expected[i - kColumns]) - 10);
    }
  CHECK(device.read<int>(scores, expected.all.size()) == expected.all);
}

TEST_CASE("managed examples: pathfinder") {
  constexpr int kColumns = 700, kRows = 8, kHeight = 4, kInner = 256 - 2 * kHeight;
  Device device(example("uvm/ptx/pathfinder"));
  const auto wall = Table{numbers<int>(kColumns * kRows, 10, 5)};
  auto best = Table{numbers<int>(kColumns, 10, 6)};
  Address from = device.array(best.all), to = device.zeros<int>(kColumns);
  const Address walls = device.array(wall.all);
  for (int r = 0; r < kRows; r += kHeight) {
    device.run("_Z7rows_onPKiS0_Piiii", {(kColumns + kInner - 1) / kInner, 1, 1}, {256, 1, 1},
               Arguments(walls + static_cast<Address>(r) * kColumns * sizeof(int), from, to, kColumns,
                         kHeight, kHeight));
    std::swap(from, to);
  }
  for (int r = 0; r < kRows; ++r) {
    Table<int> next{std::vector<int>(kColumns)};
    for (int x = 0; x < kColumns; ++x)
      next[x] = wall[r * kColumns + x] +
                std::min({best[std::max(0, x - 1)], best[x], best[std::min(kColumns - 1, x + 1)]});
    best = next;
  }
  CHECK(device.read<int>(from, kColumns) == best.all);
}

TEST_CASE("managed examples: backprop") {
  constexpr int kInputs = 64, kRow = 17;
  Device device(example("uvm/ptx/backprop"));
  const auto input = Table{numbers<float>(kInputs + 1, 8, 7)},
             weights = Table{numbers<float>((kInputs + 1) * kRow, 8, 8)};
  const auto before = Table{numbers<float>((kInputs + 1) * kRow, 8, 9)},
             delta = Table{numbers<float>(kRow, 8, 10)};
  const Address in = device.array(input.all), w = device.array(weights.all), old = device.array(before.all),
                sums = device.zeros<float>(kInputs);
  device.run("_Z7forwardPKfPfS1_", {kInputs / 16, 1, 1}, {16, 16, 1}, Arguments(in, w, sums));
  device.run("_Z6adjustPKfS0_PfS1_", {kInputs / 16, 1, 1}, {16, 16, 1},
             Arguments(device.array(delta.all), in, w, old));
  const auto changed = Table{device.read<float>(w, weights.all.size())},
             found = Table{device.read<float>(sums, kInputs)};
  for (int row = 1; row <= kInputs; ++row)
    for (int j = 1; j < kRow; ++j) {
      const int i = row * kRow + j;
      REQUIRE(changed[i] == 0.5f * weights[i] + (0.25f * delta[j] * input[row] + 0.25f * before[i]));
    }
  for (int b = 0; b < kInputs / 16; ++b)
    for (int j = 1; j < kRow; ++j) {
      float sum = 0;
      for (int r = 1; r <= 16; ++r) sum += 0.5f * weights[(b * 16 + r) * kRow + j] * input[b * 16 + r];
      REQUIRE(found[b * 16 + j - 1] == sum);
    }
}

TEST_CASE("managed examples: bfs") {
  constexpr int kNodes = 500, kDegree = 6;
  Device device(example("uvm/ptx/bfs"));
  const auto edges = Table{numbers<int>(kNodes * kDegree, kNodes, 11)};
  std::vector<int> nodes, cost(kNodes, -1), queue{0};
  Table<int> expected{std::vector<int>(kNodes, -1)};
  for (int v = 0; v < kNodes; ++v) nodes.insert(nodes.end(), {v * kDegree, kDegree});
  std::vector<char> start(kNodes);
  start[0] = 1;
  cost[0] = expected[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (int e = 0; e < kDegree; ++e) {
      const int u = edges[queue[i] * kDegree + e];
      if (expected[u] >= 0) continue;
      expected[u] = expected[queue[i]] + 1;
      queue.push_back(u);
    }
  const Address n = device.array(nodes), e = device.array(edges.all), front = device.array(start),
                next = device.zeros<char>(kNodes), seen = device.array(start), c = device.array(cost),
                more = device.zeros<int>(1);
  for (int level = 0; level < 20; ++level) {
    device.run("_Z6expandPK4NodePKiPcS4_PKcPii", {1, 1, 1}, {512, 1, 1},
               Arguments(n, e, front, next, seen, c, kNodes));
    device.run("_Z7advancePcS_S_Pii", {1, 1, 1}, {512, 1, 1}, Arguments(front, next, seen, more, kNodes));
  }
  CHECK(device.read<int>(c, kNodes) == expected.all);
}

TEST_CASE(
    "managed examples: stencil of constant temperature stays, of one hot point spreads by the formula") {
  constexpr int kSide = 20, kInner = 12;
  Device device(example("uvm/ptx/stencil"));
  Table<float> field{std::vector<float>(kSide * kSide)};
  field[10 * kSide + 11] = 64.f;
  const Address power = device.zeros<float>(field.all.size()), from = device.array(field.all),
                to = device.zeros<float>(field.all.size());
  constexpr std::uint32_t kBlocks = (kSide + kInner - 1) / kInner;
  device.run("_Z4heatPKfS0_Pfi", {kBlocks, kBlocks, 1}, {16, 16, 1}, Arguments(power, from, to, kSide));
  for (int step = 0; step < 2; ++step) {
    const Table<float> t = field;
    const auto at = [&](int x, int y) {
      return t[std::clamp(y, 0, kSide - 1) * kSide + std::clamp(x, 0, kSide - 1)];
    };
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x)
        field[y * kSide + x] =
            at(x, y) + 0.125f * (at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y) - 4.f * at(x, y));
  }
  CHECK(device.read<float>(to, field.all.size()) == field.all);  // eighths: exact
}

TEST_CASE("managed examples: fdtd against Yee's scheme in double precision") {
  constexpr int kSide = 37, kSteps = 2;
  Device device(example("uvm/ptx/fdtd"));
  const auto ex = numbers<float>(kSide * (kSide + 1), 16, 12),
             ey = numbers<float>(kSide * (kSide + 1), 16, 13), hz = numbers<float>(kSide * kSide, 16, 14),
             driven = numbers<float>(kSteps, 16, 15);
  const Address d = device.array(driven), x = device.array(ex), y = device.array(ey), z = device.array(hz);
  for (int t = 0; t < kSteps; ++t) {
    constexpr std::uint32_t kAcross = (kSide + 31) / 32, kDown = (kSide + 7) / 8;
    device.run("_Z10electric_yPKfPfS1_S1_ii", {kAcross, kDown, 1}, {32, 8, 1},
               Arguments(d, x, y, z, kSide, t));
    device.run("_Z10electric_xPfS_S_i", {kAcross, kDown, 1}, {32, 8, 1}, Arguments(x, y, z, kSide));
    device.run("_Z8magneticPfS_S_i", {kAcross, kDown, 1}, {32, 8, 1}, Arguments(x, y, z, kSide));
  }
  auto h = Table{std::vector<double>(hz.begin(), hz.end())},
       across = Table{std::vector<double>(ex.begin(), ex.end())},
       down = Table{std::vector<double>(ey.begin(), ey.end())};
  for (int t = 0; t < kSteps; ++t) {
    for (int c = 0; c < kSide; ++c) down[c] = driven[static_cast<std::size_t>(t)];
    for (int i = kSide; i < kSide * kSide; ++i) down[i] -= 0.5 * (h[i] - h[i - kSide]);
    for (int r = 0; r < kSide; ++r)
      for (int c = 1; c < kSide; ++c)
        across[r * (kSide + 1) + c] -= 0.5 * (h[r * kSide + c] - h[r * kSide + c - 1]);
    for (int i = 0; i < kSide * kSide; ++i) {
      const int e = i + i / kSide;
      h[i] -= 0.7 * (across[e + 1] - across[e] + down[i + kSide] - down[i]);
    }
  }
  const auto found_x = device.read<float>(x, ex.size()), found_y = device.read<float>(y, ey.size()),
             found_z = device.read<float>(z, hz.size());
  for (std::size_t i = 0; i < ex.size(); ++i) REQUIRE(found_x[i] == Approx(across.all[i]).margin(1e-4));
  for (std::size_t i = 0; i < ey.size(); ++i) REQUIRE(found_y[i] == Approx(down.all[i]).margin(1e-4));
  for (std::size_t i = 0; i < hz.size(); ++i) REQUIRE(found_z[i] == Approx(h.all[i]).margin(1e-4));
}

TEST_CASE(
    "managed examples: srad keeps an even image, and a bright point spreads by the published equations") {
  constexpr int kSide = 32, kBright = 9 * kSide + 14;
  constexpr double kQ0 = 0.25;
  const auto at = [](const std::vector<double>& v, int x, int y) {
    return v[static_cast<std::size_t>(std::clamp(y, 0, kSide - 1) * kSide + std::clamp(x, 0, kSide - 1))];
  };
  const float point = GENERATE(1.f, 1.5f);
  Device device(example("uvm/ptx/srad"));
  std::vector<float> image(kSide * kSide, 1.f);
  image[kBright] = point;
  Address d[4];
  const Address picture = device.array(image), c = device.zeros<float>(image.size());
  for (Address& a : d) a = device.zeros<float>(image.size());
  device.run("_Z9gradientsPKfPfS1_S1_S1_S1_if", {2, 2, 1}, {16, 16, 1},
             Arguments(picture, d[0], d[1], d[2], d[3], c, kSide, static_cast<float>(kQ0)));
  device.run("_Z7diffusePfPKfS1_S1_S1_S1_i", {2, 2, 1}, {16, 16, 1},
             Arguments(picture, d[0], d[1], d[2], d[3], c, kSide));
  const std::vector<double> j(image.begin(), image.end());  // Yu and Acton 2002: coefficient, then divergence
  std::vector<double> k(j.size());
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const double m = at(j, x, y), n = at(j, x, y - 1) - m, s = at(j, x, y + 1) - m, w = at(j, x - 1, y) - m,
                   e = at(j, x + 1, y) - m, l = (n + s + w + e) / m;
      const double g = (n * n + s * s + w * w + e * e) / (m * m);
      const double q = (g / 2 - l * l / 16) / ((1 + l / 4) * (1 + l / 4));
      k[static_cast<std::size_t>(y * kSide + x)] =
          std::clamp(1 / (1 + (q - kQ0) / (kQ0 * (1 + kQ0))), 0.0, 1.0);
    }
  const auto found = device.read<float>(picture, image.size());
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const double m = at(j, x, y);
      const double flow = at(k, x, y) * (at(j, x, y - 1) + at(j, x - 1, y) - 2 * m) +
                          at(k, x, y + 1) * (at(j, x, y + 1) - m) + at(k, x + 1, y) * (at(j, x + 1, y) - m);
      REQUIRE(found[static_cast<std::size_t>(y * kSide + x)] == Approx(m + flow / 8).margin(1e-5));
    }
}

}  // namespace lockstep::exec::test
