// The command line: one file per subcommand, dispatched from the table in cli.cpp.
#pragma once

#include <exception>

namespace lockstep::cli {

/// Exit codes: 0 done; 1 `compare` found a difference, or a run of `sweep` is not complete; 2 bad usage or
/// input; 3 deadlock; 4 output could not be written, such as on a full disk; 5 `--check` found errors; 70 an
/// error inside the program (sysexits' EX_SOFTWARE); 75 stopped by a signal with a checkpoint, `--resume`
/// goes on (sysexits' EX_TEMPFAIL); 130 ended early by a signal (util/signals.hpp), with the results so far;
/// 141 the reader of standard output has closed it (128 + SIGPIPE, as a shell says of programs that this
/// signal ends).
inline constexpr int kDone = 0, kDifferent = 1, kBadInput = 2, kDeadlock = 3, kOutputLost = 4,
                     kCheckFailed = 5, kInternalError = 70, kCheckpointed = 75, kInterrupted = 130,
                     kOutputClosed = 141;

[[nodiscard]] int main(int argc, char** argv);

/// Prints the one error line of an exception that a command has thrown, and returns the exit code.
int print_error(const std::exception_ptr& error);

}  // namespace lockstep::cli
