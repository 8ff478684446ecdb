// The numbers that sampling rests on: published quantiles, least squares by normal equations, chance.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sampling/fit.hpp"
#include "sampling/options.hpp"
#include "sampling/quantile.hpp"
#include "sampling/random.hpp"
#include "util/error.hpp"

namespace lockstep::sampling {
namespace {

/// Ordinary or weighted least squares of y on the columns of x, by the normal equations, with the textbook's
/// variance of a sum over further rows: residual variance * (their weights' sum + X' (X'WX)^-1 X).
struct LeastSquares {
  static constexpr std::size_t kMaxColumns = 2;
  std::size_t columns;
  std::vector<std::array<double, kMaxColumns>> x;
  std::vector<double> y, variance;  // of each row's residual, up to a factor

  [[nodiscard]] std::array<std::array<double, kMaxColumns>, kMaxColumns> inverse() const {
    std::array<std::array<double, kMaxColumns>, kMaxColumns> m{};
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t i = 0; i < columns; ++i)
        for (std::size_t j = 0; j < columns; ++j) m[i][j] += x[r][i] * x[r][j] / variance[r];
    if (columns == 1) return {{{1 / m[0][0], 0}, {0, 0}}};
    const double d = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    return {{{m[1][1] / d, -m[0][1] / d}, {-m[1][0] / d, m[0][0] / d}}};
  }

  [[nodiscard]] Prediction sum_over(const std::array<double, kMaxColumns>& total,
                                    double total_variance) const {
    const auto m = inverse();
    std::array<double, kMaxColumns> xy{}, b{};
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t i = 0; i < columns; ++i) xy[i] += x[r][i] * y[r] / variance[r];
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j < columns; ++j) b[i] += m[i][j] * xy[j];
    double squares = 0, value = 0, error = total_variance;
    for (std::size_t r = 0; r < x.size(); ++r) {
      double predicted = 0;
      for (std::size_t i = 0; i < columns; ++i) predicted += b[i] * x[r][i];
      squares += (y[r] - predicted) * (y[r] - predicted) / variance[r];
    }
    for (std::size_t i = 0; i < columns; ++i) {
      value += b[i] * total[i];
      for (std::size_t j = 0; j < columns; ++j) error += total[i] * m[i][j] * total[j];
    }
    return {value, squares / static_cast<double>(x.size() - columns) * error};
  }
};

