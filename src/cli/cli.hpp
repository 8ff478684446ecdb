// The command line: one file a subcommand, dispatched from the table in cli.cpp.
#pragma once

namespace lockstep::cli {

/// Exit codes: 0 done; 1 `compare` found a difference; 2 bad usage or input; 3 deadlock; 130 interrupted.
[[nodiscard]] int main(int argc, char** argv);

}  // namespace lockstep::cli
