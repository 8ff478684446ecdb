// Launch of CTAs: an empty kernel on an H100 PCIe, by grid and CTA size.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "micro.hpp"

namespace lockstep::test {
namespace {

constexpr std::array<unsigned, 7> kGrids = {1024, 2048, 4096, 8192, 16384, 32768, 65536};

struct Row {
  unsigned threads;
  std::array<double, 7> cycles;  // by grid
};

/// Cycles of an empty kernel under ncu at 1.1 GHz (cycles over time), H100 PCIe: the rows "emptykernel" of a
/// public collection of simulator ground truth (h100_pcie_kernels.csv of the project's facts).
const std::vector<Row> kRows = {
    {256, {5055, 6135, 8314, 12503, 21062, 38134, 73720}},
    {288, {5046, 6114, 8242, 12592, 21044, 38135, 72279}},
    {320, {5041, 6088, 8306, 12490, 21414, 38121, 72269}},
    {352, {5028, 6102, 8132, 12338, 20771, 37583, 71313}},
    {384, {4992, 6053, 8371, 12509, 21056, 38098, 73610}},
    {416, {5033, 6093, 8220, 12515, 21149, 38121, 72265}},
    {448, {5052, 6086, 8211, 12488, 21009, 38101, 72254}},
    {480, {5072, 6177, 8219, 12479, 21045, 38851, 72267}},
    {512, {5043, 6096, 8118, 12337, 20783, 37599, 72302}},
    {544, {5044, 6135, 8288, 12533, 21049, 38175, 72286}},
    {576, {4999, 6109, 8231, 12531, 21045, 38138, 72298}},
    {608, {5029, 6158, 8238, 12513, 21048, 38140, 72292}},
    {640, {5123, 6142, 8246, 12522, 21452, 38319, 72252}},
    {672, {5053, 6116, 8213, 12522, 21064, 38127, 72269}},
    {704, {5443, 6792, 9547, 15236, 26486, 48922, 94466}},
    {736, {5412, 6836, 9697, 15456, 26774, 49808, 94568}},
    {768, {5400, 6840, 9710, 15562, 27030, 50115, 96247}},
    {800, {5443, 7013, 9759, 15612, 27189, 50338, 96667}},
    {832, {5470, 6921, 9806, 15682, 27560, 50741, 97520}},
    {864, {5526, 6940, 9876, 15753, 27531, 51201, 98205}},
    {896, {5456, 6985, 9949, 15859, 27704, 51399, 98738}},
    {928, {5530, 6997, 9984, 15927, 27806, 52122, 99237}},
    {960, {5554, 7054, 10128, 16142, 27938, 51893, 99779}},
    {992, {5528, 7049, 10170, 16017, 27898, 51946, 100591}},
    {1024, {5442, 7048, 10034, 16100, 28173, 52507, 101918}},
};

/// Half of the rows gave the parameters of the launch, the others check them: FNV-1a of the row's name, even
/// or odd.
bool derived(unsigned grid, unsigned threads) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : "block=" + std::to_string(grid) + ";thread=" + std::to_string(threads))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash % 2 == 0;
}

/// Cycles that ncu adds to those of the CTAs: what is left of the derived rows' intercept, 3,972 cycles,
/// after the model's own of about 140, which is the life of the last CTA.
constexpr double kFloor = 3830;

/// CTAs of `threads` that an SM holds: 64 warps.
unsigned resident(unsigned threads) { return 64 / ((threads + 31) / 32); }

struct Line {
  double offset = 0, slope = 0;
};
/// Least relative squares through the derived rows (or the others) in which three CTAs or more fit an SM:
/// there the dispatcher is the bottleneck.
Line dispatch_bound(bool of_derived) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Row& row : kRows)
    for (std::size_t g = 0; g < kGrids.size(); ++g) {
      if (resident(row.threads) < 3 || derived(kGrids[g], row.threads) != of_derived) continue;
      const double weight = 1 / (row.cycles[g] * row.cycles[g]), n = kGrids[g];
      w += weight;
      x += weight * n;
      y += weight * row.cycles[g];
      xx += weight * n * n;
      xy += weight * n * row.cycles[g];
    }
  const double slope = (w * xy - x * y) / (w * xx - x * x);
  return {(y - slope * x) / w, slope};
}

TEST_CASE("the interval between CTAs is that of the derived rows, and the others agree") {
  const double interval = config::resolve("h100_pcie").launch.dispatch_interval_milli / 1000.0;
  CHECK(std::abs(dispatch_bound(true).slope - interval) < 0.0005);
  CHECK(dispatch_bound(false).slope == Approx(interval).epsilon(0.005));
  CHECK(dispatch_bound(false).offset == Approx(dispatch_bound(true).offset).epsilon(0.005));
}

double modelled(unsigned grid, unsigned threads) {
  const Micro h100(config::resolve("h100_pcie", {"core.clock_mhz=1100"}));
  return h100.cycles("empty", {{"ctas", std::to_string(grid)}, {"threads", std::to_string(threads)}});
}

struct Errors {
  double sum = 0, largest = 0;
  unsigned count = 0;
  void add(double measured, double model) {
    const double error = std::abs(model / measured - 1);
    sum += error;
    largest = std::max(largest, error);
    ++count;
  }
};

void check_rows(const std::vector<unsigned>& threads, std::size_t large) {
  Errors errors[2];
  for (const Row& row : kRows) {
    if (std::find(threads.begin(), threads.end(), row.threads) == threads.end()) continue;
    double total[2];
    for (const std::size_t i : {0u, 1u}) {
      const std::size_t g = i * large;
      INFO(kGrids[g] << " CTAs of " << row.threads);
      total[i] = kFloor + modelled(kGrids[g], row.threads);
      CHECK(total[i] == Approx(row.cycles[g]).epsilon(0.05));
      errors[derived(kGrids[g], row.threads)].add(row.cycles[g], total[i]);
    }
    INFO(row.threads << " threads, cycles of a further CTA");
    const double measured = (row.cycles[6] - row.cycles[0]) / (kGrids[6] - kGrids[0]);
    CHECK((total[1] - total[0]) / (kGrids[large] - kGrids[0]) == Approx(measured).epsilon(0.05));
  }
  for (const Errors& e : errors) {
    REQUIRE(e.count > 0);
    CHECK(e.sum / e.count < 0.02);
  }
}

TEST_CASE("empty kernels take as long as on the H100: bound by the dispatcher, or by two CTAs per SM") {
  check_rows({256, 672, 704, 1024}, 1);
}

TEST_CASE("empty kernels of every CTA size take as long as on the H100", "[slow]") {
  std::vector<unsigned> threads;
  for (const Row& row : kRows) threads.push_back(row.threads);
  check_rows(threads, 3);
}

}  // namespace
}  // namespace lockstep::test
