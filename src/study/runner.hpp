// Runs of a study as processes of this program, several at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "study/run_store.hpp"

namespace lockstep::study {

struct Job {
  std::string key, identity;
  std::vector<std::string> arguments;  // as plan.hpp's arguments_of()
  bool resumable = false;              // it may have --checkpoint and --resume: an interrupted run is resumed
};

struct RunnerOptions {
  std::string program;   // this one
  unsigned jobs = 1;     // processes at a time
  unsigned threads = 1;  // of each
  /// The signal that has requested an end, to be passed on to the processes; 0 if there was none.
  std::function<int()> signal;
  /// After the end of jobs[i], in the order of their ends.
  std::function<void(std::size_t job, const Stored& stored, double seconds)> ended;
};

/// Runs the jobs, in their order, into the store. Those locked by another process are skipped. After
/// a signal no more are started; running ones get the signal once and are waited for. The error of
/// a failed job goes to the store and does not affect other jobs. Throws UserError if no process can be
/// started or nothing can be written.
void run_jobs(const RunStore& store, const std::vector<Job>& jobs, const RunnerOptions& options);

}  // namespace lockstep::study
