// What a slice does for kernels that wait for each other (trace/awaited_signals.hpp).
#include "mem/slice.hpp"

namespace lockstep::mem {

/// A line of the host, which is passed on, or a look of a warp that waits for signals, which is done at home.
bool Slice::serve_special(Latch& latch, Origin origin, Cycle now) {
  if (icnt::is_remote(latch.request.kind)) {
    reply(latch.request, latch.request.sectors, origin, now);
    return true;
  }
  if (origin == kNear && is_far(latch.request.line)) return forward(latch, now);
  latch.request.again = signals_.lacks(latch.request);
  return serve_read(latch, origin, false, now);
}

/// A write at home for whose words others may wait.
bool Slice::serve_signal(Latch& latch, Origin origin, Cycle now) {
  const bool done = icnt::is_store(latch.request.kind) ? serve_store(latch, origin, now)
                                                       : serve_read(latch, origin, false, now);
  if (done) signals_.count(latch.request);
  return done;
}

}  // namespace lockstep::mem
