#include "correlate/errors.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace lockstep::correlate {

TEST_CASE("errors of four values, by hand") {
  // (simulated - hardware) / hardware: +0.10, -0.20, +0.50, 0.
  const std::vector<Values> values{{100, 110}, {200, 160}, {400, 600}, {800, 800}};
  const Errors e = errors_of(values);
  CHECK(e.count == 4);
  CHECK(e.zeros == 0);
  CHECK(e.mean == Approx(0.40 / 4));
  CHECK(e.median == Approx(0.05));  // between 0 and 0.1
  CHECK(e.mean_absolute == Approx(0.80 / 4));
  CHECK(e.median_absolute == Approx(0.15));  // between 0.1 and 0.2
  CHECK(e.p90_absolute == Approx(0.5));
  CHECK(e.maximum == Approx(0.5));
  // (1.1 * 0.8 * 1.5 * 1)^(1/4) = 1.32^(1/4) = 1.071872...
  CHECK(e.geometric_mean.value() == Approx(1.0718725).epsilon(1e-6));
  // Means 375 and 417.5. Deviations -275 -175 25 425 and -307.5 -257.5 182.5 382.5:
  // products 84562.5 + 45062.5 + 4562.5 + 162562.5 = 296750; squares 287500 and 340475.
  CHECK(e.correlation.value() == Approx(296750 / std::sqrt(287500.0 * 340475.0)));
  // In units of ln 2 the hardware is 0, 1, 2, 3 beside a constant: deviations -1.5, -0.5, 0.5, 1.5,
  // squares 5.
  const double y[] = {std::log(110), std::log(160), std::log(600), std::log(800)};
  const double mean = (y[0] + y[1] + y[2] + y[3]) / 4;
  const double xy = -1.5 * y[0] - 0.5 * y[1] + 0.5 * y[2] + 1.5 * y[3];
  const double yy = (y[0] - mean) * (y[0] - mean) + (y[1] - mean) * (y[1] - mean) +
                    (y[2] - mean) * (y[2] - mean) + (y[3] - mean) * (y[3] - mean);
  CHECK(e.log_correlation.value() == Approx(xy / std::sqrt(5 * yy)));
}

TEST_CASE("the maximum keeps its sign, the ninth of ten errors is the 90th percentile") {
  std::vector<Values> values;
  for (int i = 1; i <= 10; ++i) values.push_back({100, 100.0 - i});
  const Errors e = errors_of(values);
  CHECK(e.maximum == Approx(-0.10));
  CHECK(e.p90_absolute == Approx(0.09));
  CHECK(e.median == Approx(-0.055));
  CHECK(!e.correlation);  // the hardware has but one value
}

TEST_CASE("what hardware has none of has no error") {
  const Errors e = errors_of(std::vector<Values>{{0, 5}, {10, 0}, {10, 20}});
  CHECK(e.count == 3);
  CHECK(e.zeros == 1);
  CHECK(e.mean == Approx(0));                    // -1 and +1
  CHECK(e.geometric_mean.value() == Approx(2));  // of the one that both have
  const Errors none = errors_of(std::vector<Values>{{0, 5}});
  CHECK(none.zeros == 1);
  CHECK(!none.geometric_mean);
  CHECK(errors_of({}).count == 0);
}

TEST_CASE("proportional values correlate perfectly, opposite ones negatively") {
  CHECK(errors_of(std::vector<Values>{{1, 2}, {2, 4}, {5, 10}}).correlation.value() == Approx(1));
  CHECK(errors_of(std::vector<Values>{{1, 3}, {2, 2}, {3, 1}}).correlation.value() == Approx(-1));
  CHECK(errors_of(std::vector<Values>{{1, 1}, {10, 100}, {100, 10000}}).log_correlation.value() == Approx(1));
}

}  // namespace lockstep::correlate
