// The statistics of errors against published values and second implementations.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "correlate/errors.hpp"

namespace lockstep::correlate {
namespace {

/// Values that look irregular and are the same everywhere: the fractional parts of multiples of the golden
/// ratio, between 0.5 and 1.5 times the hardware's.
std::vector<Values> irregular(int count) {
  std::vector<Values> values;
  for (int i = 1; i <= count; ++i) {
    const double whole = std::floor(i * std::numbers::phi);
    values.push_back({100.0 + 7 * i, (100.0 + 7 * i) * (0.5 + i * std::numbers::phi - whole)});
  }
  return values;
}

double absolute_error(const Values& v) { return std::fabs(v.simulated / v.hardware - 1); }

/// Pearson's by sums of products: n sum xy - sum x sum y over the roots.
double pearson_by_sums(const std::vector<Values>& values) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const Values& v : values) {
    n += 1;
    x += v.hardware;
    y += v.simulated;
    xx += v.hardware * v.hardware;
    yy += v.simulated * v.simulated;
    xy += v.hardware * v.simulated;
  }
  return (n * xy - x * y) / (std::sqrt(n * xx - x * x) * std::sqrt(n * yy - y * y));
}

}  // namespace

/// Anscombe, "Graphs in Statistical Analysis", The American Statistician 27 (1973): four sets with the same
/// means (9 and 7.50) and r = 0.816 or 0.817.
TEST_CASE("Anscombe's quartet has its published correlations") {
  using Eleven = std::array<double, 11>;
  const Eleven x{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}, x4{8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8};
  const std::array<std::pair<Eleven, Eleven>, 4> sets{
      {{x, {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}},
       {x, {9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74}},
       {x, {7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73}},
       {x4, {6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89}}}};
  const std::array<double, 4> published{0.816, 0.816, 0.816, 0.817};
  for (std::size_t s = 0; s < 4; ++s) {
    std::vector<Values> values;
    for (std::size_t i = 0; i < 11; ++i) values.push_back({sets[s].first[i], sets[s].second[i]});
    CHECK(errors_of(values).correlation.value() == Approx(published[s]).margin(0.0005));
  }
}

TEST_CASE("medians and percentiles of every count are those of their definitions") {
  for (int count = 1; count <= 41; ++count) {
    INFO(count);
    const auto values = irregular(count);
    const Errors e = errors_of(values);
    // The 90th percentile: the smallest error that at least nine of ten do not exceed.
    double p90 = INFINITY, middle_low = 0, middle_high = INFINITY, sum = 0;
    for (const Values& v : values) {
      const double own = absolute_error(v);
      sum += own;
      std::int64_t below = 0, above = 0;
      for (const Values& other : values) {
        below += absolute_error(other) <= own ? 1 : 0;
        above += absolute_error(other) >= own ? 1 : 0;
      }
      if (10 * below >= 9 * count) p90 = std::min(p90, own);
      // The median's neighbours: half of the values are at most that large, and half at least.
      if (2 * above >= count) middle_low = std::max(middle_low, own);
      if (2 * below >= count) middle_high = std::min(middle_high, own);
    }
    CHECK(e.p90_absolute == Approx(p90));
    CHECK(e.median_absolute == Approx((middle_low + middle_high) / 2));
    CHECK(e.mean_absolute == Approx(sum / count));
  }
}

TEST_CASE("correlations are those of the textbook's other formula") {
  for (const int count : {2, 3, 10, 100}) {
    const auto values = irregular(count);
    const Errors e = errors_of(values);
    CHECK(e.correlation.value() == Approx(pearson_by_sums(values)));
    std::vector<Values> logarithms;
    double product = 1;
    for (const Values& v : values) {
      logarithms.push_back({std::log10(v.hardware), std::log10(v.simulated)});
      product *= std::pow(v.simulated / v.hardware, 1.0 / count);
    }
    CHECK(e.log_correlation.value() == Approx(pearson_by_sums(logarithms)));
    CHECK(e.geometric_mean.value() == Approx(product));
  }
}

TEST_CASE("the order of the values and their units change nothing") {
  auto values = irregular(23);
  const Errors before = errors_of(values);
  std::ranges::reverse(values);
  for (Values& v : values) v = {v.hardware * 1e6, v.simulated * 1e6};
  const Errors after = errors_of(values);
  CHECK(after.mean == Approx(before.mean));
  CHECK(after.median == Approx(before.median));
  CHECK(after.p90_absolute == Approx(before.p90_absolute));
  CHECK(after.maximum == Approx(before.maximum));
  CHECK(after.geometric_mean.value() == Approx(before.geometric_mean.value()));
  CHECK(after.correlation.value() == Approx(before.correlation.value()));
  CHECK(after.log_correlation.value() == Approx(before.log_correlation.value()));
}

TEST_CASE("correlations of values whose squares are no double are those of smaller ones") {
  for (const double scale : {1e-200, 1e200, 1e300}) {
    CAPTURE(scale);
    const std::vector<Values> plain = {{1, 2}, {2, 3}, {4, 9}, {7, 5}};
    std::vector<Values> scaled = plain;
    for (Values& v : scaled) v = {v.hardware * scale, v.simulated * scale};
    CHECK(errors_of(scaled).correlation.value() == Approx(errors_of(plain).correlation.value()));
  }
}

/// The mean of three times 0.1 is not 0.1 in binary: the deviations are rounding errors, and so would be r.
TEST_CASE("a side with one value only has no correlation, whatever the rounding of its mean") {
  for (const double constant : {0.1, 0.7, 3.3, 100.0})
    for (const int count : {2, 3, 6, 7, 10}) {
      INFO(constant << " " << count);
      std::vector<Values> flat_hardware, flat_simulated;
      for (int i = 1; i <= count; ++i) {
        flat_hardware.push_back({constant, 1.0 * i});
        flat_simulated.push_back({1.0 * i, constant});
      }
      for (const auto& values : {flat_hardware, flat_simulated}) {
        CHECK_FALSE(errors_of(values).correlation);
        CHECK_FALSE(errors_of(values).log_correlation);
      }
    }
}

TEST_CASE("ratios and logarithms leave out what has none, the errors keep it") {
  // 0 simulated of 100 is an error of -100 %, and has no logarithm.
  const Errors e = errors_of(std::vector<Values>{{100, 0}, {100, 400}, {50, 50}});
  CHECK(e.mean == Approx((-1 + 3 + 0) / 3.0));
  CHECK(e.maximum == 3);
  CHECK(e.geometric_mean.value() == Approx(2));  // of 4 and 1
  CHECK(e.log_correlation.value() == Approx(1));
  const Errors one = errors_of(std::vector<Values>{{4, 5}});
  CHECK(one.mean == Approx(0.25));
  CHECK(one.median_absolute == Approx(0.25));
  CHECK(one.p90_absolute == Approx(0.25));
  CHECK_FALSE(one.correlation);
}

}  // namespace lockstep::correlate
