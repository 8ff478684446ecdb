// Which units are chosen, and whether confidence intervals have their stated coverage, on synthetic
// populations.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

#include "sampling/cta_sampler.hpp"
#include "sampling/grouping.hpp"
#include "sampling/launch_sampler.hpp"

namespace lockstep::sampling {
namespace {

trace::KernelHeader kernel(std::string name, std::uint32_t ctas) {
  trace::KernelHeader header;
  header.name = std::move(name);
  header.grid = {ctas, 1, 1};
  header.block = {128, 1, 1};
  return header;
}

/// Launches with their cycles.
struct Population {
  std::vector<trace::KernelHeader> kernels;
  std::vector<std::pair<std::size_t, double>> of;  // kernel, size
  std::vector<double> cycles;
  [[nodiscard]] std::vector<Launch> launches() const {
    std::vector<Launch> all;
    for (const auto& [k, size] : of) all.push_back({&kernels[k], {static_cast<std::uint64_t>(size), 100}});
    return all;
  }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double c : cycles) sum += c;
    return sum;
  }
};

/// Two kernels in turn: one whose size shrinks and whose time is not quite linear, one of equal size; both
/// with a cold first launch, a scatter and a slow drift.
Population make(std::mt19937_64& random, std::size_t count, double scatter) {
  Population p;
  p.kernels = {kernel("shrinks", 64), kernel("equal", 64)};
  std::normal_distribution<double> noise(1, scatter);
  for (std::size_t i = 0; i < count; ++i) {
    const double left = 1 - 0.7 * static_cast<double>(i) / static_cast<double>(count);
    const double size = i % 2 == 0 ? std::floor(1e5 * left * left) : 3e4;
    const double cold = i < 2 ? 1.5 : 1, drift = 1 + 0.02 * std::sin(static_cast<double>(i) / 40);
    p.of.emplace_back(i % 2, size);
    p.cycles.push_back((2000 + 0.1 * size + 3e-7 * size * size) * cold * drift * noise(random));
  }
  return p;
}

struct Outcome {
  Estimate cycles;
  std::uint64_t timed = 0;
};

Outcome run(const Population& p, const Options& options) {
  LaunchSampler sampler(options, p.launches());
  Outcome outcome;
  for (std::uint32_t i = 0; i < p.of.size(); ++i) {
    if (!sampler.choose(i).timed) continue;
    ++outcome.timed;
    Measures m{};
    m[0] = p.cycles[i];
    m[instructions_measure()] = p.of[i].second;
    sampler.add(i, m, {});
  }
  outcome.cycles = sampler.totals()[0];
  double size = 0;
  for (const auto& [k, s] : p.of) size += s;
  const Estimate instructions = sampler.totals()[instructions_measure()];  // the sizes are known
  CHECK(instructions.value == Approx(size));
  CHECK(instructions.half_width <= 1e-6 * size);
  return outcome;
}

TEST_CASE("Intervals hold the true total as often as they say") {
  std::mt19937_64 random(11);
  const int populations = 400;
  const double scatter = GENERATE(0.0, 0.05, 0.2);
  int inside = 0;
  double error = 0, share = 0;
  for (int i = 0; i < populations; ++i) {
    const Population p = make(random, 600, scatter);
    Options options;
    options.seed = static_cast<std::uint64_t>(i);
    const Outcome outcome = run(p, options);
    const double off = std::abs(outcome.cycles.value - p.total());
    inside += off <= outcome.cycles.half_width;
    error += off / p.total();
    share += static_cast<double>(outcome.timed) / 600;
  }
  INFO("scatter " << scatter << ": inside " << inside << ", mean error " << error / populations << ", timed "
                  << share / populations);
  // 95 % of 400 is 380 with a standard deviation of 4.4.
  CHECK(inside >= 366);
  CHECK(error / populations < 0.02);
  CHECK(share / populations < (scatter > 0.1 ? 0.8 : 0.2));
}

