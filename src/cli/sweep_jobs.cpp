#include "cli/sweep_jobs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "cli/cli.hpp"
#include "cli/run_options.hpp"
#include "cli/trace_argument.hpp"
#include "config/config.hpp"
#include "config/value.hpp"
#include "stats/text.hpp"
#include "trace/content_hash.hpp"
#include "util/error.hpp"
#include "util/version.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using study::PlannedRun;
using study::Study;

/// Options of `run` and `exec` that `lockstep sweep` gives itself, that change no result, or that simulate
/// nothing.
constexpr std::array<std::string_view, 23> kNotOfStudies{
    "config",   "c",        "set",    "out",        "o",      "quiet",      "q",       "threads",
    "t",        "device",   "launch", "help",       "window", "shuffle",    "no-skip", "schedule",
    "work-log", "timeline", "record", "functional", "json",   "checkpoint", "resume"};

void check_options(const PlannedRun& run) {
  for (const auto& [name, value] : run.settings.options)
    if (std::ranges::find(kNotOfStudies, name) != kNotOfStudies.end())
      throw UserError(
          fmt::format("option '{}' is not for studies: it is given by `lockstep sweep`, or by a key of "
                      "the study, or changes no result",
                      name));
}

std::string hash_text(const std::string& text) {
  trace::ContentHash hash;
  hash.update(text.data(), text.size());
  return stats::hex16(hash.value());
}

std::string file_hash(const std::string& path) { return stats::hex16(trace::hash_file(path)); }

/// A line of an identity has one part, whatever is in it.
std::string as_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\') line += '\\';
    line.append(c == '\n' ? "\\n" : std::string(1, c));
  }
  return line;
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// As a shell finds it.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_file(name)) return name;
    throw UserError(fmt::format("program {}: no such file", name));
  }
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : config::split(path == nullptr ? "" : path, ':')) {
    const std::string candidate = fmt::format("{}/{}", folder, name);
    if (is_file(candidate) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw UserError(fmt::format("program {}: not in PATH; one beside the study is ./{}", name, name));
}

/// What the run's arguments mean. In this process: nothing is started.
RunArguments parsed(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin() + 1, {"-q", "-t", "1", "-o", "."});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int argc = static_cast<int>(words.size());
  return *(words.front() == "exec" ? parse_exec(argc, pointers.data()) : parse_run(argc, pointers.data()));
}

/// Contents are hashed once, however many configurations they run on.
class Identities {
 public:
  explicit Identities(const Study& study) : study_(study) {}

  std::string of(const PlannedRun& run, const RunArguments& arguments) {
    const study::Workload& workload = study_.workloads[run.workload];
    auto& content = contents_[run.workload];
    if (content.empty()) content = workload.program.empty() ? trace_text(arguments) : program_text(workload);
    const gpu::RunOptions& options = arguments.options;
    std::string machine = config::to_ini(options.config);
    if (options.system) {
      machine += config::to_ini(*options.system);
      for (const config::GpuConfig& device : options.system->devices) machine += config::to_ini(device);
    }
    return fmt::format("lockstep {}\n{}gpu {}\nconfiguration {}\n{}", version(), content,
                       options.config.gpu.name, hash_text(machine), options_text(run));
  }

 private:
  static std::string trace_text(const RunArguments& arguments) {
    if (!arguments.script.empty())
      return fmt::format("ptx {}\nlaunch script {}\n", file_hash(arguments.trace),
                         file_hash(arguments.script));
    const auto trace = open(TraceArgument{arguments.trace, arguments.folders}, {.strict = arguments.strict});
    return fmt::format("trace {:016x}\n", trace->content_hash());
  }

  static std::string program_text(const study::Workload& workload) {
    std::string text = fmt::format("program {}\n", file_hash(find_program(workload.program.front())));
    for (std::size_t i = 1; i < workload.program.size(); ++i)
      text += fmt::format("argument {}\n", as_one_line(workload.program[i]));
    for (const std::string& input : workload.inputs)
      text += fmt::format("input {} {}\n", as_one_line(input), file_hash(input));
    return text;
  }

  /// By name: the order in which they are given has no meaning. Where one names a file, its content counts.
  static std::string options_text(const PlannedRun& run) {
    const std::map<std::string, std::string> options(run.settings.options.begin(),
                                                     run.settings.options.end());
    std::string text;
    for (const auto& [name, value] : options) {
      if (value == "false") continue;
      text += fmt::format("option {}={}{}\n", name, as_one_line(value),
                          is_file(value) ? " " + file_hash(value) : "");
    }
    return text;
  }

  const Study& study_;
  std::unordered_map<std::size_t, std::string> contents_;  // by workload
};

/// As the program allows it: docs/studies/checkpoint.md.
bool resumable(const Study& study, const PlannedRun& run, const RunArguments& arguments) {
  const gpu::RunOptions& options = arguments.options;
  return study.workloads[run.workload].program.empty() && arguments.script.empty() && !options.sample &&
         !(options.system && options.system->nics > 0);
}

}  // namespace

SweepJobs sweep_jobs(const Study& study) {
  SweepJobs sweep;
  sweep.runs = study::plan(study);
  Identities identities(study);
  std::unordered_map<std::string, std::size_t> known;
  for (const PlannedRun& run : sweep.runs) {
    study::Job job;
    job.arguments = study::arguments_of(study, run);
    try {
      check_options(run);
      const RunArguments arguments = parsed(job.arguments);
      job.identity = identities.of(run, arguments);
      job.resumable = resumable(study, run, arguments);
    } catch (const UserError& e) {
      throw InputError(study.file, study.workloads[run.workload].line,
                       fmt::format("{}: {}", study::description(study, run), e.what()));
    }
    job.key = study::key_of(job.identity);
    sweep.keys.push_back(job.key);
    if (!known.try_emplace(sweep.keys.back(), sweep.jobs.size()).second) continue;
    sweep.jobs.push_back(std::move(job));
    sweep.names.push_back(study::description(study, run));
  }
  return sweep;
}

}  // namespace lockstep::cli