std::string refusal(const std::string& text) {
  try {
    (void)parse_options(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("quantiles of Student's distribution are those of the printed tables") {
  // R. A. Fisher and F. Yates, "Statistical Tables", table III; two-sided.
  struct Row {
    double freedom, p90, p95, p99;
  };
  const Row rows[] = {{1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925},  {5, 2.015, 2.571, 4.032},
                      {10, 1.812, 2.228, 3.169},  {30, 1.697, 2.042, 2.750}, {120, 1.658, 1.980, 2.617}};
  for (const Row& row : rows) {
    INFO(row.freedom);
    CHECK(student_t(0.90, row.freedom) == Approx(row.p90).margin(0.0006));
    CHECK(student_t(0.95, row.freedom) == Approx(row.p95).margin(0.0006));
    CHECK(student_t(0.99, row.freedom) == Approx(row.p99).margin(0.0006));
  }
  CHECK(student_t(0.95, 1e9) == Approx(1.959964).margin(1e-5));  // the normal distribution's
}

TEST_CASE("predictions and their variances are those of least squares by the normal equations") {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 20);
  for (int round = 0; round < 200; ++round) {
    const bool equal = round % 3 == 0;
    const std::size_t units = equal            ? 4 + random() % 10
                              : round % 3 == 1 ? 4 + random() % 10
                                               : 2 + random() % 2;
    Fit fit;
    LeastSquares reference{equal ? 1u : units >= 4 ? 2u : 1u, {}, {}, {}};
    for (std::size_t u = 0; u < units; ++u) {
      const double size =
          equal ? 500 : 100 + static_cast<double>(random() % 5000) + 10000 * static_cast<double>(u);
      Measures measures{};
      measures[0] = 1000 + 2 * size + noise(random);
      fit.add(size, measures);
      const bool ratio = !equal && units < 4;
      reference.x.push_back(ratio ? std::array{size, 0.0} : std::array{1.0, size});
      reference.y.push_back(measures[0]);
      reference.variance.push_back(ratio ? size : 1);
    }
    Unseen unseen;
    std::array<double, 2> total{};
    for (std::size_t u = 1 + random() % 20; u > 0; --u) {
      const double size = equal ? 500 : 100 + static_cast<double>(random() % 9000);
      unseen.add(size);
      total[0] += 1;
      total[1] += size;
    }
    const Fit::Model model = fit.model();
    REQUIRE(model == (equal ? Fit::Model::kMean : units >= 4 ? Fit::Model::kLinear : Fit::Model::kRatio));
    const Prediction found = fit.predict(model, 0, unseen);
    const Prediction expected = model == Fit::Model::kRatio ? reference.sum_over({total[1], 0}, total[1])
                                                            : reference.sum_over(total, total[0]);
    REQUIRE(found.value == Approx(expected.value).epsilon(1e-9));
    REQUIRE(found.variance == Approx(expected.variance).epsilon(1e-6));
  }
}

TEST_CASE("choices depend on seed, purpose and number, and are even") {
  std::array<unsigned, 7> counts{};
  for (std::uint64_t n = 0; n < 70000; ++n) ++counts[choose_below(7, 3, 5, n)];
  double chi = 0;
  for (const unsigned count : counts) chi += std::pow(count - 10000.0, 2) / 10000;
  CHECK(chi < 22.46);  // the 0.1 % point of chi-squared with six degrees of freedom
  CHECK(choose_below(1, 9, 9, 9) == 0);
  unsigned same = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const auto base = choose_below(1000, 1, 1, n);
    same += base == choose_below(1000, 2, 1, n);
    same += base == choose_below(1000, 1, 2, n);
    REQUIRE(base == choose_below(1000, 1, 1, n));
  }
  CHECK(same < 20);
}

TEST_CASE("options of sampling that are refused say what was found and what was expected") {
  const auto no = [](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK(refusal(text) == "--sample: " + message);
  };
  no("", "found '', expected NAME=VALUE, such as error=2%,confidence=95%");
  no("error", "found 'error', expected NAME=VALUE, such as error=2%,confidence=95%");
  no("error=2%,", "found '', expected NAME=VALUE, such as error=2%,confidence=95%");
  no("errors=2%", "found 'errors', expected error, confidence, seed or warm-up");
  no("error=", "error is '', expected 0.1% to 50%");
  no("error=0", "error is '0', expected 0.1% to 50%");
  no("error=51%", "error is '51%', expected 0.1% to 50%");
  no("error=nan", "error is 'nan', expected 0.1% to 50%");
  no("error=2%%", "error is '2%%', expected 0.1% to 50%");
  no("confidence=0.4", "confidence is '0.4', expected 50% to 99.9%");
  no("seed=-1", "seed is '-1', expected a whole number up to 18446744073709551615");
  no("seed=18446744073709551616",
     "seed is '18446744073709551616', expected a whole number up to 18446744073709551615");
  no("warm-up=1001", "warm-up is '1001', expected a whole number up to 1000");
  no("warm-up=1.5", "warm-up is '1.5', expected a whole number up to 1000");
  const Options options = parse_options("error=0.5%,confidence=0.9,seed=18446744073709551615,warm-up=1000");
  CHECK(options.error == Approx(0.005));
  CHECK(options.confidence == Approx(0.9));
  CHECK(options.seed == ~std::uint64_t{0});
  CHECK(options.warm_up == 1000);
}

}  // namespace lockstep::sampling
