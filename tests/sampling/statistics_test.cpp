// Formulas against tables, closed forms and brute force.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "sampling/allocation.hpp"
#include "sampling/estimate.hpp"
#include "sampling/fit.hpp"
#include "sampling/options.hpp"
#include "sampling/quantile.hpp"
#include "util/error.hpp"

namespace lockstep::sampling {
namespace {

Measures measures(double cycles, double other = 0) {
  Measures m{};
  m[0] = cycles;
  m[1] = other;
  return m;
}

Unseen unseen(std::initializer_list<double> sizes) {
  Unseen all;
  for (const double size : sizes) all.add(size);
  return all;
}

TEST_CASE(
    "Student's t as tables give it") {  // NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2
  CHECK(student_t(0.95, 1) == Approx(12.706).margin(0.001));
  CHECK(student_t(0.95, 5) == Approx(2.571).margin(0.001));
  CHECK(student_t(0.95, 30) == Approx(2.042).margin(0.001));
  CHECK(student_t(0.90, 10) == Approx(1.812).margin(0.001));
  CHECK(student_t(0.98, 4) == Approx(3.747).margin(0.001));
  CHECK(student_t(0.95, 2.5) < student_t(0.95, 2));
  CHECK(student_t(0.95, 2.5) > student_t(0.95, 3));
}

TEST_CASE("Options are read, and what is not one is refused") {
  const Options options = parse_options("error=5%,confidence=0.9,seed=7,warm-up=0");
  CHECK(options.error == Approx(0.05));
  CHECK(options.confidence == Approx(0.9));
  CHECK(options.seed == 7);
  CHECK(options.warm_up == 0);
  CHECK(parse_options("error=2%").confidence == Approx(0.95));
  for (const char* wrong :
       {"", "error", "error=", "error=0", "error=2%%", "error=nan", "error=inf", "error=-2%",
        "confidence=100%", "seed=-1", "seed=1.5", "warm-up=1001", "eror=2%", "error=2%,", ",error=2%"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_options(wrong), UserError);
  }
}

TEST_CASE("Equal sizes: the mean, with the finite population correction") {
  Fit fit;
  const double y[] = {10, 14, 9, 11};
  for (const double v : y) fit.add(100, measures(v));
  REQUIRE(fit.model() == Fit::Model::kMean);
  const double n = 4, big = 30, mean = 11, s2 = (1 + 9 + 4 + 0) / 3.0;
  Unseen rest;
  for (int i = 0; i < 26; ++i) rest.add(100);
  const Prediction p = fit.predict(Fit::Model::kMean, 0, rest);
  CHECK(p.value == Approx(26 * mean));
  // Cochran, "Sampling Techniques", 3rd edition, theorem 2.2: N^2 s^2 / n (1 - n / N).
  CHECK(p.variance == Approx(big * big * s2 / n * (1 - n / big)));
  CHECK(fit.predict(Fit::Model::kMean, 0, {}).variance == 0);
  CHECK(fit.freedom(Fit::Model::kMean) == 3);
}

TEST_CASE("A straight line is predicted exactly; its interval is a textbook's") {
  Fit exact;
  for (const double x : {10., 20., 40., 80.}) exact.add(x, measures(5 + 3 * x, 2 * x));
  REQUIRE(exact.model() == Fit::Model::kLinear);
  const Prediction p = exact.predict(Fit::Model::kLinear, 0, unseen({100, 7}));
  CHECK(p.value == Approx(10 + 3 * 107));
  CHECK(p.variance == 0);
  CHECK(exact.predict(Fit::Model::kLinear, 1, unseen({100, 7})).value == Approx(214));

  Fit fit;  // of one further unit: s^2 (1 + 1/n + (x - mean)^2 / Sxx), by hand
  const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 4, 5, 4, 5};
  for (int i = 0; i < 5; ++i) fit.add(x[i], measures(y[i]));
  const Prediction one = fit.predict(Fit::Model::kLinear, 0, unseen({6}));
  CHECK(one.value == Approx(2.2 + 0.6 * 6));
  CHECK(one.variance == Approx(2.4 / 3 * (1 + 1.0 / 5 + 9.0 / 10)));
}

TEST_CASE("A ratio's variance grows with the size") {
  Fit fit;
  const double x[] = {10, 30}, y[] = {21, 57};
  for (int i = 0; i < 2; ++i) fit.add(x[i], measures(y[i]));
  const double b = 78.0 / 40, s2 = (21 - 10 * b) * (21 - 10 * b) / 10 + (57 - 30 * b) * (57 - 30 * b) / 30;
  REQUIRE(fit.model() == Fit::Model::kRatio);
  const Prediction p = fit.predict(Fit::Model::kRatio, 0, unseen({50, 50}));
  CHECK(p.value == Approx(100 * b));
  CHECK(p.variance == Approx(s2 * (100 + 100 * 100 / 40.0)));
}

TEST_CASE("Optimum allocation reaches the variance, and no cheaper one does") {
  const Stratum strata[] = {{40, 3, 1}, {25, 8, 4}};
  constexpr double kVariance = 900;
  const auto variance = [&](double a, double b) {
    return 40 * 40 * 9 / a * (1 - a / 40) + 25 * 25 * 64 / b * (1 - b / 25);
  };
  const auto n = allocate(strata, kVariance);
  const auto cost = [](double a, double b) { return a + 4 * b; };
  CHECK(variance(static_cast<double>(n[0]), static_cast<double>(n[1])) <= kVariance);
  double best = 1e9;
  for (int a = 1; a <= 40; ++a)
    for (int b = 1; b <= 25; ++b)
      if (variance(a, b) <= kVariance) best = std::min(best, cost(a, b));
  CHECK(cost(static_cast<double>(n[0]), static_cast<double>(n[1])) <= best + 5);  // both were rounded up
  CHECK(allocate(strata, 0) == std::vector<std::uint64_t>{40, 25});
  const Stratum constant[] = {{10, 0, 1}};
  CHECK(allocate(constant, 0)[0] == 0);
}

TEST_CASE("Sums of estimates: Satterthwaite's degrees of freedom") {
  EstimatedSum sum;
  sum.add({100, 4}, 3, 0.4);
  sum.add({50, 0}, 0, 0.25);
  sum.add({20, 4}, 3, 0.1);
  const Estimate e = sum.estimate(0.95);
  CHECK(e.value == Approx(170));
  CHECK(e.half_width == Approx(student_t(0.95, 6) * std::sqrt(8) + 0.75));
  EstimatedSum exact;
  exact.add({5, 0}, 0, 0);
  CHECK(exact.estimate(0.95).half_width == 0);
}

}  // namespace
}  // namespace lockstep::sampling
