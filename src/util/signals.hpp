// The signals by which users and batch systems end a program.
#pragma once

#include <signal.h>

#include <array>

namespace lockstep {

/// Ctrl-C, kill and scancel, a terminal that is closed; what batch systems send before the time limit:
/// SLURM's
/// --signal names one, often USR1, Grid Engine sends USR1, USR2 or XCPU, LSF USR2.
inline constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};

}  // namespace lockstep
