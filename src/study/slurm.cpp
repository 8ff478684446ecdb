#include "study/slurm.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "stats/files.hpp"
#include "study/requeue_script.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

constexpr std::size_t kChunk = 1000;

/// For a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text.append(c == '\'' ? "'\\''" : std::string(1, c));
  return text + "'";
}

void call_sbatch(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t id = 0;
  const int error = posix_spawnp(&id, "sbatch", nullptr, nullptr, pointers.data(), environ);
  if (error != 0)
    throw UserError(fmt::format("sbatch: {}; expected SLURM's commands in PATH", std::strerror(error)));
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw UserError("sbatch refused the array; nothing of it was submitted");
}

}  // namespace

std::string ranges(std::span<const std::size_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string array_script(const ArrayOptions& options) {
  std::string command;
  for (const std::string& word : options.task) command += quoted(word) + " ";
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# Written by `lockstep sweep --slurm`. A task of the array: array.sbatch OFFSET\n"
      "#SBATCH --job-name=lockstep\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task={}\n#SBATCH --mem=2G\n"
      "#SBATCH --time=1-00:00:00\n"
      "# Ten minutes before the time limit: the state is kept after the running kernel, and the task is "
      "queued "
      "again.\n"
      "#SBATCH --signal=B:USR1@600\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
      "set -euo pipefail\n{}run_and_requeue {}$((SLURM_ARRAY_TASK_ID + $1))\n",
      options.threads, kRequeueScript, command);
}

void submit_array(const ArrayOptions& options, std::span<const std::size_t> tasks) {
  const std::string script = options.folder + "/array.sbatch";
  stats::make_folder(options.folder + "/logs");
  stats::write_file(script, array_script(options));
  for (std::size_t first = 0; first < tasks.size();) {
    const std::size_t offset = (tasks[first] - 1) / kChunk * kChunk;
    std::vector<std::size_t> indices;
    for (; first < tasks.size() && tasks[first] <= offset + kChunk; ++first)
      indices.push_back(tasks[first] - offset);
    std::vector<std::string> words{"sbatch", "--array=" + ranges(indices),
                                   "--output=" + options.folder + "/logs/%A_%a.log"};
    words.insert(words.end(), options.sbatch.begin(), options.sbatch.end());
    words.insert(words.end(), {script, std::to_string(offset)});
    call_sbatch(std::move(words));
  }
}

}  // namespace lockstep::study
