// Groups of launches against the rule applied to sets of values, allocations against the variance that they
// reach, and sums of estimates in any order.
#include "sampling/grouping.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sampling/allocation.hpp"
#include "sampling/estimate.hpp"
#include "sampling/fit.hpp"
#include "sampling/quantile.hpp"
#include "tests/random.hpp"

namespace lockstep::sampling {
namespace {

using Label = std::vector<double>;

/// The values of a class at which its groups begin: the least, and each that is more than twice the one
/// before it here.
std::vector<double> starts_of(const std::set<double>& values) {
  std::vector<double> starts;
  for (const double value : values)
    if (starts.empty() || value > 2 * starts.back()) starts.push_back(value);
  return starts;
}

/// Appends to each launch's label where the group of its value begins, in the class that the label stands
/// for.
void refine(std::vector<Label>& labels, const std::vector<double>& values) {
  std::map<Label, std::set<double>> classes;
  for (std::size_t i = 0; i < labels.size(); ++i) classes[labels[i]].insert(values[i]);
  std::map<Label, std::vector<double>> starts;
  for (const auto& [label, all] : classes) starts[label] = starts_of(all);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::vector<double>& of_class = starts.at(labels[i]);
    labels[i].push_back(*std::prev(std::upper_bound(of_class.begin(), of_class.end(), values[i])));
  }
}

/// Numbers of labels, by their first launch.
std::vector<std::uint32_t> numbered(const std::vector<Label>& labels) {
  std::map<Label, std::uint32_t> numbers;
  std::vector<std::uint32_t> all;
  for (const Label& label : labels)
    all.push_back(numbers.emplace(label, static_cast<std::uint32_t>(numbers.size())).first->second);
  return all;
}

trace::KernelHeader kernel_of(const std::string& name, std::uint32_t ctas) {
  trace::KernelHeader header;
  header.name = name;
  header.grid = {ctas, 1, 1};
  header.block = {64, 1, 1};
  return header;
}

}  // namespace

TEST_CASE("Groups of random launches are those of the rule, numbered by their first launch") {
  lockstep::test::Random32 random(5);
  std::size_t most = 0;
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 60, names = 1 + random() % 3;
    std::vector<trace::KernelHeader> kernels;
    std::vector<Launch> launches(count);
    std::vector<Label> labels(count);
    std::array<std::vector<double>, 3> features;  // CTAs, instructions, words of an instruction
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t name = random() % names;
      kernels.push_back(kernel_of(std::string(1, static_cast<char>('a' + name)), 1 + random() % 20));
      launches[i].size = {random() % 40, random() % 40};
      labels[i] = {static_cast<double>(name)};
      features[0].push_back(kernels.back().grid.x);
      features[1].push_back(static_cast<double>(launches[i].size.instructions));
      features[2].push_back(static_cast<double>(launches[i].size.address_words) /
                            std::max(features[1].back(), 1.0));
    }
    for (std::size_t i = 0; i < count; ++i) launches[i].kernel = &kernels[i];
    for (const std::vector<double>& values : features) refine(labels, values);
    const auto groups = group_launches(launches);
    REQUIRE(groups == numbered(labels));
    most = std::max<std::size_t>(most, *std::ranges::max_element(groups));
  }
  CHECK(most > 20);
  CHECK(group_launches({}).empty());
}

TEST_CASE("Launches whose blocks or resources differ are in different groups") {
  std::vector<trace::KernelHeader> kernels(7, kernel_of("k", 10));
  kernels[1].block = {32, 2, 1};
  kernels[2].block = {32, 1, 2};
  kernels[3].registers = 8;
  kernels[4].shared_bytes = 1;
  kernels[5].stream = 3;        // says nothing of the time
  kernels[6].grid = {2, 5, 1};  // as many CTAs
  std::vector<Launch> launches;
  for (const trace::KernelHeader& kernel : kernels) launches.push_back({&kernel, {100, 10}});
  CHECK(group_launches(launches) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 0, 0});
}

