#include "cli/exec_options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "cli/options.hpp"
#include "cuda/lowering_choice.hpp"
#include "cuda/register_choice.hpp"
#include "cuda/settings.hpp"
#include "lower/passes.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

std::vector<std::string> texts_of(const po::variables_map& values, const char* name) {
  return values.count(name) ? values[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

/// How kernels are lowered. Throws UserError for names that do not exist.
struct CodeOptions {
  explicit CodeOptions(const po::variables_map& values)
      : registers(
            cuda::make_register_choice(values["registers"].as<std::string>(), texts_of(values, "regs"))),
        without(texts_of(values, "without")) {
    (void)lower::all_but(without);
  }
  cuda::RegisterChoice registers;
  std::vector<std::string> without;
};

}  // namespace

void refuse_timing_options(const po::variables_map& values, const char* option) {
  const std::string why = fmt::format("with {}: nothing is simulated", option);
  refuse_idle(values, "exec",
              {"kernels", "managed", "gpu-memory", "sample", "timeline", "max-cycles", "interval", "profile",
               "accelsim-stats", "out", "json", "schedule", "window", "no-skip", "shuffle", "work-log"},
              why);
  if (!values.count("accelsim-config")) refuse_idle(values, "exec", {"strict"}, why);
}

void add_range_option(po::options_description& options) {
  options.add_options()(
      "profile-from-start", po::value<std::string>()->default_value("on"),
      "on: the whole program is recorded; off: only what it asks for between cudaProfilerStart() and "
      "cudaProfilerStop(), as with nvprof and ncu; the rest is executed, but takes no simulated time");
}

bool profiles_from_start(const po::variables_map& values) {
  const auto& text = values["profile-from-start"].as<std::string>();
  if (text != "on" && text != "off")
    throw UserError(fmt::format("--profile-from-start: found '{}', expected on or off", text));
  return text == "on";
}

void pass_ranges(const po::variables_map& values, const char* refused) {
  unsetenv(cuda::kProfileFromStartVariable);  // of a lockstep that has started this one
  if (profiles_from_start(values)) return;
  if (refused != nullptr) throw UserError(fmt::format("--profile-from-start off: {}; expected on", refused));
  setenv(cuda::kProfileFromStartVariable, "off", 1);
}

namespace {

/// Empty: the default.
std::string ptx_above(const po::variables_map& values) {
  if (!values.count("ptx-above")) return "";
  const auto& text = values["ptx-above"].as<std::string>();
  if (text != "take" && text != "refuse")
    throw UserError(fmt::format("--ptx-above: found '{}', expected take or refuse", text));
  return text;
}

}  // namespace

void add_ptx_option(po::options_description& options) {
  options.add_options()(
      "ptx-above", po::value<std::string>(),
      "PTX whose target the GPU does not run, as a later one: take (the default; a remark names it) or "
      "refuse, as hardware does");
}

void pass_ptx_option(const po::variables_map& values) {
  const std::string choice = ptx_above(values);
  unsetenv(cuda::kPtxAboveVariable);  // of a lockstep that has started this one
  if (!choice.empty()) setenv(cuda::kPtxAboveVariable, choice.c_str(), 1);
}

void add_code_options(po::options_description& options) {
  options.add_options()("registers", po::value<std::string>()->default_value("cubin"),
                        "registers per thread: cubin (ptxas's, where the program has machine code "
                        "that this GPU could load) or "
                        "estimate")("regs", po::value<std::vector<std::string>>()->composing(),
                                    "registers of one kernel, NAME=N with its mangled name; repeatable")(
      "without", po::value<std::vector<std::string>>()->composing(),
      ("leave out a step of lowering: " + lower::step_names() + "; repeatable").c_str())(
      "interleave", po::value<std::string>(),
      "warp instructions that a warp executes before the next warp of its CTA does, for programs that lack a "
      "barrier between accesses to global memory; by default a warp runs to its next barrier, but lets the "
      "others run between its reads and writes of shared memory");
  add_ptx_option(options);
}

void check_code_options(const po::variables_map& values) {
  (void)CodeOptions(values);
  (void)ptx_above(values);
}

std::vector<std::string> pass_code_options(const po::variables_map& values) {
  const CodeOptions options(values);
  setenv(cuda::kRegistersVariable, cuda::to_text(options.registers).c_str(), 1);
  setenv(cuda::kWithoutVariable, cuda::to_text(options.without).c_str(), 1);
  if (values.count("interleave"))
    setenv(cuda::kInterleaveVariable,
           std::to_string(parse_number("--interleave", values["interleave"].as<std::string>(), 1,
                                       std::numeric_limits<std::uint32_t>::max()))
               .c_str(),
           1);
  pass_ptx_option(values);
  std::vector<std::string> names;
  for (const auto& [name, number] : options.registers.kernels) names.push_back(name);
  return names;
}

const char* needs_whole_trace(const gpu::RunOptions& options) {
  using Kind = gpu::ManagedOptions::Kind;
  const gpu::ManagedOptions& managed = options.managed;
  if (options.sample) return "--sample needs the whole trace";
  if (managed.kind == Kind::kTrace || managed.kind == Kind::kNone) return nullptr;
  return "--managed other than none needs the whole trace";
}

std::string shown_run(const po::variables_map& values, bool is_mpi_program) {
  const std::string clock = values.count("clock") ? values["clock"].as<std::string>() : "host";
  if (clock == "host" || clock == "simulated") return "";
  if (!is_mpi_program)
    throw UserError(
        fmt::format("--clock: found '{}', expected host or simulated; a folder with results is for MPI "
                    "programs that are simulated (mpirun or srun, with two processes or more)",
                    clock));
  if (clock.empty()) throw UserError("--clock: the folder's name is empty");
  refuse_timing_options(values, "--clock FOLDER");
  return clock;
}

bool shows_simulated_time(const po::variables_map& values, bool functional, const gpu::RunOptions& options) {
  if (!values.count("clock") || values["clock"].as<std::string>() != "simulated") return false;
  if (functional)
    throw UserError("exec: --clock simulated has no effect with --functional: nothing is simulated");
  if (const char* const reason = needs_whole_trace(options))
    throw UserError(
        fmt::format("exec: --clock simulated: {}, so there is no time while the program runs", reason));
  return true;
}

}  // namespace lockstep::cli