TEST_CASE("The same seed chooses the same launches, another one others") {
  std::mt19937_64 random(3);
  const Population p = make(random, 400, 0.1);
  const auto chosen = [&](std::uint64_t seed) {
    Options options;
    options.seed = seed;
    LaunchSampler sampler(options, p.launches());
    std::vector<bool> all;
    for (std::uint32_t i = 0; i < p.of.size(); ++i) {
      all.push_back(sampler.choose(i).timed);
      Measures m{};
      m[0] = p.cycles[i];
      if (all.back()) sampler.add(i, m, {});
    }
    return all;
  };
  CHECK(chosen(1) == chosen(1));
  CHECK(chosen(1) != chosen(2));
}

TEST_CASE("Launches of a few are all timed") {
  std::mt19937_64 random(3);
  const Population p = make(random, 8, 0.1);
  const Outcome outcome = run(p, {});
  CHECK(outcome.timed == 8);  // of each kernel: the first, two of the pilot, one of the second stage
  CHECK(outcome.cycles.value == Approx(p.total()));
  CHECK(outcome.cycles.half_width == 0);
}

TEST_CASE("Groups: by kernel, then by factors of two") {
  const trace::KernelHeader a = kernel("a", 10), b = kernel("b", 10), wide = kernel("a", 25);
  const Launch launches[] = {{&a, {1000, 10}},    {&b, {1000, 10}}, {&a, {1900, 19}}, {&a, {2100, 21}},
                             {&wide, {1000, 10}}, {&a, {1000, 30}}, {&a, {1500, 15}}};
  CHECK(group_launches(launches) == std::vector<std::uint32_t>{0, 1, 0, 2, 3, 4, 0});
}

/// A kernel of 400 waves of 100 CTAs that take turns: cycles of a CTA by its place, from 0 to 1, and by what
/// a quarter of a wave adds. All CTAs have 50 instructions, but where `size` says others.
struct Kind {
  const char* name;
  double (*rate)(double at);
  double correlation, scatter;  // of quarters of a wave that follow each other; their relative scatter
  double (*size)(double at);
  double max_timed;  // share of the CTAs
};

constexpr std::uint64_t kWave = 100, kCtas = 400 * kWave;
constexpr double kPi = 3.14159265358979;

double fifty(double) { return 50; }
double ten(double) { return 10; }

struct Timeline {
  std::vector<double> cycles, sizes;  // by CTA
  Timeline(const Kind& kind, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    double noise = normal(random);
    for (std::uint64_t i = 0; i < kCtas; ++i) {
      if (i % (kWave / 4) == 0)  // of variance 1 and the stated correlation
        noise =
            kind.correlation * noise + std::sqrt(1 - kind.correlation * kind.correlation) * normal(random);
      const double at = static_cast<double>(i) / kCtas;
      cycles.push_back(kind.rate(at) * (1 + kind.scatter * noise));
      sizes.push_back(kind.size(at));
    }
  }
  [[nodiscard]] double total() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }
};

struct SampledTimeline {
  Estimate cycles;
  double timed = 0;  // share of the CTAs
};

/// `late`: a cut comes this many dispatches after its mark.
SampledTimeline sample(const Timeline& timeline, double error, std::uint64_t seed, std::uint64_t late) {
  CtaSampler sampler({kCtas, kWave, 0, 1}, error, 0.95, seed);
  Measures so_far{};
  std::uint64_t timed = 0, cut = kNever;
  for (std::uint64_t next = 0; next < kCtas;) {
    so_far[0] += timeline.cycles[next];
    so_far[instructions_measure()] += timeline.sizes[next];
    ++timed;
    if (++next == sampler.mark()) cut = next + late;
    if (next != cut) continue;
    cut = kNever;
    const std::uint64_t out = sampler.at_mark(so_far, next);
    next += out;
    REQUIRE((out == 0 || next + kWave <= kCtas));
  }
  const double size = std::accumulate(timeline.sizes.begin(), timeline.sizes.end(), 0.0);
  const double rest_size = size - so_far[instructions_measure()];
  CHECK(sampler.predict(instructions_measure(), rest_size).value == Approx(rest_size).margin(1e-6));
  const Prediction rest = sampler.predict(0, rest_size);
  EstimatedSum sum;
  sum.add({so_far[0] + rest.value, rest.variance}, sampler.freedom(), kCtaBias * (so_far[0] + rest.value));
  return {sum.estimate(0.95), static_cast<double>(timed) / kCtas};
}

