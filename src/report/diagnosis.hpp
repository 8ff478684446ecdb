// Names what bounds a kernel and a run.
//
// Rules are tried in the order of their table (diagnosis.cpp), where each stands with its threshold and the
// reason for it; the first that applies is the bottleneck, the others that apply are further findings.
#pragma once

#include <string>
#include <vector>

#include "report/run.hpp"
#include "report/usage.hpp"

namespace lockstep::report {

struct Finding {
  std::string key;     // for programs: "dram", "pipe.fp64", "shared_conflicts" ...
  std::string title;   // for people: "DRAM bandwidth"
  std::string why;     // a sentence with the numbers that show it
  std::string advice;  // a sentence
};

struct Diagnosis {
  Finding bound;
  std::vector<Finding> also;  // the most important first
};

/// The effect of managed memory on all kernels of the run together; 0 without it.
struct Paging {
  double faults = 0;
  double link_busy = 0;  // share of the kernels' cycles in which the link to the device carried data
};
[[nodiscard]] Paging paging_of(const Run& run);

[[nodiscard]] Diagnosis diagnose(const Usage& usage, const Values& kernel, const Paging& paging);

/// How the run's time is divided. Shares of total_cycles, which they add up to.
struct TimeShares {
  double kernels = 0;  // at least one kernel runs
  double copies = 0;   // no kernel, but at least one copy
  double rest = 0;     // neither: launch floors, the host, waiting
};
[[nodiscard]] TimeShares time_shares(const Run& run);

/// What takes most of the run's time: "kernels", "host_link" (copies) or "launch".
[[nodiscard]] Finding diagnose_run(const Run& run);

}  // namespace lockstep::report
