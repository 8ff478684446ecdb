// The subcommands. Each takes argv[0] = its own name, argv[1..] = its arguments, and returns the exit code.
// Errors that the user can correct are thrown as UserError; main() prints it as the one error line and exits
// with 2.
#pragma once

namespace lockstep::cli {

[[nodiscard]] int run_run(int argc, char** argv);
[[nodiscard]] int run_exec(int argc, char** argv);
[[nodiscard]] int run_record(int argc, char** argv);
[[nodiscard]] int run_script(int argc, char** argv);
[[nodiscard]] int run_info(int argc, char** argv);
[[nodiscard]] int run_config(int argc, char** argv);
[[nodiscard]] int run_compare(int argc, char** argv);
[[nodiscard]] int run_sweep(int argc, char** argv);
[[nodiscard]] int run_correlate(int argc, char** argv);
[[nodiscard]] int run_report(int argc, char** argv);
[[nodiscard]] int run_stats(int argc, char** argv);
[[nodiscard]] int run_convert(int argc, char** argv);
[[nodiscard]] int run_export(int argc, char** argv);
[[nodiscard]] int run_lower(int argc, char** argv);
[[nodiscard]] int run_synth(int argc, char** argv);

}  // namespace lockstep::cli
