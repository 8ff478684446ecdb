// The signals that end a run early, with its results so far.
#pragma once

namespace lockstep::cli {

/// From now on the first of kEndingSignals (util/signals.hpp) makes interrupted() true, which ends a run at
/// the next window's end. SIGINT and SIGTERM kill after that, the others are ignored: a terminal that is
/// closed may send SIGHUP twice. A signal that the parent ignores (nohup) stays ignored.
void catch_interrupts();

/// Before catch_interrupts(): all but SIGINT (Ctrl-C) ask for a checkpoint, not for the end.
void let_signals_ask_for_checkpoints();

/// False: a signal ends the run without a line of its own, as there are no results to keep, or another
/// process keeps them.
void announce_interrupts(bool announced);

/// Has a signal arrived that ends the run?
[[nodiscard]] bool interrupted();
/// Has a signal arrived that asks for a checkpoint?
[[nodiscard]] bool checkpoint_asked();

/// The signal to pass on to the program: SIGINT or, for all others, SIGTERM.
[[nodiscard]] int signal_to_pass_on();

}  // namespace lockstep::cli
