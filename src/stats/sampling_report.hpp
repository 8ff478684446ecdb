// What a run by samples says of its estimates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::stats {

struct SamplingReport {
  /// An estimate and half the width of its interval.
  struct Quantity {
    double value = 0, half_width = 0;
  };
  /// Launches that are alike.
  struct Group {
    std::string name;            // of the kernel
    std::uint64_t first_id = 0;  // of its first launch
    std::uint64_t launches = 0, timed = 0;
    double instructions = 0;  // warp instructions of all its launches
    std::string model;        // "linear", "mean", "ratio": sampling::Fit
    Quantity cycles;          // of all its launches
  };

  double error = 0, confidence = 0;  // as asked for
  std::uint64_t seed = 0, warm_up = 0;
  std::uint64_t launches = 0, launches_timed = 0, ctas = 0, ctas_timed = 0;
  bool overlap = false;            // kernels ran beside one another
  Quantity cycles;                 // summed over kernels
  std::vector<Quantity> counters;  // likewise, in the order of descriptors()
  std::vector<Group> groups;       // in the order of their first launches
};

}  // namespace lockstep::stats
