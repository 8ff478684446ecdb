#include "cli/cli.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "util/console.hpp"
#include "util/error.hpp"
#include "util/version.hpp"

namespace lockstep::cli {
namespace {

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
  std::string_view summary;
};

constexpr std::array kCommands{
    Command{"run", run_run, "simulate a trace on a GPU: cycles and statistics"},
    Command{"exec", run_exec, "run a CUDA program without a GPU and simulate its kernels"},
    Command{"record", run_record, "run a CUDA program without a GPU and keep its trace"},
    Command{"script", run_script, "play a launch script; started by `run` and `record`"},
    Command{"info", run_info, "what is in a trace: kernels, geometry, instruction mix, footprint"},
    Command{"config", run_config, "list, explain and resolve GPU configurations"},
    Command{"sweep", run_sweep, "run a study: traces or programs on configurations that vary"},
    Command{"compare", run_compare, "compare two runs, per kernel and counter"},
    Command{"correlate", run_correlate, "compare runs with measurements of a GPU"},
    Command{"report", run_report, "a page on where a run's time goes"},
    Command{"stats", run_stats, "list and explain the statistics"},
    Command{"convert", run_convert, "write a trace in the compact format"},
    Command{"export", run_export, "write a run's times and messages for other simulators"},
    Command{"lower", run_lower, "print the machine code that represents PTX kernels"},
    Command{"synth", run_synth, "write a synthetic trace"},
};

std::string help_text() {
  std::string text =
      "Usage: lockstep COMMAND [options]\n\n"
      "A deterministic, parallel, cycle-level GPU simulator.\n\nCommands:\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<9} {}\n", command.name, command.summary);
  return text +
         "\n  lockstep COMMAND --help   the options of a command\n"
         "  lockstep --version        the program's version\n\n"
         "Exit codes: 0 done, 1 `compare` found a difference or a run of `sweep` is not complete, 2 bad "
         "usage or input, 3 deadlock in the "
         "simulated\n"
         "program, 4 output could not be written, 5 --check found errors in the program, 70 an error inside\n"
         "lockstep, 75 stopped by a signal with a checkpoint (`run --resume` continues), 130 ended by a "
         "signal with the results so far, 141 the reader of standard output has closed it.\n"
         "`exec`, `record` and `run --launch` return the program's own exit code if it is not 0.\n";
}

const Command& find_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  throw UserError(fmt::format("unknown command '{}'{} (lockstep --help lists the commands)", name,
                              did_you_mean(name, names)));
}

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    write_err(help_text());
    return kBadInput;
  }
  const std::string_view first = argv[1];
  const bool help = first == "--help" || first == "-h" || first == "help";
  if (help && argc > 3)
    throw UserError(fmt::format("{0}: too many arguments (usage: lockstep {0} COMMAND)", first));
  if (help && argc == 2) {
    write_out(help_text());
    return kDone;
  }
  if (help) {
    std::string flag = "--help";
    char* arguments[] = {argv[2], flag.data(), nullptr};
    return find_command(argv[2]).run(2, arguments);
  }
  if (first == "--version") {
    if (argc > 2) throw UserError("--version: too many arguments (usage: lockstep --version)");
    print_out("lockstep {}\n", version());
    return kDone;
  }
  return find_command(first).run(argc - 1, argv + 1);
}

/// One line whatever the message holds: file names and trace contents may have line breaks in them.
int fail(int code, std::string_view kind, std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  print_err("lockstep: {}: {}\n", kind, message);
  return code;
}

int run_command(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (...) {
    return print_error(std::current_exception());
  }
}

}  // namespace

int print_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OutputError& e) {
    return fail(kOutputLost, "error", e.what());
  } catch (const UserError& e) {
    return fail(kBadInput, "error", e.what());
  } catch (const std::bad_alloc&) {
    return fail(kBadInput, "error", "out of memory");
  } catch (const std::exception& e) {
    return fail(kInternalError, "internal error", e.what());
  }
}

int main(int argc, char** argv) {
  open_console();
  const int code = run_command(argc, argv);
  const int lost = finish_out();
  if (lost == 0) return code;
  const bool spoilt = code == kDone || code == kDifferent || (code == kInterrupted && !interrupted());
  if (lost == EPIPE) return spoilt ? kOutputClosed : code;
  fail(kOutputLost, "error", fmt::format("standard output: cannot be written: {}", std::strerror(lost)));
  return spoilt ? kOutputLost : code;
}

}  // namespace lockstep::cli
