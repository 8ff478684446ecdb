#include "core/front_end.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::core {

FrontEnd::FrontEnd(const config::GpuConfig& config)
    : line_bytes_(config.frontend.line_bytes),
      prefetch_entries_(config.frontend.prefetch_entries),
      launch_lines_(config.frontend.launch_prefetch / line_bytes_),
      line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes_))),
      l1i_latency_(std::max(1u, config.frontend.l1i_latency)),
      l1i_mshrs_(std::max(1u, config.frontend.l1i_mshrs)),
      read_ahead_(config.frontend.l1i_read_ahead),
      l1i_(config.frontend.l1i_bytes / line_bytes_, config.frontend.l1i_ways) {
  const LineTags l0(config.frontend.l0_bytes / line_bytes_, config.frontend.l0_ways);
  for (unsigned i = 0; i < config.sm.subcores; ++i) subcores_.push_back({l0, {}, {}, LineTags::kNoLine, 0});
}

void FrontEnd::preload(Address code) {
  for (std::uint32_t i = 0; i < launch_lines_; ++i) l1i_.insert(line_of(code) + i);
}

FrontEnd::Found FrontEnd::fetch(unsigned subcore, unsigned warp, std::uint32_t line, std::uint8_t kernel,
                                stats::SmCounters& counters) {
  SubcoreState& s = subcores_[subcore];
  ++counters.l0i_accesses;
  if (s.l0.touch(line)) return Found::kL0;
  ++counters.l0i_misses;
  const auto bit = static_cast<WarpSet>(1u << warp);
  for (Entry& e : s.demand)
    if (e.line == line) {
      e.waiting |= bit;
      return Found::kNot;
    }
  bool waits = false;
  if (take_from_stream(s, warp, line, waits)) return Found::kStream;
  if (waits) return Found::kNot;
  s.demand.push_back({line, bit, false});
  s.kernel = kernel;
  requests_.push_back({line, static_cast<std::uint8_t>(subcore), kernel});
  start_stream(s, line + 1);
  return Found::kNot;
}

/// A line that the stream buffer holds moves into the L0; one that is still coming makes the warp wait. Lines
/// that were skipped are dropped.
bool FrontEnd::take_from_stream(SubcoreState& s, unsigned warp, std::uint32_t line, bool& waits) {
  const auto e =
      std::find_if(s.stream.begin(), s.stream.end(), [&](const Entry& x) { return x.line == line; });
  if (e == s.stream.end()) return false;
  const Entry found = *e;
  s.stream.erase(s.stream.begin(), e + 1);
  if (found.ready) {
    s.l0.insert(line);
    return true;
  }
  s.demand.push_back({line, static_cast<WarpSet>(found.waiting | 1u << warp), false});
  waits = true;
  return false;
}

void FrontEnd::start_stream(SubcoreState& s, std::uint32_t line) {
  s.stream.clear();
  s.next_prefetch = line;
}

void FrontEnd::tick(Cycle now, InstructionPort& port, std::vector<stats::SmCounters>& counters) {
  woken_ = {};
  if (next_fill_ <= now) do_fills(now);
  if (!port.lines().empty()) take_lines(now, port);
  if (!requests_.empty()) look_up_l1i(now, port, counters);
  if (ahead_next_ != ahead_end_) read_ahead(now, port);
  prefetch(counters);
}

void FrontEnd::do_fills(Cycle now) {
  std::size_t kept = 0;
  next_fill_ = kNever;
  for (std::size_t i = 0; i < fills_.size(); ++i) {
    const Fill fill = fills_[i];
    if (fill.time <= now) {
      arrive(fill.subcore, fill.line);
    } else {
      next_fill_ = std::min(next_fill_, fill.time);
      fills_[kept++] = fill;
    }
  }
  fills_.resize(kept);
}

void FrontEnd::arrive(unsigned subcore, std::uint32_t line) {
  SubcoreState& s = subcores_[subcore];
  const auto is_line = [&](const Entry& e) { return e.line == line; };
  if (const auto d = std::find_if(s.demand.begin(), s.demand.end(), is_line); d != s.demand.end()) {
    woken_[subcore] |= d->waiting;
    s.l0.insert(line);
    s.demand.erase(d);
  } else if (const auto p = std::find_if(s.stream.begin(), s.stream.end(), is_line); p != s.stream.end()) {
    p->ready = true;
  }  // else: a prefetch of a stream that has been given up
}

