#include "cli/ranked.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/cli.hpp"
#include "cli/interrupt.hpp"
#include "cli/library_folders.hpp"
#include "config/config.hpp"
#include "gpu/rank_map.hpp"
#include "gpu/ranked_run.hpp"
#include "ranks/mpi_group.hpp"
#include "util/console.hpp"
#include "util/error.hpp"
#include "util/version.hpp"

namespace lockstep::cli {
namespace {

int code_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OutputError&) {
    return kOutputLost;
  } catch (const UserError&) {
    return kBadInput;
  } catch (...) {
    return kInternalError;
  }
}

/// Its output would be that of the first rank once more.
void be_silent() {
  if (std::freopen("/dev/null", "w", stdout) == nullptr) throw OutputError("/dev/null cannot be opened");
}

/// Everything that results depend on.
std::string description(const RunArguments& arguments, const trace::TraceSet& trace) {
  const gpu::RunOptions& options = arguments.options;
  std::string text = fmt::format("version: {}\ntrace: {} with content {:016x}\n", version(), trace.name(),
                                 trace.content_hash());
  text += fmt::format("--max-cycles: {}\n--interval: {}\n--timeline: {}\n", options.max_cycles,
                      options.interval, options.timeline);
  for (const auto& [first, last] : options.kernels) text += fmt::format("--kernels: {}-{}\n", first, last);
  for (const sim::Rank rank : options.rank_map) text += fmt::format("rank of a node: {}\n", rank);
  for (const config::GpuConfig& device : options.system->devices)
    text += fmt::format("device: {} with configuration {:016x}\n", device.gpu.name, config::hash(device));
  return text + "system: " + config::to_ini(*options.system);
}

}  // namespace

int as_rank(const std::function<int(ranks::Group*)>& command) {
  const std::unique_ptr<ranks::Group> group = ranks::join_mpi(library_folders());
  if (!group) return command(nullptr);
  group->set_interrupted([] { return interrupted(); });
  try {
    if (group->rank() != 0) {
      be_silent();
      announce_interrupts(false);
    }
    const auto code = static_cast<std::uint64_t>(command(group.get()));
    const ranks::Gathered gathered = group->exchange({ranks::Topic::kEnd, 0, code});
    return static_cast<int>(gathered.notices[0].flags);
  } catch (const ranks::Failed& failed) {
    if (group->rank() == 0) print_err("lockstep: error: {}\n", failed.what());
    group->part();
    return failed.code();
  } catch (...) {
    const int code = code_of(std::current_exception());
    if (group->fail(code)) print_error(std::current_exception());
    group->part();
    return code;
  }
}

void prepare_rank(RunArguments& arguments, const trace::TraceSet& trace, ranks::Group& group) {
  gpu::RunOptions& options = arguments.options;
  if (arguments.checkpoints.any())
    throw UserError("--checkpoint, --resume: several processes (mpirun) keep no state; expected one process");
  if (!options.system)
    throw UserError(
        fmt::format("{} processes for one {}; expected a system of several devices (-c SYSTEM, "
                    "--gpus N)",
                    group.size(), options.config.gpu.name));
  options.group = &group;
  const std::string& map = arguments.ranks_map;
  options.rank_map = map == "auto" ? gpu::spread(*options.system, group.size())
                                   : gpu::read_rank_map(map, *options.system, group.size());
  gpu::check_same(group, description(arguments, trace));
  if (group.rank() == 0) return;
  arguments.quiet = true;
  arguments.json = arguments.accelsim_stats = false;
  arguments.out.clear();
  arguments.timeline.clear();
  arguments.work_log.clear();
}

bool refuse_ranks(const std::string& command, const std::string& instead) {
  const auto refuse = [&](ranks::Group* group) {
    if (group == nullptr) return kDone;
    throw UserError(fmt::format("{}: started as {} processes (mpirun, srun), which it cannot share; {}",
                                command, group->size(), instead));
  };
  return as_rank(refuse) != kDone;
}

}  // namespace lockstep::cli
