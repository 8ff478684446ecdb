// A study as an array of SLURM jobs, each of which runs one of its runs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lockstep::study {

struct ArrayOptions {
  std::vector<std::string> task;    // the command that a task calls; its number is appended
  std::string folder;               // of the study's results: takes array.sbatch and logs/
  unsigned threads = 1;             // cores of a task
  std::vector<std::string> sbatch;  // the user's options for sbatch, which override those of the script
};

/// "1,3-7" of ascending numbers.
[[nodiscard]] std::string ranges(std::span<const std::size_t> numbers);

/// The job script. Its argument is to be added to the array's index.
[[nodiscard]] std::string array_script(const ArrayOptions& options);

/// Writes the script and calls sbatch, once for each thousand of the numbers (SLURM's default MaxArraySize
/// allows indices up to 1000). `tasks`: ascending, from 1. Throws UserError if sbatch does not exist or
/// fails.
void submit_array(const ArrayOptions& options, std::span<const std::size_t> tasks);

}  // namespace lockstep::study
