// The tag stage of the load/store unit: the lines of the operation under way, one after another.
#pragma once

#include <cstdint>
#include <vector>

#include "core/l1_lookup.hpp"
#include "core/lsu_access.hpp"
#include "core/lsu_results.hpp"
#include "core/translator.hpp"

namespace lockstep::core {

/// One operation at a time, l1.tags_per_cycle look-ups a cycle. A line that lacks something holds up those
/// behind it, but one that misses the TLB is parked (Translator) and the next one goes on.
class TagStage {
 public:
  /// `translator`: null where nothing is translated.
  TagStage(std::uint32_t tags_per_cycle, Cycle hit_rest, L1Lookup& l1, LsuResults& results,
           Translator* translator, std::vector<stats::SmCounters>& counters);

  /// The lines of the next operation, to be filled in before begin().
  [[nodiscard]] LineList& lines() { return lines_; }
  /// Looks up what of lines() it can in this cycle. `last_wavefront`: through the banks, or where that takes
  /// longer, its data to the registers. Precondition: no operation is here.
  void begin(Cycle now, const LsuAccess& access, Cycle last_wavefront);
  /// Further lines of the operation. Precondition: active().
  void go_on(Cycle now);
  [[nodiscard]] bool active() const { return active_; }

  /// A look-up for a parked line that came back; false: it must try again.
  [[nodiscard]] bool look_up_again(Cycle now, const ParkedLine& line);
  /// A parked line may have the tags: an operation that waits for a table stands aside, as the table may be
  /// full of lines like it.
  [[nodiscard]] bool stands_aside() const {
    return !active_ || blocked_ == Blocked::kTable || blocked_ == Blocked::kTranslation;
  }

  /// Cycle from which a next operation may begin, as far as the tags go; kNever while one is here.
  [[nodiscard]] Cycle free_from(Cycle now) const {
    return active_ ? kNever : tag_cycle_ == now && used_ >= tags_per_cycle_ ? now + 1 : 0;
  }
  /// Whether go_on() may get further in the next cycle; else a reply has to come first.
  [[nodiscard]] bool can_go_on(bool port_full) const {
    if (!active_) return false;
    if (blocked_ == Blocked::kPort) return !port_full;
    return blocked_ == Blocked::kNo || (blocked_ == Blocked::kTranslation && !translator_->blocks());
  }
  /// Cycles in which a line waited.
  [[nodiscard]] std::uint64_t backpressure_cycles() const { return backpressure_cycles_; }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(tags_per_cycle_), a.given(hit_rest_), a.given(l1_), a.given(results_),
              a.given(translator_), a.given(counters_), access_, active_, parking_, blocked_, next_,
              untranslated_, last_wavefront_, blocked_since_, tag_cycle_, used_, backpressure_cycles_,
              a.given(lines_));
  }

 private:
  /// Outcome of a line's translation: it may be looked up, it must wait here, or it waits outside.
  enum class Translation : std::uint8_t { kKnown, kWaits, kParked };

  void begin_cycle(Cycle now) {
    if (tag_cycle_ == now) return;
    tag_cycle_ = now;
    used_ = 0;
  }
  [[nodiscard]] bool look_up_next(Cycle now);
  /// The usual case, without a call.
  [[nodiscard]] bool needs_no_translation(Address line) {
    return translator_->manages_nothing() && !parking_ && translator_->knows(line);
  }
  [[nodiscard]] Translation translate(Cycle now, const LineAccess& line);
  [[nodiscard]] ParkedLine parked(const LineAccess& line, bool write) const;
  void finish(Cycle now);

  std::uint32_t tags_per_cycle_;
  Cycle hit_rest_;
  L1Lookup* l1_;
  LsuResults* results_;
  Translator* translator_;
  std::vector<stats::SmCounters>* counters_;

  // The operation: its lines from `next_` on are to be looked up.
  LsuAccess access_;
  bool active_ = false;
  bool parking_ = false;            // the line missed the TLB and waits for a pending-table entry
  Blocked blocked_ = Blocked::kNo;  // why the last line did not get through
  unsigned next_ = 0;
  unsigned untranslated_ = ~0u;  // first line that has not been through the TLB
  Cycle last_wavefront_ = 0;
  Cycle blocked_since_ = 0;

  Cycle tag_cycle_ = 0;  // in this cycle `used_` lines have been looked up
  std::uint32_t used_ = 0;
  std::uint64_t backpressure_cycles_ = 0;
  LineList lines_;
};

}  // namespace lockstep::core
