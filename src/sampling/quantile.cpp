#include "sampling/quantile.hpp"

#include <boost/math/distributions/students_t.hpp>

namespace lockstep::sampling {

double student_t(double confidence, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), 0.5 + confidence / 2);
}

}  // namespace lockstep::sampling
