// The kernels of examples/, from their PTX, launched as the programs launch them and checked by the host.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "tests/exec/example_files.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

struct Random {
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine()); }
  float unit() { return static_cast<float>((*this)() % 2001) / 1000.f - 1.f; }
  std::mt19937 engine{7};
};

template <class T, class Make>
std::vector<T> filled(std::size_t count, Make make) {
  std::vector<T> values(count);
  for (T& v : values) v = make();
  return values;
}

}  // namespace

TEST_CASE("examples: vector_add") {
  Device device(example("ptx/vector_add"));
  Random random;
  const int n = 1000;
  const auto a = filled<float>(n, [&] { return random.unit(); }),
             b = filled<float>(n, [&] { return random.unit(); });
  const Address c = device.zeros<float>(n);
  device.run("_Z3addPKfS0_Pfi", {4, 1, 1}, {256, 1, 1}, Arguments(device.array(a), device.array(b), c, n));
  const auto found = device.read<float>(c, n);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(found[i] == a[i] + b[i]);
}

TEST_CASE("examples: sgemm") {
  Device device(example("ptx/sgemm"));
  Random random;
  constexpr int n = 64;
  const auto a = filled<float>(n * n, [&] { return random.unit(); }),
             b = filled<float>(n * n, [&] { return random.unit(); });
  const Address c = device.zeros<float>(n * n);
  device.run("_Z5sgemmPKfS0_Pfi", {2, 2, 1}, {32, 8, 1}, Arguments(device.array(a), device.array(b), c, n));
  const auto found = device.read<float>(c, n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += static_cast<double>(a[i * n + k]) * b[k * n + j];
      REQUIRE(std::fabs(sum - found[i * n + j]) < 1e-4);
    }
  }
}

TEST_CASE("examples: tensor_gemm") {
  Device device(example("ptx/tensor_gemm"));
  Random random;
  constexpr unsigned n = 64;
  constexpr std::uint16_t kHalves[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0,
                                       0x3c00, 0x4000, 0x4200, 0x4400};  // -4 to 4
  std::vector<int> ia(n * n), ib(n * n);
  std::vector<std::uint16_t> a(n * n), b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    a[i] = kHalves[ia[i] = static_cast<int>(random() % 9)];
    b[i] = kHalves[ib[i] = static_cast<int>(random() % 9)];
  }
  const Address c = device.zeros<float>(n * n);
  device.run("_Z11tensor_gemmPK6__halfS1_Pfi", {n / 64, n / 16, 1}, {128, 1, 1},
             Arguments(device.array(a), device.array(b), c, static_cast<int>(n)));
  const auto found = device.read<float>(c, n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      int sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += (ia[i * n + k] - 4) * (ib[k * n + j] - 4);
      REQUIRE(found[i * n + j] == static_cast<float>(sum));
    }
}

