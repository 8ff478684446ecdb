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
  bool resumable = false;              // it may have --checkpoint and --resume: a run that is cut off goes on
};

struct RunnerOptions {
  std::string program;   // this one
  unsigned jobs = 1;     // processes at a time
  unsigned threads = 1;  // of each
  /// The signal that has asked for an end, which the processes are to get; 0: none has.
  std::function<int()> signal;
  /// After the end of jobs[i], in the order of their ends.
  std::function<void(std::size_t job, const Stored& stored, double seconds)> ended;
};

/// Runs the jobs, in their order, into the store. Those whose lock another process has are passed over. After
/// a signal no more are started, those under way are told of it once and waited for. A job that does not end
/// well leaves its error in the store and no other job is the worse. Throws UserError when no process can be
/// started or nothing can be written.
void run_jobs(const RunStore& store, const std::vector<Job>& jobs, const RunnerOptions& options);

}  // namespace lockstep::study
