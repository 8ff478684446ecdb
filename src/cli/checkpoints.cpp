#include "cli/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/cli.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "config/config.hpp"
#include "trace/content_hash.hpp"
#include "util/archive.hpp"
#include "util/console.hpp"
#include "util/error.hpp"
#include "util/version.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

constexpr std::string_view kEvery = ",every=";
constexpr std::uint64_t kMaxOfUnit = 1'000'000;  // hours, at most: milliseconds still have room

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::string hash_of(std::string_view text) {
  trace::ContentHash hash;
  hash.update(text.data(), text.size());
  return hex(hash.value());
}

std::string configuration(const gpu::RunOptions& options) {
  std::string text = config::to_ini(options.config);
  if (!options.system) return hash_of(text);
  text += config::to_ini(*options.system);
  for (const config::GpuConfig& device : options.system->devices) text += config::to_ini(device);
  return hash_of(text);
}

/// The options that change what is simulated or what is kept of it.
std::string chosen(const gpu::RunOptions& options) {
  std::string text = fmt::format("max-cycles {}, interval {}, profile {}, timeline {}, managed {}",
                                 options.max_cycles, options.interval, options.profile, options.timeline,
                                 static_cast<unsigned>(options.managed.kind));
  for (const auto& [first, bytes] : options.managed.ranges) text += fmt::format(" {:#x}+{}", first, bytes);
  text += fmt::format(", gpu-memory {} {}, kernels", options.managed.memory.bytes,
                      options.managed.memory.millionths);
  for (const auto& [first, last] : options.kernels) text += fmt::format(" {}-{}", first, last);
  return text;
}

/// States are in the memory's form, which another build of the program may not have.
checkpoint::MadeFrom made_from(const trace::TraceSet& trace, const gpu::RunOptions& options) {
  return {{"build of lockstep", fmt::format("{} {}", version(), hex(trace::hash_file("/proc/self/exe")))},
          {"trace", hex(trace.content_hash())},
          {"configuration", configuration(options)},
          {"choice of options", chosen(options)}};
}

}  // namespace

void add_checkpoint_options(po::options_description& options) {
  options.add_options()("checkpoint", po::value<std::string>(),
                        "FOLDER[,every=10min]: write the state of the run there between kernels, for "
                        "--resume; also on SIGTERM, "
                        "SIGUSR1 and the like, and then end; see docs/studies/checkpoint.md")(
      "resume", po::value<std::string>(),
      "resume from this checkpoint, or from the newest one in this folder; with the same other options");
}

std::chrono::milliseconds parse_every(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::chrono::milliseconds time;
  };
  static constexpr Unit kUnits[] = {
      {"min", std::chrono::minutes(1)}, {"h", std::chrono::hours(1)}, {"s", std::chrono::seconds(1)}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const std::string_view number = text.substr(0, text.size() - unit.name.size());
    return parse_number("--checkpoint every", number, 0, kMaxOfUnit) * unit.time;
  }
  throw UserError(
      fmt::format("--checkpoint every: found '{}', expected a time such as 90s, 10min or 2h", text));
}

CheckpointArguments checkpoint_arguments(std::string_view command, const po::variables_map& values) {
  CheckpointArguments arguments;
  if (values.count("checkpoint")) {
    const auto& text = values["checkpoint"].as<std::string>();
    const std::size_t every = text.find(kEvery);
    if (const std::size_t comma = text.rfind(','); every == std::string::npos && comma != std::string::npos &&
                                                   text.find('=', comma) != std::string::npos)
      throw UserError(fmt::format("--checkpoint: found '{}', expected FOLDER[,every=TIME]", text));
    arguments.folder = text.substr(0, every);
    if (every != std::string::npos)
      arguments.every = parse_every(std::string_view(text).substr(every + kEvery.size()));
    if (arguments.folder.empty()) throw UserError("--checkpoint: the folder's name is empty");
  }
  if (values.count("resume")) {
    arguments.resume = values["resume"].as<std::string>();
    if (arguments.resume.empty()) throw UserError("--resume: the folder's name is empty");
  }
  if (!arguments.any()) return arguments;
  const std::string_view option = arguments.folder.empty() ? "--resume" : "--checkpoint";
  if (command != "run" || values.count("launch"))
    throw UserError(fmt::format(
        "{}: a program that runs cannot be kept; expected its trace: `lockstep record FILE.lst -- PROGRAM`, "
        "then `lockstep run FILE.lst {} ...`",
        option, option));
  if (values.count("sample"))
    throw UserError(
        fmt::format("{}: found --sample with it; the choice of a run by samples is not kept", option));
  return arguments;
}