TEST_CASE("CTAs: intervals hold the kernel's time as often as they say, with correlation and with drift") {
  const Kind kinds[] = {
      {"steady", ten, 0, 0.05, fifty, 0.07},
      {"correlated over waves", ten, 0.9, 0.05, fifty, 0.1},
      {"correlated over many waves", ten, 0.99, 0.03, fifty, 0.1},
      {"grows by a fifth", [](double at) { return 10 + 2 * at; }, 0.5, 0.02, fifty, 0.07},
      {"grows threefold", [](double at) { return 10 + 20 * at; }, 0.5, 0.02, fifty, 0.25},
      {"falls, steeply at first", [](double at) { return 10 + 10 * std::exp(-8 * at); }, 0.5, 0.02, fifty,
       0.25},
      {"up and down", [](double at) { return 10 + std::sin(at * 20 * kPi); }, 0.5, 0.02, fifty, 0.2},
      {"as its instructions", [](double at) { return 10 + 30 * at * at; }, 0.5, 0.02,
       [](double at) { return 50 + 150 * at * at; }, 0.07},
  };
  constexpr int kRuns = 200;
  std::mt19937_64 random(5);
  int all = 0;
  double errors = 0;
  for (const Kind& kind : kinds) {
    int inside = 0;
    double error = 0, share = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const Timeline timeline(kind, random);
      const double truth = timeline.total();
      const SampledTimeline sampled = sample(timeline, 0.05, seed, seed % 20);
      inside += std::abs(sampled.cycles.value - truth) <= sampled.cycles.half_width;
      error += std::abs(sampled.cycles.value - truth) / truth / kRuns;
      share += sampled.timed / kRuns;
    }
    INFO(kind.name << ": inside " << inside << ", mean error " << error << ", timed " << share);
    CHECK(inside >= 180);  // 95 % of 200 is 190 with a standard deviation of 3.1
    CHECK(error < 0.025);
    CHECK(share < kind.max_timed);
    all += inside;
    errors += error;
  }
  CHECK(errors / 8 < 0.01);
  CHECK(all >= 8 * 190 - 18);  // two standard deviations
}

TEST_CASE("CTAs: a steady kernel without scatter is known exactly, from six parts of three waves") {
  const Kind kind{"exact", ten, 0, 0, fifty, 0};
  std::mt19937_64 random(1);
  const Timeline timeline(kind, random);
  const SampledTimeline sampled = sample(timeline, 0.05, 7, 0);
  CHECK(sampled.cycles.value == Approx(timeline.total()).epsilon(1e-12));
  CHECK(sampled.timed == Approx((2 + 6 * 3 + 1) / 400.0));
  // What is left is the allowance for bias.
  CHECK(sampled.cycles.half_width == Approx(kCtaBias * timeline.total()));
}

