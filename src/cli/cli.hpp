// The command line: one file a subcommand, dispatched from the table in cli.cpp.
#pragma once

namespace lockstep::cli {

/// Exit codes: 0 done; 1 `compare` found a difference; 2 bad usage or input; 3 deadlock; 4 `--check` found
/// errors; 70 an error inside the program (sysexits' EX_SOFTWARE); 130 interrupted.
inline constexpr int kDone = 0, kDifferent = 1, kBadInput = 2, kDeadlock = 3, kCheckFailed = 4,
                     kInternalError = 70, kInterrupted = 130;

[[nodiscard]] int main(int argc, char** argv);

/// The program's version, as in stats.json.
[[nodiscard]] const char* version();

}  // namespace lockstep::cli
