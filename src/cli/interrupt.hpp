// Ctrl-C and SIGTERM: the first ends the run at the next window's end, the second kills.
#pragma once

namespace lockstep::cli {

/// Installs the handlers. A signal that the parent ignores (nohup) stays ignored.
void catch_interrupts();

/// Whether one has come.
[[nodiscard]] bool interrupted();

}  // namespace lockstep::cli