TEST_CASE("Allocations reach the variance with no more units than there are") {
  lockstep::test::Random32 random(11);
  const auto number = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  unsigned whole = 0, part = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Stratum> strata(1 + random() % 6);
    for (Stratum& s : strata)
      s = {std::floor(number(1, 200)), random() % 5 ? number(0, 50) : 0, number(0.1, 30)};
    const double wanted = std::exp(number(0, 14));
    const auto counts = allocate(strata, wanted);
    REQUIRE(counts.size() == strata.size());
    double variance = 0;
    for (std::size_t h = 0; h < strata.size(); ++h) {
      const double n = static_cast<double>(counts[h]), units = strata[h].units;
      REQUIRE(n <= units);
      whole += n == units;
      part += n > 0 && n < units;
      if (strata[h].scatter > 0) REQUIRE(n > 0);
      if (n > 0) variance += units * units * strata[h].scatter * strata[h].scatter / n * (1 - n / units);
    }
    REQUIRE(variance <= wanted * (1 + 1e-9));
  }
  CHECK(whole > 100);
  CHECK(part > 100);
}

TEST_CASE("Allocations: the same in other units of cost, and more of what scatters or costs less") {
  const std::vector<Stratum> strata{{500, 4, 1}, {500, 8, 1}, {500, 8, 9}};
  const auto counts = allocate(strata, 1e5);
  CHECK(static_cast<double>(counts[1]) == Approx(2.0 * static_cast<double>(counts[0])).margin(2));
  CHECK(static_cast<double>(counts[1]) == Approx(3.0 * static_cast<double>(counts[2])).margin(3));
  std::vector<Stratum> dearer = strata;
  for (Stratum& s : dearer) s.cost *= 1000;
  CHECK(allocate(dearer, 1e5) == counts);
}

TEST_CASE("Sums of estimates do not depend on how their parts are put together") {
  lockstep::test::Random32 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<EstimatedSum> sums(1 + random() % 8);
    double value = 0, variance = 0, squares = 0, bias = 0;
    for (EstimatedSum& sum : sums) {
      const Prediction part{static_cast<double>(random() % 1000), 1 + static_cast<double>(random() % 100)};
      const double freedom = 1 + static_cast<double>(random() % 9), own = static_cast<double>(random() % 10);
      sum.add(part, freedom, own);
      value += part.value;
      variance += part.variance;
      squares += part.variance * part.variance / freedom;
      bias += own;
    }
    std::shuffle(sums.begin(), sums.end(), random);
    for (std::size_t step = 1; step < sums.size(); step *= 2)  // pairs, then pairs of these
      for (std::size_t i = 0; i + step < sums.size(); i += 2 * step) sums[i].add(sums[i + step]);
    const Estimate all = sums[0].estimate(0.9);
    REQUIRE(all.value == Approx(value));
    REQUIRE(all.half_width ==
            Approx(student_t(0.9, variance * variance / squares) * std::sqrt(variance) + bias));
  }
}

TEST_CASE("The measures of a launch are its cycles and then its counters, word by word") {
  std::array<std::uint64_t, kMeasures - 1> words{};
  std::iota(words.begin(), words.end(), 1000u);
  stats::KernelCounters counters;
  static_assert(sizeof counters == sizeof words);
  std::memcpy(static_cast<void*>(&counters), words.data(), sizeof counters);
  const Measures measures = measures_of(77, counters);
  CHECK(measures[0] == 77);
  for (std::size_t i = 1; i < kMeasures; ++i) REQUIRE(measures[i] == static_cast<double>(999 + i));
  CHECK(measures[instructions_measure()] == static_cast<double>(counters.sm.warp_instructions));
}

TEST_CASE("A fit's scatter is the standard deviation of its residuals for a unit of mean size") {
  Fit mean, ratio;
  Measures m{};
  for (const double y : {10., 14., 9., 11.}) {
    m[0] = y;
    mean.add(100, m);
  }
  CHECK(mean.scatter(Fit::Model::kMean) == Approx(std::sqrt(14.0 / 3)));
  CHECK(mean.freedom(Fit::Model::kMean) == 3);
  CHECK(mean.freedom(Fit::Model::kLinear) == 2);
  CHECK(mean.mean(0) == Approx(11));
  CHECK(mean.mean_size() == Approx(100));
  for (const auto& [x, y] : {std::pair{10., 21.}, {30., 57.}}) {
    m[0] = y;
    ratio.add(x, m);
  }
  // Residuals 21 - 19.5 and 57 - 58.5, of variance 1.5^2 / 10 + 1.5^2 / 30 a unit of size; the mean is 20.
  CHECK(ratio.scatter(Fit::Model::kRatio) == Approx(std::sqrt(20 * (2.25 / 10 + 2.25 / 30))));
  CHECK(ratio.freedom(Fit::Model::kRatio) == 1);
}

}  // namespace lockstep::sampling
