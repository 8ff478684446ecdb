// What a slice does for lines that are locked (line_locks.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mem/slice.hpp"

namespace lockstep::mem {

/// At the line's home. A request behind a held one of its line waits, too.
bool Slice::serve_locking(Latch& latch, Origin origin, Cycle now) {
  const icnt::Request& r = latch.request;
  if (origin == kNear && is_far(r.line)) return serve_any(latch, origin, now);
  const bool behind =
      std::ranges::any_of(held_, [&](const Held& held) { return held.latch.request.line == r.line; });
  if (!locks_.must_wait(r, map_->locking().exclusive, behind)) return serve_and_lock(latch, origin, now);
  locks_.count_held();
  held_.push_back({latch, origin});
  return true;
}

/// Some places of a set are never locked by stores, so that others find one.
bool Slice::serve_and_lock(Latch& latch, Origin origin, Cycle now) {
  const icnt::Request r = latch.request;
  if (!serve_any(latch, origin, now)) return false;
  if (!locks_.may_change(r)) return true;
  const std::uint32_t set = tags_.set_of(map_->local_line(r.line));
  const auto change =
      locks_.serve(r, now, tags_.pinned_in(set) + map_->locking().unlocked_ways < tags_.ways());
  if (change == LineLocks::Change::kNone) return true;
  if (const std::optional<LineIndex> index = tags_.find(set, r.line))
    tags_.pin(*index, change == LineLocks::Change::kLocked);
  return true;
}

bool Slice::serve_held(Cycle now) {
  if (pipe_full()) return false;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Held held = held_[i];
    if (blocks(held.latch.request)) continue;
    if (!serve_and_lock(held.latch, held.origin, now)) return false;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

bool Slice::any_held_may_go() const {
  return !std::ranges::all_of(held_, [&](const Held& held) { return blocks(held.latch.request); });
}

void Slice::dump_locks(std::string& out) const {
  for (const LineLocks::Line& line : locks_.lines())
    fmt::format_to(std::back_inserter(out), "    line {:#x}: locked since L2 edge {} by {}\n", line.line,
                   line.since,
                   line.update ? fmt::format("the update of requester {}", line.owner) : "a store");
  for (const Held& held : held_)
    fmt::format_to(std::back_inserter(out), "    held: kind {} line {:#x} for {}\n",
                   static_cast<int>(held.latch.request.kind), held.latch.request.line,
                   held.latch.request.reply_to);
}

}  // namespace lockstep::mem
