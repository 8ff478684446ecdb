// What a slice does for kernels that wait for each other (trace/awaited_signals.hpp).
#include <fmt/format.h>

#include <iterator>

#include "mem/lookup_count.hpp"
#include "mem/slice.hpp"

namespace lockstep::mem {

/// A line of the host, which is passed on, or a poll of a warp that waits for signals, which is done at home.
bool Slice::serve_special(Latch& latch, Origin origin, Cycle now) {
  if (icnt::is_remote(latch.request.kind)) {
    reply(latch.request, latch.request.sectors, origin, now);
    return true;
  }
  if (origin == kNear && is_far(latch.request.line)) return forward(latch, now);
  return serve_poll(latch, origin, now);
}

bool Slice::serve_poll(Latch& latch, Origin origin, Cycle now) {
  icnt::Request& poll = latch.request;
  const bool far = origin == kFar;
  poll.again = signals_.lacks(poll);
  if (poll.again && parked_.takes(poll, far)) {
    parked_.park(poll, far, tags_.set_of(map_->local_line(poll.line)), now);
    return true;
  }
  if (poll.is_watch()) {
    const icnt::Reply silent{poll.line,   poll.tag,   poll.kind, poll.sectors,
                             poll.kernel, poll.again, false,     true};
    pipe_.push({now + latency_, silent, poll.reply_to, origin});
    return true;
  }
  const icnt::Request served = poll;
  if (!serve_read(latch, origin, false, now)) return false;
  if (served.polls_before() > 0) count_elided(served, far, served.polls_before());
  return true;
}

/// A write at home for whose words others may wait.
bool Slice::serve_signal(Latch& latch, Origin origin, Cycle now) {
  const bool done = icnt::is_store(latch.request.kind) ? serve_store(latch, origin, now)
                                                       : serve_read(latch, origin, false, now);
  if (!done) return false;
  signals_.count(latch.request);
  if (latch.request.entry_status) visible_.push_back({icnt::entry_of(latch.request), now});
  if (!parked_.empty()) parked_.signalled(latch.request.line, signals_, now);
  return true;
}

bool Slice::serve_parked(Cycle now) {
  const ParkedPolls::Due due = parked_.front();
  Latch latch{due.poll, true, Stall::kNone};
  if (!serve(latch, due.far ? kFar : kNear, now)) return false;
  parked_.pop();
  if (due.elided > 0) count_elided(due.poll, due.far, due.elided);
  return true;
}

/// Polls that were not sent, with the requests and replies of each. They hit, as each keeps the
/// line in the slice for the next.
void Slice::count_elided(const icnt::Request& poll, bool far, std::uint64_t polls) {
  const unsigned sectors = bit_count(poll.sectors);
  stats::PartitionCounters& c = counters_->mem[poll.kernel];
  stats::book_lookup(c.l2, true, polls * sectors, 0, 0, true);
  c.l2.requests += polls;
  if (far) c.far_requests += polls;
  stats::IcntCounters& icnt = counters_->icnt[poll.kernel];
  icnt.replies += polls;
  icnt.flits += polls * icnt::Fabric::flits(sectors, out_bytes_);
  if (!poll.may_park()) return;  // its core counts what it asks for
  icnt.requests += polls;
  icnt.flits += polls * icnt::Fabric::flits(0, in_bytes_);
}

/// Before a line of the set is displaced: those at which warps poll are the last ones used.
void Slice::keep_awaited_lines(std::uint32_t set) {
  parked_.each_line(set, [&](Address line) {
    if (const std::optional<LineIndex> index = tags_.find(set, line)) tags_.touch(*index);
  });
}

void Slice::dump_parked(std::string& out) const {
  parked_.each([&](const icnt::Request& poll, Cycle since) {
    fmt::format_to(std::back_inserter(out),
                   "    requester {} has waited since L2 edge {} for signal {} of the word at {:#x}\n",
                   poll.reply_to, since, poll.awaited_signals(), poll.awaited_word());
  });
}

}  // namespace lockstep::mem
