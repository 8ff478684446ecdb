// What a slice does for kernels that wait for each other (trace/awaited_signals.hpp).
#include <fmt/format.h>

#include <iterator>

#include "mem/lookup_count.hpp"
#include "mem/slice.hpp"

namespace lockstep::mem {

/// A line of the host, which is passed on, or a look of a warp that waits for signals, which is done at home.
bool Slice::serve_special(Latch& latch, Origin origin, Cycle now) {
  if (icnt::is_remote(latch.request.kind)) {
    reply(latch.request, latch.request.sectors, origin, now);
    return true;
  }
  if (origin == kNear && is_far(latch.request.line)) return forward(latch, now);
  return serve_look(latch, origin, now);
}

bool Slice::serve_look(Latch& latch, Origin origin, Cycle now) {
  icnt::Request& look = latch.request;
  const bool far = origin == kFar;
  look.again = signals_.lacks(look);
  if (look.again && parked_.takes(look, far)) {
    parked_.park(look, far, tags_.set_of(map_->local_line(look.line)), now);
    return true;
  }
  if (look.is_watch()) {
    const icnt::Reply silent{look.line,   look.tag,   look.kind, look.sectors,
                             look.kernel, look.again, false,     true};
    pipe_.push({now + latency_, silent, look.reply_to, origin});
    return true;
  }
  const icnt::Request served = look;
  if (!serve_read(latch, origin, false, now)) return false;
  if (served.looks_before() > 0) count_elided(served, far, served.looks_before());
  return true;
}

/// A write at home for whose words others may wait.
bool Slice::serve_signal(Latch& latch, Origin origin, Cycle now) {
  const bool done = icnt::is_store(latch.request.kind) ? serve_store(latch, origin, now)
                                                       : serve_read(latch, origin, false, now);
  if (!done) return false;
  signals_.count(latch.request);
  if (!parked_.empty()) parked_.signalled(latch.request.line, signals_, now);
  return true;
}

bool Slice::serve_parked(Cycle now) {
  const ParkedLooks::Due due = parked_.front();
  Latch latch{due.look, true, Stall::kNone};
  if (!serve(latch, due.far ? kFar : kNear, now)) return false;
  parked_.pop();
  if (due.elided > 0) count_elided(due.look, due.far, due.elided);
  return true;
}

/// Looks that would have been answered, with the requests and replies of each. They hit, as each keeps the
/// line in the slice for the next.
void Slice::count_elided(const icnt::Request& look, bool far, std::uint64_t looks) {
  const unsigned sectors = bit_count(look.sectors);
  stats::PartitionCounters& c = counters_->mem[look.kernel];
  stats::book_lookup(c.l2, true, looks * sectors, 0, 0, true);
  c.l2.requests += looks;
  if (far) c.far_requests += looks;
  stats::IcntCounters& icnt = counters_->icnt[look.kernel];
  icnt.replies += looks;
  icnt.flits += looks * icnt::Fabric::flits(sectors, out_bytes_);
  if (!look.may_park()) return;  // its core counts what it asks for
  icnt.requests += looks;
  icnt.flits += looks * icnt::Fabric::flits(0, in_bytes_);
}

/// Before a line of the set is displaced: those at which warps look are the last ones used.
void Slice::keep_awaited_lines(std::uint32_t set) {
  parked_.each_line(set, [&](Address line) {
    if (const std::optional<Slot> slot = tags_.find(set, line)) tags_.touch(*slot);
  });
}

void Slice::dump_parked(std::string& out) const {
  parked_.each([&](const icnt::Request& look, Cycle since) {
    fmt::format_to(std::back_inserter(out),
                   "    requester {} has waited since L2 edge {} for signal {} of the word at {:#x}\n",
                   look.reply_to, since, look.awaited_signals(), look.awaited_word());
  });
}

}  // namespace lockstep::mem