void FrontEnd::take_lines(Cycle now, InstructionPort& port) {
  for (const Address address : port.lines()) {
    const std::uint32_t line = line_of(address);
    const auto m =
        std::find_if(misses_.begin(), misses_.end(), [&](const Miss& x) { return x.line == line; });
    if (m == misses_.end()) continue;
    l1i_.insert(line);
    for (unsigned s = 0; s < subcores_.size(); ++s)  // only the way from the L1I to the L0 is left
      if (m->subcores >> s & 1) add_fill(now + (l1i_latency_ + 1) / 2, line, s);
    misses_.erase(m);
  }
  port.clear_lines();
}

void FrontEnd::look_up_l1i(Cycle now, InstructionPort& port, std::vector<stats::SmCounters>& counters) {
  const Request r = requests_.front();
  const auto miss =
      std::find_if(misses_.begin(), misses_.end(), [&](const Miss& m) { return m.line == r.line; });
  if (miss != misses_.end()) {
    miss->subcores |= static_cast<std::uint8_t>(1u << r.subcore);
  } else if (l1i_.touch(r.line)) {
    add_fill(now + l1i_latency_, r.line, r.subcore);
  } else {
    if (misses_.size() >= l1i_mshrs_ || !port.can_fetch()) return;  // again next cycle
    misses_.push_back({r.line, static_cast<std::uint8_t>(1u << r.subcore)});
    port.fetch(now, Address{r.line} * line_bytes_, r.kernel);
    ++counters[r.kernel].l1i_misses;
    ahead_next_ = r.line + 1;
    ahead_end_ = ahead_next_ + read_ahead_;
    ahead_kernel_ = r.kernel;
  }
  ++counters[r.kernel].l1i_accesses;
  requests_.erase(requests_.begin());
}

bool FrontEnd::miss_pending(std::uint32_t line) const {
  return std::any_of(misses_.begin(), misses_.end(), [&](const Miss& m) { return m.line == line; });
}

/// After a miss the L1I asks for the lines that follow, one a cycle.
void FrontEnd::read_ahead(Cycle now, InstructionPort& port) {
  if (misses_.size() >= l1i_mshrs_ || !port.can_fetch()) return;
  const std::uint32_t line = ahead_next_++;
  if (l1i_.touch(line) || miss_pending(line)) return;
  misses_.push_back({line, 0});
  port.fetch(now, Address{line} * line_bytes_, ahead_kernel_);
}

bool FrontEnd::wants_prefetch(const SubcoreState& s) const {
  return s.next_prefetch != LineTags::kNoLine && s.stream.size() < prefetch_entries_;
}

/// One line per cycle and sub-core, as far as the stream buffer has room.
void FrontEnd::prefetch(std::vector<stats::SmCounters>& counters) {
  for (unsigned i = 0; i < subcores_.size(); ++i) {
    SubcoreState& s = subcores_[i];
    if (!wants_prefetch(s)) continue;
    const std::uint32_t line = s.next_prefetch++;
    s.stream.push_back({line, 0, false});
    if (s.l0.touch(line)) {
      s.stream.back().ready = true;
      continue;
    }
    requests_.push_back({line, static_cast<std::uint8_t>(i), s.kernel});
    ++counters[s.kernel].ifetch_prefetches;
  }
}

void FrontEnd::add_fill(Cycle time, std::uint32_t line, unsigned subcore) {
  fills_.push_back({time, line, static_cast<std::uint8_t>(subcore)});
  next_fill_ = std::min(next_fill_, time);
}

Cycle FrontEnd::next_event(Cycle now) const {
  if (!requests_.empty() || ahead_next_ != ahead_end_) return now + 1;
  for (const SubcoreState& s : subcores_)
    if (wants_prefetch(s)) return now + 1;
  return next_fill_;
}

}  // namespace lockstep::core
