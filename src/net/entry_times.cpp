#include "net/entry_times.hpp"

#include <algorithm>

namespace lockstep::net {

void EntryTimes::add(const icnt::EntryLog& sm, const Clock& clock) {
  for (const icnt::EntryLog::Written& w : sm.written())
    written_.push_back({w.entry, clock.ps(w.begun), clock.ps(w.written)});
  for (const icnt::EntryLog::Found& f : sm.found()) found_.push_back({f.entry, f.signals, clock.ps(f.at)});
}

void EntryTimes::add_visible(const std::vector<icnt::EntryTime>& of, const Clock& clock) {
  for (const icnt::EntryTime& v : of) visible_.push_back({v.entry, clock.ps(v.at)});
}

void EntryTimes::sort() {
  std::ranges::sort(written_);
  std::ranges::sort(visible_);
  std::ranges::sort(found_);
}

/// A status word's signals are a kernel's store and an agent's in turn.
EntryTimes::Around EntryTimes::around(const EndedEntry& ended) const {
  const std::ptrdiff_t turn = (ended.ready - 1) / 2;
  const auto of_turn = [&](const auto& all) -> decltype(all.data()) {
    const auto first =
        std::ranges::lower_bound(all, ended.entry, {}, [](const auto& one) { return one.entry; });
    if (all.end() - first <= turn || first[turn].entry != ended.entry) return nullptr;
    return &first[turn];
  };
  Around times{ended.seen, ended.seen, ended.seen, ended.end};
  if (const Visible* visible = of_turn(visible_)) times.visible = std::min(visible->at, ended.seen);
  times.written = times.visible;
  if (const Written* written = of_turn(written_)) {
    times.written = std::min(written->written, times.visible);
    times.begun = std::min(written->begun, times.written);
  } else {
    times.begun = times.written;
  }
  if (!ended.blocking) return times;
  const auto found = std::ranges::lower_bound(found_, Found{ended.entry, ended.ready + 1, 0});
  if (found != found_.end() && found->entry == ended.entry && found->signals == ended.ready + 1)
    times.returned = std::max(found->at, ended.end);
  return times;
}

void AroundTimes::add(const EntryTimes::Around& times, const EndedEntry& ended) {
  const auto stage = [](std::uint64_t& sum, std::uint64_t& most, std::uint64_t ps) {
    sum += ps;
    most = std::max(most, ps);
  };
  stage(written, most_written, times.written - times.begun);
  stage(visible, most_visible, times.visible - times.written);
  stage(seen, most_seen, ended.seen - times.visible);
  stage(returned, most_returned, times.returned - ended.end);
  longest = std::max(longest, times.returned - times.begun);
}

}  // namespace lockstep::net
