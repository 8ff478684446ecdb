#include "core/tag_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "util/bits.hpp"

namespace lockstep::core {

TagStage::TagStage(std::uint32_t tags_per_cycle, Cycle hit_rest, L1Lookup& l1, LsuResults& results,
                   Translator* translator, std::vector<stats::SmCounters>& counters)
    : tags_per_cycle_(std::max(1u, tags_per_cycle)),
      hit_rest_(hit_rest),
      l1_(&l1),
      results_(&results),
      translator_(translator),
      counters_(&counters) {}

void TagStage::begin(Cycle now, const LsuAccess& access, Cycle last_wavefront) {
  access_ = access;
  active_ = true;
  parking_ = false;
  blocked_ = Blocked::kNo;
  next_ = 0;
  untranslated_ = translator_ && !access.local ? 0 : ~0u;
  last_wavefront_ = last_wavefront;
  go_on(now);
}

void TagStage::go_on(Cycle now) {
  begin_cycle(now);
  for (; next_ < lines_.count && used_ < tags_per_cycle_; ++next_, ++used_) {
    const bool waited = blocked_ != Blocked::kNo;
    if (!look_up_next(now)) {
      if (!waited) blocked_since_ = now;
      return;
    }
    if (waited) backpressure_cycles_ += now - blocked_since_;
    blocked_ = Blocked::kNo;
  }
  if (next_ == lines_.count) finish(now);
}

/// False: it must wait, for what blocked_ says.
bool TagStage::look_up_next(Cycle now) {
  const LineAccess& line = lines_.line[next_];
  if (next_ >= untranslated_ && !needs_no_translation(line.line)) {
    const Translation translation = translate(now, line);
    if (translation != Translation::kKnown) return translation == Translation::kParked;
  }
  const Blocked blocked = l1_->look_up(now, access_, line, lines_.bytes[next_]);
  if (blocked == Blocked::kNo) return true;
  blocked_ = blocked;
  return false;
}

TagStage::Translation TagStage::translate(Cycle now, const LineAccess& line) {
  const bool write = writes(access_.kind);
  if (translator_->blocks()) {
    blocked_ = Blocked::kTranslation;
    return Translation::kWaits;
  }
  if (!parking_ && translator_->translate(now, line.line, write)) {
    untranslated_ = next_ + 1;
    return Translation::kKnown;
  }
  parking_ = true;
  if (!results_->has_room(access_)) {
    blocked_ = Blocked::kTable;
    return Translation::kWaits;
  }
  results_->take_entry(access_);
  parking_ = false;
  untranslated_ = next_ + 1;
  results_->await(access_.entry, bit_count(line.sectors));
  if (!translator_->park(now, parked(line, write))) ++(*counters_)[access_.kernel].tlb_waits;
  return Translation::kParked;
}

/// The next line, as it leaves the tag stage.
ParkedLine TagStage::parked(const LineAccess& line, bool write) const {
  ParkedLine parked;
  parked.operation = access_;
  parked.access = line;
  if (access_.kind == LineKind::kStore || access_.signals) parked.bytes = lines_.bytes[next_];
  parked.write = write;
  parked.returns_data = !is_acknowledged(access_.kind);
  return parked;
}

void TagStage::finish(Cycle now) {
  active_ = false;
  results_->all_issued(now, access_, std::max(now, last_wavefront_) + hit_rest_ + access_.extra);
}

bool TagStage::look_up_again(Cycle now, const ParkedLine& line) {
  if (!stands_aside()) return false;
  begin_cycle(now);
  if (used_ >= tags_per_cycle_) return false;
  LsuAccess access = line.operation;
  if (l1_->look_up(now, access, line.access, line.bytes) != Blocked::kNo) return false;
  ++used_;
  results_->line_resolved(now, access.entry, bit_count(line.access.sectors), now + hit_rest_ + access.extra);
  return true;
}

void TagStage::dump(std::string& out) const {
  if (!active_) return;
  const char* why = blocked_ == Blocked::kPort    ? ", waiting for the port"
                    : blocked_ == Blocked::kTable ? ", waiting for a miss register or pending entry"
                                                  : "";
  fmt::format_to(std::back_inserter(out), ", line {} of {}{}", next_, lines_.count, why);
}

}  // namespace lockstep::core
