#include "cli/mpi_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "cli/cli.hpp"
#include "cli/execute.hpp"
#include "cli/interrupt.hpp"
#include "cli/library_folders.hpp"
#include "cli/mpi_clock.hpp"
#include "cli/options.hpp"
#include "cli/temporary_folder.hpp"
#include "config/system_config.hpp"
#include "cuda/settings.hpp"
#include "messages/joined_trace.hpp"
#include "trace/compact_feed.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace fs = std::filesystem;
namespace {

constexpr const char* kLayer = "liblockstep_pmpi.so";
constexpr const char* kLogVariable = "LOCKSTEP_MPI_LOG";  // as src/messages/pmpi reads it

/// The first of the variables that is set.
template <std::size_t n>
const char* first_of(const std::array<const char*, n>& names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return value;
  return nullptr;
}

std::optional<unsigned> number_of(const char* text) {
  if (text == nullptr) return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

fs::path layer() {
  std::error_code error;
  for (const fs::path& folder : library_folders())
    if (fs::exists(folder / kLayer, error)) return fs::weakly_canonical(folder / kLayer);
  return {};
}

/// What the processes leave for the first one.
class SharedFolder {
 public:
  SharedFolder(const MpiJob& job, const std::string& folder) : job_(job) {
    folder_ = folder.empty() ? fs::temp_directory_path() / fmt::format("lockstep-{}-{}", ::getuid(), job.name)
                             : fs::path(folder) / ("lockstep-" + job.name);
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
      throw UserError(
          fmt::format("{} cannot be made: {}; expected a folder that all processes can write to "
                      "(--ranks-folder)",
                      folder_.string(), error.message()));
    fs::permissions(folder_, fs::perms::owner_all, error);
    for (const char* what : {"calls", "lst", "end"}) fs::remove(file(job.rank, what), error);
    std::ofstream(file(job.rank, "begun")).put('\n');
  }

  [[nodiscard]] std::string file(unsigned rank, const char* what) const {
    return (folder_ / fmt::format("{}.{}", rank, what)).string();
  }
  void leave(int code) const {
    const std::string end = file(job_.rank, "end");
    std::ofstream(end + ".part") << code << '\n';
    std::error_code error;  // where all is over, another process has removed the folder
    fs::rename(end + ".part", end, error);
  }
  /// Until all processes have left, or one after a failure: its exit code. Nothing: interrupted. Throws
  /// UserError if a process has not even begun here: MPI_Init, which this one has left, needs them all.
  [[nodiscard]] std::optional<int> wait() const {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds kMaxDelay{30};  // of a network's file system
    const Clock::time_point start = Clock::now();
    for (; !interrupted(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      unsigned left = 0;
      for (unsigned r = 0; r < job_.size; ++r) {
        if (!fs::exists(file(r, "begun")) && Clock::now() - start > kMaxDelay)
          throw UserError(
              fmt::format("{} has nothing of process {}; expected a folder that all processes see "
                          "(--ranks-folder)",
                          folder_.string(), r));
        if (!fs::exists(file(r, "end"))) continue;
        int code = kInternalError;
        std::ifstream(file(r, "end")) >> code;
        if (code != 0) return code;
        ++left;
      }
      if (left == job_.size) return 0;
    }
    return std::nullopt;
  }
  /// This process's program has said so itself.
  [[nodiscard]] bool has_aborted() const {
    std::ifstream calls(file(job_.rank, "calls"));
    std::string line;
    while (std::getline(calls, line))
      if (line.starts_with("X ")) return true;
    return false;
  }
  [[nodiscard]] std::vector<messages::ProcessFiles> files() const {
    std::vector<messages::ProcessFiles> all;
    for (unsigned r = 0; r < job_.size; ++r) {
      if (!fs::exists(file(r, "calls")))
        throw UserError(fmt::format(
            "process {} has not called MPI_Init of the MPI that lockstep was built with; expected a "
            "program in C or C++ that is linked to it",
            r));
      all.push_back({file(r, "calls"), fs::exists(file(r, "lst")) ? file(r, "lst") : ""});
    }
    return all;
  }
  void remove() const {
    std::error_code error;
    fs::remove_all(folder_, error);
  }

 private:
  MpiJob job_;
  fs::path folder_;
};

void check(const RunArguments& arguments, const MpiJob& job, const MpiOptions& options) {
  const auto& system = arguments.options.system;
  if (!system || !system->served_by(config::NetDesignTraits::Server::kProcesses))
    throw UserError(fmt::format(
        "exec: {} processes of an MPI program on {}; expected a system with NICs and [node] design = "
        "inter_kernel or cpu (-c SYSTEM)",
        job.size, system ? system->name : arguments.options.config.gpu.name));
  if (job.size > system->devices.size())
    throw UserError(
        fmt::format("exec: {} processes of an MPI program on {} devices; expected a device for each "
                    "(--gpus {})",
                    job.size, system->devices.size(), job.size));
  if (arguments.simulated_clock)
    throw UserError(
        "exec: --clock simulated: an MPI program is simulated after its end, so there is no time while it "
        "runs; expected a run with -o OUT, and then the same with --clock OUT in its place, which shows the "
        "program that run's times");
  if (!options.host_time.empty() && !options.shown.empty())
    throw UserError(
        "exec: --host-time has no effect with --clock FOLDER: its times are those of the run in FOLDER, and "
        "nothing is measured; expected one of the two");
  if (arguments.check.checks.any())
    throw UserError("exec: --check is for one process; expected no mpirun, or no --check");
}

/// What tells a program which of its node's GPUs it should take: it is alone on its node.
constexpr std::array<std::pair<const char*, const char*>, 4> kLocal{{{"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                                                                     {"MPI_LOCALRANKID", "0"},
                                                                     {"SLURM_LOCALID", "0"}}};

/// It sees one GPU.
void prepare(Start& start, const MpiJob& job, const SharedFolder& shared) {
  start.gpus = 1;
  start.multicast = 0;
  start.apart.clear();
  start.links.clear();
  start.trace = shared.file(job.rank, "lst");
  start.preload = layer().string();
  start.variables.emplace_back(kLogVariable, shared.file(job.rank, "calls"));
  start.variables.emplace_back(cuda::kTimestampsVariable, "1");
  for (const auto& [name, value] : kLocal)
    if (std::getenv(name) != nullptr) start.variables.emplace_back(name, value);
}

void print_notes(const messages::JoinedTrace& trace, const std::string& out, const std::string& host_time) {
  if (!host_time.empty())
    print_err(
        "lockstep: the program's computation on the host is measured on this machine and takes {} times that "
        "(--host-time): results differ from run to run\n",
        host_time);
  print_err(
      "lockstep: the program has ended and is simulated now: what it printed of time (MPI_Wtime, clocks, "
      "events) is not simulated time{}\n",
      out.empty() ? "; with -o OUT, a second run with --clock OUT prints that"
                  : fmt::format("; a second run with --clock {} prints that", out));
  if (trace.not_simulated().empty()) return;
  std::string names;
  for (const std::string& name : trace.not_simulated()) names += (names.empty() ? "" : ", ") + name;
  print_err("lockstep: warning: their time is not simulated, nor what waits for them: {}\n", names);
}

void write(const messages::JoinedTrace& trace, const RunArguments& arguments) {
  trace::ConvertOptions writing;
  writing.level = 3;  // Zstandard's, as of recordings of one process
  writing.threads = arguments.options.threads;
  (void)trace::write_compact(trace, arguments.trace, writing);
}

int simulate_all(RunArguments& arguments, const SharedFolder& shared, const MpiOptions& options,
                 const std::string& program, int argc, char** argv) {
  {
    const messages::JoinedTrace joined(shared.files(), options.protocol, program);
    write(joined, arguments);
    if (!arguments.quiet) print_notes(joined, arguments.out, options.host_time);
  }
  shared.remove();
  announce_interrupts(true);
  return simulate_trace(arguments, argc, argv);
}

/// In place of simulate_all(): the program has been shown the times of a run.
int check_shown(const RunArguments& arguments, const SharedFolder& shared, const MpiOptions& options,
                const std::string& program, const ShownRun& run) {
  const messages::JoinedTrace joined(shared.files(), options.protocol, program);
  if (options.keeps) write(joined, arguments);
  shared.remove();
  check_same_calls(run, joined.content_hash());
  if (!arguments.quiet)
    print_err(
        "lockstep: what the program printed of time (MPI_Wtime, events) is of the simulated run in {}; other "
        "clocks are this machine's\n",
        run.folder);
  return kDone;
}

}  // namespace

std::optional<MpiJob> mpi_job() {
  const auto rank = number_of(first_of(std::array{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}));
  const auto size =
      number_of(first_of(std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}));
  if (!rank || size.value_or(1) < 2 || layer().empty()) return std::nullopt;
  MpiJob job{*rank, *size, ""};
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char* value = std::getenv(name)) job.name += (job.name.empty() ? "" : "-") + std::string(value);
  if (job.name.empty()) job.name = fmt::format("of-{}", ::getppid());
  std::ranges::replace_if(
      job.name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-'; }, '_');
  return job;
}

int as_process(const MpiJob& job, const std::function<int()>& command) {
  try {
    return command();
  } catch (const UserError&) {
    if (job.rank == 0) throw;
    // mpirun ends all others as soon as one has failed, and the first one has something to say.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return kBadInput;
  }
}

void add_mpi_options(po::options_description& options) {
  options.add_options()("eager", po::value<std::string>()->default_value("12288"),
                        "MPI programs: messages of more bytes are sent by rendezvous")(
      "allreduce", po::value<std::string>()->default_value("auto"),
      "MPI programs: how MPI_Allreduce is done: recursive_doubling, ring, or auto: the former up to 2048 "
      "bytes")("host-time", po::value<std::string>()->default_value("none"),
               "MPI programs: none: what the program computes on the host takes no time; or its CPU time is "
               "measured and multiplied by this factor, so that results depend on this machine")(
      "ranks-folder", po::value<std::string>(),
      "MPI programs: a folder that all processes see; by default one of this machine");
}

void refuse_mpi_options(const po::variables_map& values) {
  for (const char* name : {"eager", "allreduce", "host-time", "ranks-folder"})
    if (values.count(name) && !values[name].defaulted())
      throw UserError(fmt::format(
          "exec: --{} is for MPI programs that are simulated; expected mpirun or srun, with two processes "
          "or more, and no --functional",
          name));
}

namespace {

/// A positive decimal number; empty for none.
std::string host_time(const std::string& text) {
  if (text == "none") return {};
  double factor = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, factor, std::chars_format::fixed);
  if (error != std::errc{} || end != last || !(factor > 0 && factor <= cuda::kMaxHostTime))
    throw UserError(fmt::format(
        "--host-time: found '{}', expected none, or a factor above 0 and up to {}, such as 1 or 0.5", text,
        cuda::kMaxHostTime));
  return text;
}

}  // namespace

MpiOptions mpi_options(const po::variables_map& values) {
  MpiOptions options;
  options.protocol.eager_bytes =
      parse_number("--eager", values["eager"].as<std::string>(), 0, std::uint64_t{1} << 40);
  const auto& name = values["allreduce"].as<std::string>();
  using messages::AllReduce;
  if (name != "auto" && name != "recursive_doubling" && name != "ring")
    throw UserError(fmt::format("--allreduce: found '{}', expected auto, recursive_doubling or ring", name));
  options.protocol.all_reduce = name == "ring"   ? AllReduce::kRing
                                : name == "auto" ? AllReduce::kAuto
                                                 : AllReduce::kRecursiveDoubling;
  options.host_time = host_time(values["host-time"].as<std::string>());
  options.keeps = values.count("record") > 0;
  if (values.count("ranks-folder")) options.folder = values["ranks-folder"].as<std::string>();
  return options;
}

int run_mpi_program(RunArguments& arguments, Start start, const MpiJob& job, const MpiOptions& options,
                    int argc, char** argv) {
  check(arguments, job, options);
  if (job.rank == 0) check_outputs(arguments);
  const SharedFolder shared(job, options.folder);
  const TemporaryFolder folder;
  const std::string program = fs::path(start.command.front()).filename().string();
  prepare(start, job, shared);
  ShownRun shown;
  if (!options.shown.empty()) {
    shown = read_shown_run(options.shown, {program, config::to_ini(*arguments.options.system), job.size},
                           job.rank);
    show_times(shown, folder.path(), start);
  }
  if (!options.host_time.empty()) start.variables.emplace_back(cuda::kHostTimeVariable, options.host_time);
  start.max_instructions = arguments.max_instructions;
  start.threads = arguments.options.threads;
  arguments.quiet |= job.rank != 0;
  announce_interrupts(false);  // mpirun sends signals to all when one has failed
  const ChildResult child = execute(arguments, std::move(start), folder.path());
  shared.leave(child.code);
  if (child.code != 0) {
    if (!interrupted() && !shared.has_aborted())
      print_err("lockstep: error: process {} of {} {}: nothing is simulated\n", job.rank, program,
                child.signal != 0 ? fmt::format("was ended by signal {}", strsignal(child.signal))
                                  : fmt::format("ended with exit code {}", child.code));
    if (job.rank == 0) shared.remove();
    return child.code;
  }
  if (job.rank != 0) return kDone;
  const std::optional<int> code = shared.wait();
  if (!code || *code != 0) {
    shared.remove();
    return code.value_or(kInterrupted);
  }
  return options.shown.empty() ? simulate_all(arguments, shared, options, program, argc, argv)
                               : check_shown(arguments, shared, options, program, shown);
}

}  // namespace lockstep::cli