Checkpoints::Checkpoints(const CheckpointArguments& arguments, const trace::TraceSet& trace,
                         gpu::RunOptions& options, bool quiet)
    : arguments_(arguments), due_(Clock::now() + arguments.every) {
  current_.made_from = made_from(trace, options);
  std::string resumed;
  if (!arguments_.resume.empty()) {
    checkpoint::Found found = checkpoint::read(arguments_.resume);
    checkpoint::check_made_from(found.checkpoint, current_.made_from, found.file);
    current_ = std::move(found.checkpoint);
    resumed = std::move(found.file);
    options.checkpoint.resume = current_.state;
    if (!quiet) print_err("lockstep: continues after {} kernels, from {}\n", current_.kernels, resumed);
  }
  if (arguments_.folder.empty()) return;
  check_folder(resumed);
  checkpoint::prepare(arguments_.folder);
  options.checkpoint.decide = [this](std::uint64_t kernels) { return decide(kernels); };
  options.checkpoint.keep = [this](std::string_view state, std::uint64_t kernels) {
    return keep(state, kernels);
  };
  let_signals_ask_for_checkpoints();
}

/// Checkpoints of another run would be taken for this one's.
void Checkpoints::check_folder(const std::string& resumed_file) {
  const std::vector<std::string> there = checkpoint::list(arguments_.folder);
  if (there.empty()) return;
  std::error_code ignored;
  if (resumed_file.empty())
    throw UserError(fmt::format(
        "--checkpoint: {} has checkpoints already; expected --resume {} with it, or another folder",
        arguments_.folder, arguments_.folder));
  if (!std::filesystem::equivalent(there.front(), resumed_file, ignored))
    throw UserError(
        fmt::format("--checkpoint: {} has {}, and --resume continues from {}; expected the same, or "
                    "another folder",
                    arguments_.folder, there.front(), resumed_file));
  written_ = true;
}

Checkpoints::Decision Checkpoints::decide(std::uint64_t kernels) {
  const bool asked = checkpoint_asked();
  if (kernels > current_.kernels) {
    if (!asked && Clock::now() < due_) return Decision::kNone;
    waiting_ = true;
    return Decision::kKeep;
  }
  if (!asked || !written_) return Decision::kNone;
  stopped_ = true;
  return Decision::kStop;  // nothing is lost that could be kept
}

bool Checkpoints::keep(std::string_view state, std::uint64_t kernels) {
  try {
    checkpoint::add(arguments_.folder, {current_.made_from, kernels, std::string(state)});
    written_ = true;
    waiting_ = false;
    stopped_ = checkpoint_asked();
  } catch (const UserError& error) {
    if (!warned_) print_err("lockstep: warning: {}; the run continues\n", error.what());
    warned_ = true;
  }
  current_.kernels = kernels;
  due_ = Clock::now() + arguments_.every;
  return stopped_;
}

gpu::RunResult Checkpoints::run(const trace::TraceSet& trace, const gpu::RunOptions& options) const {
  try {
    return gpu::simulate(trace, options);
  } catch (const ArchiveError& error) {
    throw InputError(arguments_.resume, 0, fmt::format("is of no use here: {}", error.what()));
  }
}

int Checkpoints::end(int code) {
  if (waiting_ && !written_ && !warned_)
    print_err(
        "lockstep: warning: no checkpoint could be written: there was no time without a running kernel\n");
  if (code == kDone && !arguments_.folder.empty()) checkpoint::clear(arguments_.folder);
  if (!stopped_ || code != kInterrupted) return code;
  print_err("lockstep: stopped after {} kernels; the same command with --resume {} continues\n",
            current_.kernels, arguments_.folder);
  return kCheckpointed;
}

}  // namespace lockstep::cli