TEST_CASE("examples: reduction") {
  Device device(example("ptx/reduction"));
  Random random;
  const auto values = filled<std::uint32_t>(10'000, [&] { return random(); });
  const Address partial = device.zeros<std::uint64_t>(8), out = device.zeros<std::uint64_t>(1);
  device.run("_Z6reduceIjEvPKT_Pyi", {8, 1, 1}, {256, 1, 1},
             Arguments(device.array(values), partial, 10'000));
  device.run("_Z6reduceIyEvPKT_Pyi", {1, 1, 1}, {256, 1, 1}, Arguments(partial, out, 8));
  CHECK(device.read<std::uint64_t>(out, 1)[0] ==
        std::accumulate(values.begin(), values.end(), std::uint64_t{0}));
}

TEST_CASE("examples: histogram") {
  Device device(example("ptx/histogram"));
  Random random;
  const auto in = filled<std::uint8_t>(
      5000, [&] { return static_cast<std::uint8_t>(random() % 256 * (random() % 256) / 256); });
  std::vector<std::uint32_t> expected(256);
  for (const std::uint8_t v : in) ++expected[v];
  const Address bins = device.zeros<std::uint32_t>(256);
  device.run("_Z9histogramPKhPji", {4, 1, 1}, {256, 1, 1}, Arguments(device.array(in), bins, 5000));
  CHECK(device.read<std::uint32_t>(bins, 256) == expected);
}

TEST_CASE("examples: lu") {
  Device device(example("ptx/lu"));
  Random random;
  constexpr std::uint32_t n = 64;
  auto a = filled<float>(n * n, [&] { return random.unit(); });
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] += n;
  const Address m = device.array(a);
  for (std::uint32_t first = 0; first < n; first += 16) {
    const std::uint32_t rest = (n - first) / 16 - 1;
    device.run("_Z8diagonalPfii", {1, 1, 1}, {16, 1, 1}, Arguments(m, n, first));
    if (rest == 0) break;
    device.run("_Z9perimeterPfii", {rest, 1, 1}, {32, 1, 1}, Arguments(m, n, first));
    device.run("_Z8internalPfii", {rest, rest, 1}, {16, 16, 1}, Arguments(m, n, first));
  }
  const auto lu = device.read<float>(m, n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double product = i <= j ? lu[i * n + j] : 0.0;
      for (std::size_t k = 0; k < (i <= j ? i : j + 1); ++k)
        product += static_cast<double>(lu[i * n + k]) * lu[k * n + j];
      REQUIRE(std::fabs(product - a[i * n + j]) < 1e-3);
    }
  }
}

TEST_CASE("examples: stencil") {
  Device device(example("ptx/stencil"));
  Random random;
  constexpr std::size_t n = 45;
  const auto field = filled<float>(n * n, [&] { return random.unit(); });
  const Address out = device.zeros<float>(n * n);
  device.run("_Z4stepPKfPfi", {2, 6, 1}, {32, 8, 1},
             Arguments(device.array(field), out, static_cast<int>(n)));
  auto expected = field;
  for (std::size_t y = 1; y + 1 < n; ++y) {
    for (std::size_t x = 1; x + 1 < n; ++x) {
      const std::size_t i = y * n + x;
      expected[i] = 0.25f * (field[i - 1] + field[i + 1] + field[i - n] + field[i + n]);
    }
  }
  CHECK(device.read<float>(out, n * n) == expected);
}

TEST_CASE("examples: pointer_chase") {
  Device device(example("ptx/pointer_chase"));
  constexpr std::uint32_t kLinks = 37, kLoads = 4096;
  std::vector<std::uint32_t> next(kLinks);
  for (std::uint32_t i = 0; i < kLinks; ++i) next[i] = (i + 5) % kLinks;  // one cycle: 37 is prime
  const Address result = device.zeros<std::uint64_t>(2);
  device.run("_Z5chasePKjP6Result", {1, 1, 1}, {1, 1, 1}, Arguments(device.array(next), result));
  const auto words = device.read<std::uint64_t>(result, 2);
  CHECK(static_cast<std::uint32_t>(words[0]) == 2 * kLoads * 5 % kLinks);
  CHECK(words[1] > kLoads);  // without a timing model: instructions between the two readings
}

TEST_CASE("examples: bfs") {
  Device device(example("ptx/bfs"));
  Random random;
  constexpr int nodes = 700, degree = 6;
  const auto edges = filled<int>(nodes * degree, [&] { return static_cast<int>(random() % nodes); });
  std::vector<int> expected(nodes, -1), queue{0};
  expected[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto node = static_cast<std::size_t>(queue[head]);
    for (std::size_t e = 0; e < degree; ++e) {
      int& level = expected[static_cast<std::size_t>(edges[node * degree + e])];
      if (level != -1) continue;
      level = expected[node] + 1;
      queue.push_back(edges[node * degree + e]);
    }
  }
  std::vector<int> start(nodes, -1);
  start[0] = 0;
  const Address graph = device.array(edges), levels = device.array(start);
  const Address found = device.image->address(device.program.find_variable("found_next").value());
  int level = 0;
  do {
    std::memset(reinterpret_cast<void*>(found), 0, sizeof(int));
    device.run("_Z6expandPKiPiii", {3, 1, 1}, {256, 1, 1}, Arguments(graph, levels, nodes, level++));
  } while (device.read<int>(found, 1)[0] != 0);
  CHECK(device.read<int>(levels, nodes) == expected);
}

}  // namespace lockstep::exec::test
