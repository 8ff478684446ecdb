// `lockstep script`: the program that `run app.ptx --launch` and `record --launch` start.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cuda/script_player.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(fmt::format("{}: cannot be read", path));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int run_script(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "script PTX SCRIPT";
  syntax.summary =
      "Plays a launch script; under `lockstep exec` and `lockstep record`, like any CUDA program.";
  syntax.positionals = {"PTX", "SCRIPT"};
  syntax.notes =
      "`lockstep run PTX --launch SCRIPT` and `lockstep record OUT --launch SCRIPT -- PTX` start it.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  const auto& ptx = (*values)["PTX"].as<std::string>();
  const auto& file = (*values)["SCRIPT"].as<std::string>();
  const cuda::LaunchScript script = cuda::read_launch_script(text_of(file), file);
  const std::string text = text_of(ptx);
  cuda::Runtime& runtime = cuda::Runtime::instance();
  runtime.recording.set_name(std::filesystem::path(ptx).filename().string());
  try {
    const int code = cuda::play_script(script, text, ptx, runtime);
    flush_out();
    return code;
  } catch (...) {
    runtime.devices.current().sticky = cuda::Status::kErrorUnknown;  // the trace is not complete
    throw;
  }
}

}  // namespace lockstep::cli
