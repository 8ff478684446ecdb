// Ctrl-C in the program's process: if a kernel runs, the user is told where its warps are.
#pragma once

#include <atomic>
#include <string>

namespace lockstep::cuda {

/// kEndingSignals end the process, as ever; during a kernel only after its executor has seen
/// interrupt_flag(). Signals for which the program has a handler, or which it ignores, are left alone.
void watch_interrupts();
[[nodiscard]] const std::atomic<bool>* interrupt_flag();

/// While one of these lives a kernel is running.
class KernelRuns {
 public:
  KernelRuns();
  ~KernelRuns();
  KernelRuns(const KernelRuns&) = delete;
  KernelRuns& operator=(const KernelRuns&) = delete;
};

/// Says where the kernel `name` stands and ends the process by the signal that was seen.
[[noreturn]] void end_interrupted(const std::string& name, const std::string& dump);

}  // namespace lockstep::cuda