TEST_CASE("CTAs: the variance is that of successive differences") {
  // Six parts of 10, 10.2, 10, ... cycles per CTA: the mean square of differences is 0.04, half of it 0.02.
  constexpr std::uint64_t kSmall = 64 * 10;
  CtaSampler sampler({kSmall, 10, 0, 1}, 0.1, 0.95, 3);
  Measures so_far{};
  std::uint64_t next = sampler.mark(), left_out = 0;
  so_far[0] = 1000;
  so_far[instructions_measure()] = 100;
  double squares = 0;
  std::vector<double> gaps;
  for (int part = 0; part < 6; ++part) {
    const std::uint64_t out = sampler.at_mark(so_far, next);
    gaps.push_back(static_cast<double>(out));
    left_out += out;
    next = sampler.mark();  // one wave later
    CHECK(sampler.at_mark(so_far, next) == 0);
    next = sampler.mark();  // two waves later
    so_far[0] += 20 * (part % 2 == 0 ? 10 : 10.2);
    so_far[instructions_measure()] += 20;
  }
  gaps.push_back(static_cast<double>(sampler.at_mark(so_far, next)));
  left_out += static_cast<std::uint64_t>(gaps.back());
  CHECK(sampler.mark() == kNever);
  CHECK(next + static_cast<std::uint64_t>(gaps.back()) == kSmall - 10);
  double value = 0;
  for (std::size_t i = 0; i < 6; ++i) {  // half of the gaps beside it, all of the outer ones
    const double gap = gaps[i] * (i == 0 ? 1 : 0.5) + gaps[i + 1] * (i == 5 ? 1 : 0.5);
    squares += gap * gap;
    value += gap * (i % 2 == 0 ? 10 : 10.2);
  }
  const auto rest = static_cast<double>(left_out);
  CHECK(sampler.predict(0, rest).value == Approx(value));
  CHECK(sampler.predict(0, rest).variance == Approx(0.02 * squares));
  CHECK(sampler.predict(0, 2 * rest).value == Approx(2 * value));
  CHECK(sampler.predict(0, 2 * rest).variance == Approx(0.08 * squares));
  CHECK(sampler.freedom() == Approx(50.0 / 14));
}

TEST_CASE("CTAs: one part alone says nothing of the scatter") {
  CtaSampler sampler({640, 10, 0, 1}, 0.1, 0.95, 3);
  Measures so_far{};
  so_far[0] = 1000;
  so_far[instructions_measure()] = 100;
  std::uint64_t next = sampler.mark();
  const std::uint64_t first = sampler.at_mark(so_far, next);
  REQUIRE(first > 0);
  CHECK(sampler.predict(0, -1).variance > 0);  // no part at all
  next = sampler.mark();
  CHECK(sampler.at_mark(so_far, next) == 0);
  so_far[0] += 20 * 10;
  so_far[instructions_measure()] += 20;
  const std::uint64_t second = sampler.at_mark(so_far, sampler.mark());
  const Prediction rest = sampler.predict(0, -1);  // 10 cycles for each CTA that was left out
  CHECK(rest.value == Approx(10.0 * static_cast<double>(first + second)));
  CHECK(rest.variance == Approx(rest.value * rest.value));
}

TEST_CASE("CTAs: the beginning ends when the L2 has been filled, or with a twelfth of the kernel") {
  const std::size_t misses =
      1 + (offsetof(stats::KernelCounters, mem) + offsetof(stats::PartitionCounters, l2) +
           offsetof(stats::CacheCounters, misses)) /
              sizeof(std::uint64_t);
  for (const double each : {0.0, 2.0, 1e6}) {  // sectors that a CTA misses
    CtaSampler sampler({kCtas, kWave, 1000, 1}, 0.05, 0.95, 1);
    Measures so_far{};
    std::uint64_t next = sampler.mark();
    for (;; next = sampler.mark()) {
      so_far[misses] = each * static_cast<double>(next);
      so_far[0] = static_cast<double>(next);
      if (sampler.at_mark(so_far, next) > 0) break;
    }
    CHECK(next == (each == 0 ? 33 : each == 2 ? 8 : 2) * kWave);  // 400 / 12; 1.5 * 1000 / 2 CTAs; two waves
  }
}

TEST_CASE("CTAs: a kernel of few waves, or whose CTAs are too short for cuts, is timed wholly") {
  CHECK(CtaSampler({6399, 100, 0, 1}, 0.02, 0.95, 1).mark() == kNever);
  CtaSampler sampler({6400, 100, 0, 1}, 0.02, 0.95, 1);
  CHECK(sampler.mark() == 200);
  CHECK(sampler.at_mark({}, 251) == 0);
  CHECK(sampler.mark() == kNever);
}

}  // namespace
}  // namespace lockstep::sampling
