// What the layer beside MPI programs (src/messages/pmpi) finds by name.
#include <cstdint>
#include <exception>
#include <utility>

#include "cuda/host_time.hpp"
#include "cuda/program_clock.hpp"
#include "cuda/runtime.hpp"

using namespace lockstep;

#define LOCKSTEP_MPI_API extern "C" __attribute__((visibility("default")))

/// How many commands of the process are recorded so far. The first call adds one that does nothing: a
/// recording needs a kernel or a task. 0: nothing is recorded, or the runtime has failed. Not by api(), which
/// would change the last error that the program sees.
LOCKSTEP_MPI_API std::uint64_t lockstep_mpi_position() noexcept {
  try {
    cuda::Runtime& runtime = cuda::Runtime::instance();
    const cuda::ClockReader ours(cuda::ClockScope::kRuntime);
    const cuda::Turns::Call turn(runtime.turns);
    const cuda::CallWatchdog::Call call(runtime.watchdog);
    const std::scoped_lock lock(runtime.mutex);
    cuda::Recorder* const recorder = runtime.recording.recorder();
    if (recorder == nullptr) return 0;
    static bool is_first = true;
    if (std::exchange(is_first, false))
      recorder->log().add_network(trace::Command{trace::Command::Kind::kHostTask});
    recorder->log().elapse();
    return recorder->log().commands().size();
  } catch (const std::exception&) {
    return 0;
  }
}

/// At the end of MPI_Init: the calling thread's computation is measured from when that returns, where this is
/// asked for.
LOCKSTEP_MPI_API void lockstep_mpi_begin() noexcept {
  const double factor = cuda::Runtime::instance().settings.host_time;
  if (factor > 0) cuda::HostTime::begin(factor);
}

// A call of MPI begins and ends.
LOCKSTEP_MPI_API void lockstep_mpi_enter() noexcept { cuda::HostTime::enter(); }
LOCKSTEP_MPI_API void lockstep_mpi_leave() noexcept { cuda::HostTime::leave(); }
